/* Placing entries in the columns of a row. */
#include "waves/columns.h"

#include "kernels/by_size.h"
#include "kernels/store.h"
#include "numerics/dtype.h"

#include <string.h>

/* ---- sines and cosines ---- */

/* Indices start, start + step, start + 2·step, … */
typedef struct series {
    size_t start, step;
} series;

/* The columns of the sines, or the cosines, of frequencies 0, 1, 2, … where every frequency has
 * both. */
static series find_columns(const pe_wave *wave, bool cosine)
{
    if (wave->layout == PE_WAVE_INTERLEAVED)
        return (series){cosine, 2};
    const bool is_second = cosine != (wave->layout == PE_WAVE_CONCAT_COS_FIRST);
    return (series){is_second ? wave->count : 0, 1};
}

bool pe_columns_direct(const pe_wave *wave, size_t first, unsigned char *row, pe_rows *ret_rows)
{
    const size_t size = pe_dtype_size(wave->dtype);
    const series sines = find_columns(wave, false), cosines = find_columns(wave, true);
    unsigned char *at = row + first * sines.step * size;
    *ret_rows = (pe_rows){
        .sines = at + sines.start * size,
        .cosines = wave->layout == PE_WAVE_INTERLEAVED ? NULL : at + cosines.start * size,
        .stride = (ptrdiff_t)pe_wave_row_bytes(wave)};
    return wave->layout != PE_WAVE_ALTERNATING && 2 * wave->count == wave->columns;
}

bool pe_has_column(const pe_wave *wave, size_t frequency, bool cosine)
{
    if (pe_is_alone(wave))
        return cosine == (wave->layout == PE_WAVE_COSINES);
    if (wave->layout == PE_WAVE_ALTERNATING)
        return frequency % 2 == cosine;
    const series columns = find_columns(wave, cosine);
    return columns.start + frequency * columns.step < wave->columns;
}

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

void pe_columns_place(const pe_wave *wave, size_t first, size_t count,
                      const unsigned char *sines, const unsigned char *cosines,
                      unsigned char *row)
{
    if (pe_is_alone(wave)) {
        const pe_run run = pe_run_init(wave, first, count, NULL);
        pe_run_write(&run, wave->layout == PE_WAVE_SINES ? sines : cosines, 1, row);
        return;
    }
    for (size_t cosine = 0; cosine < 2; cosine++) {
        series from = {0, 1}, to = find_columns(wave, cosine);
        to.start += first * to.step;
        if (wave->layout == PE_WAVE_ALTERNATING) { /* `first` is even, as in all chunks */
            from = (series){cosine, 2};
            to = (series){first + cosine, 2};
        }
        const unsigned char *elements = cosine ? cosines : sines;
        PE_BY_SIZE(pe_dtype_size(wave->dtype),
                   copy_sized(wave, elements, count, from, to, row, SIZE))
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
    _Alignas(64) unsigned char doubled[2 * PE_KERNEL_PAIRS * sizeof(double)];
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

/* Write `bytes` bytes that repeat what the `ready` bytes of `copies` are. */
static void repeat_bytes(const pe_kernel *nontemporal, const unsigned char *copies,
                         size_t ready, unsigned char *dst, size_t bytes)
{
    for (size_t part; bytes > 0; bytes -= part, dst += part) {
        part = bytes < ready ? bytes : ready;
        pe_store(nontemporal, dst, copies, part);
    }
}

void pe_constant_write(const pe_wave *wave, size_t begin, size_t end, uint64_t rows,
                       const pe_kernel *nontemporal, unsigned char *dst)
{
    _Alignas(64) unsigned char copies[4096];
    const bool in_pairs = wave->copies == PE_WAVE_IN_PAIRS;
    const size_t size = pe_dtype_size(wave->dtype), row_bytes = pe_wave_row_bytes(wave);
    const size_t bytes = (end - begin) * size * (in_pairs ? 2 : 1);
    const size_t ready = bytes < sizeof copies ? bytes : sizeof copies;
    dd entry = {0, 0}; /* sin 0 */
    if (wave->layout == PE_WAVE_COSINES)
        entry = (dd){wave->amplitude, wave->amplitude_rest};
    pe_round_dd(wave->dtype, entry, copies);
    for (size_t at = size; at < ready; at += size)
        memcpy(copies + at, copies, size);
    dst += begin * size * (in_pairs ? 2 : 1);
    for (uint64_t r = 0; r < rows; r++, dst += row_bytes) {
        repeat_bytes(nontemporal, copies, ready, dst, bytes);
        if (wave->copies == PE_WAVE_IN_HALVES)
            repeat_bytes(nontemporal, copies, ready, dst + wave->count * size, bytes);
    }
}
