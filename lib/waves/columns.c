/* Placing entries in the columns of a row. */
#include "waves/columns.h"

#include "kernels/by_size.h"
#include "kernels/store.h"
#include "numerics/dtype.h"

#include <string.h>

/* ---- sines and cosines ---- */

bool pe_columns_direct(const pe_wave *wave, size_t first, unsigned char *row, pe_rows *ret_rows)
{
    size_t size = pe_dtype_size(wave->dtype), half = wave->count * size;
    bool complete = 2 * wave->count == wave->columns; /* no column is dropped */
    first *= size;
    ret_rows->stride = (ptrdiff_t)pe_wave_row_bytes(wave);
    ret_rows->cosines = NULL;
    ret_rows->alone = false;
    switch (wave->layout) {
    case PE_WAVE_INTERLEAVED:
        ret_rows->sines = row + 2 * first;
        return complete;
    case PE_WAVE_CONCAT:
        ret_rows->sines = row + first;
        ret_rows->cosines = row + half + first;
        return complete;
    case PE_WAVE_CONCAT_COS_FIRST:
        ret_rows->cosines = row + first;
        ret_rows->sines = row + half + first;
        return complete;
    case PE_WAVE_ALTERNATING:
    case PE_WAVE_SINES:
    case PE_WAVE_COSINES:
        break;
    }
    return false;
}

bool pe_has_column(const pe_wave *wave, size_t frequency, bool cosine)
{
    switch (wave->layout) {
    case PE_WAVE_INTERLEAVED:
        return 2 * frequency + cosine < wave->columns;
    case PE_WAVE_CONCAT:
        return frequency + (cosine ? wave->count : 0) < wave->columns;
    case PE_WAVE_CONCAT_COS_FIRST:
        return frequency + (cosine ? 0 : wave->count) < wave->columns;
    case PE_WAVE_ALTERNATING:
        return frequency % 2 == cosine;
    case PE_WAVE_SINES:
        return !cosine;
    case PE_WAVE_COSINES:
        return cosine;
    }
    return false;
}

/* Indices start, start + step, start + 2·step, … */
typedef struct series {
    size_t start, step;
} series;

/* How many indices of a series are below a limit. */
static size_t count_indices(series indices, size_t limit)
{
    if (indices.start >= limit)
        return 0;
    return (limit - indices.start + indices.step - 1) / indices.step;
}

/* Copy elements `from` of `count` to columns `to`. Columns at or past wave->columns are
 * dropped. It is inlined with a constant size, which makes the copies single instructions. */
static inline __attribute__((always_inline)) void
copy_sized(const pe_wave *wave, const unsigned char *elements, size_t count, series from,
           series to, unsigned char *row, size_t size)
{
    size_t given = count_indices(from, count), room = count_indices(to, wave->columns);
    size_t copies = given < room ? given : room;
    if (from.step == 1 && to.step == 1) {
        memcpy(row + to.start * size, elements + from.start * size, copies * size);
        return;
    }
    for (size_t i = 0; i < copies; i++)
        memcpy(row + (to.start + i * to.step) * size,
               elements + (from.start + i * from.step) * size, size);
}

static void copy(const pe_wave *wave, const unsigned char *elements, size_t count, series from,
                 series to, unsigned char *row)
{
    PE_BY_SIZE(pe_dtype_size(wave->dtype),
               copy_sized(wave, elements, count, from, to, row, SIZE))
}

void pe_columns_place(const pe_wave *wave, size_t first, size_t count,
                      const unsigned char *sines, const unsigned char *cosines,
                      unsigned char *row)
{
    const series all = {0, 1}, even = {0, 2}, odd = {1, 2}; /* elements */
    pe_run run = pe_run_init(wave, first, count, NULL);
    switch (wave->layout) {
    case PE_WAVE_INTERLEAVED:
        copy(wave, sines, count, all, (series){2 * first, 2}, row);
        copy(wave, cosines, count, all, (series){2 * first + 1, 2}, row);
        break;
    case PE_WAVE_CONCAT:
        copy(wave, sines, count, all, (series){first, 1}, row);
        copy(wave, cosines, count, all, (series){wave->count + first, 1}, row);
        break;
    case PE_WAVE_CONCAT_COS_FIRST:
        copy(wave, cosines, count, all, (series){first, 1}, row);
        copy(wave, sines, count, all, (series){wave->count + first, 1}, row);
        break;
    case PE_WAVE_ALTERNATING: /* `first` is even, as all chunks begin at multiples of 64 */
        copy(wave, sines, count, even, (series){first, 2}, row);
        copy(wave, cosines, count, odd, (series){first + 1, 2}, row);
        break;
    case PE_WAVE_SINES:
        pe_run_write(&run, sines, 1, row);
        break;
    case PE_WAVE_COSINES:
        pe_run_write(&run, cosines, 1, row);
        break;
    }
}

/* ---- each element twice: 16 bytes at a time, by shuffles that every processor has ---- */

typedef uint16_t vector_2 __attribute__((vector_size(16)));
typedef uint32_t vector_4 __attribute__((vector_size(16)));
typedef uint64_t vector_8 __attribute__((vector_size(16)));

#define LOW_2  0, 0, 1, 1, 2, 2, 3, 3
#define HIGH_2 4, 4, 5, 5, 6, 6, 7, 7
#define LOW_4  0, 0, 1, 1
#define HIGH_4 2, 2, 3, 3
#define LOW_8  0, 0
#define HIGH_8 1, 1

#define DOUBLE(bytes)                                                                          \
    static void double_##bytes(const unsigned char *elements, size_t count,                    \
                               unsigned char *dst)                                             \
    {                                                                                          \
        size_t i = 0;                                                                          \
        for (; i + 16 / bytes <= count; i += 16 / bytes) {                                     \
            vector_##bytes from, low, high;                                                    \
            memcpy(&from, elements + i * bytes, 16);                                           \
            low = __builtin_shufflevector(from, from, LOW_##bytes);                            \
            high = __builtin_shufflevector(from, from, HIGH_##bytes);                          \
            memcpy(dst + 2 * i * bytes, &low, 16);                                             \
            memcpy(dst + 2 * i * bytes + 16, &high, 16);                                       \
        }                                                                                      \
        for (; i < count; i++) {                                                               \
            memcpy(dst + 2 * i * bytes, elements + i * bytes, bytes);                          \
            memcpy(dst + (2 * i + 1) * bytes, elements + i * bytes, bytes);                    \
        }                                                                                      \
    }
DOUBLE(2)
DOUBLE(4)
DOUBLE(8)

static void double_elements(const unsigned char *elements, size_t count, size_t size,
                            unsigned char *dst)
{
    switch (size) {
    case 2:
        double_2(elements, count, dst);
        break;
    case 4:
        double_4(elements, count, dst);
        break;
    case 16:
        for (size_t i = 0; i < 2 * count; i++)
            memcpy(dst + i * size, elements + i / 2 * size, size);
        break;
    default:
        double_8(elements, count, dst);
        break;
    }
}

/* ---- one function alone ---- */

pe_run pe_run_init(const pe_wave *wave, size_t first, size_t count,
                   const pe_kernel *nontemporal)
{
    return (pe_run){.first = first,
                    .count = count,
                    .all = wave->count,
                    .size = pe_dtype_size(wave->dtype),
                    .copies = wave->copies,
                    .row_bytes = pe_wave_row_bytes(wave),
                    .nontemporal = nontemporal};
}

/* Copy each row's elements to dst, dst + row_bytes, … */
static void copy_rows(const pe_run *run, const unsigned char *elements, size_t rows,
                      unsigned char *dst)
{
    size_t bytes = run->count * run->size;
    for (size_t r = 0; r < rows; r++, elements += bytes, dst += run->row_bytes)
        pe_store(run->nontemporal, dst, elements, bytes);
}

/* The same with each element twice. */
static void double_rows(const pe_run *run, const unsigned char *elements, size_t rows,
                        unsigned char *dst)
{
    _Alignas(64) unsigned char doubled[2 * PE_PROMPT_MAX * sizeof(double)];
    size_t bytes = run->count * run->size;
    for (size_t r = 0; r < rows; r++, elements += bytes, dst += run->row_bytes)
        if (run->nontemporal) {
            double_elements(elements, run->count, run->size, doubled);
            run->nontemporal->stream(dst, doubled, 2 * bytes);
        } else {
            double_elements(elements, run->count, run->size, dst);
        }
}

void pe_run_write(const pe_run *run, const unsigned char *elements, size_t rows,
                  unsigned char *dst)
{
    size_t start = run->first * run->size;
    if (run->copies == PE_WAVE_IN_PAIRS) {
        double_rows(run, elements, rows, dst + 2 * start);
        return;
    }
    copy_rows(run, elements, rows, dst + start);
    if (run->copies == PE_WAVE_IN_HALVES)
        copy_rows(run, elements, rows, dst + run->all * run->size + start);
}

void pe_still_write(const pe_wave *wave, uint64_t rows, unsigned char *dst)
{
    size_t size = pe_dtype_size(wave->dtype);
    unsigned char elements[PE_PROMPT_MAX * sizeof(dd)];
    dd entry = {0, 0}; /* sin 0 */
    if (wave->layout == PE_WAVE_COSINES)
        entry = (dd){wave->amplitude, wave->amplitude_rest};
    for (size_t i = 0; i < PE_PROMPT_MAX; i++)
        pe_round_dd(wave->dtype, entry, elements + i * size);
    for (uint64_t r = 0; r < rows; r++)
        for (size_t f = wave->count - wave->still; f < wave->count; f += PE_PROMPT_MAX) {
            size_t rest = wave->count - f;
            pe_run run =
                pe_run_init(wave, f, rest < PE_PROMPT_MAX ? rest : PE_PROMPT_MAX, NULL);
            pe_run_write(&run, elements, 1, dst + r * run.row_bytes);
        }
}
