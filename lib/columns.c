/* Placing runs of elements in rows. */
#include "columns.h"

#include "dtype.h"

#include <string.h>

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
    (size == 2 ? double_2 : size == 4 ? double_4 : double_8)(elements, count, dst);
}

/* ---- runs ---- */

pe_run pe_run_of(const pe_wave *wave, size_t first, size_t count, const pe_kernel *streaming)
{
    size_t size = pe_dtype_size(wave->dtype);
    return (pe_run){first,    count, wave->count, size, wave->copies, wave->row_columns * size,
                    streaming};
}

static void copy_rows(const pe_run *run, const unsigned char *elements, size_t rows,
                      unsigned char *dst)
{
    size_t bytes = run->count * run->size;
    for (size_t r = 0; r < rows; r++, elements += bytes, dst += run->row_bytes)
        if (run->streaming)
            run->streaming->stream(dst, elements, bytes);
        else
            memcpy(dst, elements, bytes);
}

static void double_rows(const pe_run *run, const unsigned char *elements, size_t rows,
                        unsigned char *dst)
{
    _Alignas(64) unsigned char doubled[2 * PE_RUN_MAX * sizeof(double)];
    size_t bytes = run->count * run->size;
    for (size_t r = 0; r < rows; r++, elements += bytes, dst += run->row_bytes)
        if (run->streaming) {
            double_elements(elements, run->count, run->size, doubled);
            run->streaming->stream(dst, doubled, 2 * bytes);
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
    unsigned char elements[PE_RUN_MAX * sizeof(double)];
    dd entry = {wave->amplitude, wave->amplitude_rest};
    if (wave->layout == PE_WAVE_SINES)
        entry = (dd){0, 0};
    for (size_t i = 0; i < PE_RUN_MAX; i++)
        pe_round_dd(wave->dtype, entry, elements + i * size);
    for (uint64_t r = 0; r < rows; r++)
        for (size_t f = wave->count - wave->still; f < wave->count; f += PE_RUN_MAX) {
            size_t rest = wave->count - f;
            pe_run run = pe_run_of(wave, f, rest < PE_RUN_MAX ? rest : PE_RUN_MAX, NULL);
            pe_run_write(&run, elements, 1, dst + r * run.row_bytes);
        }
}
