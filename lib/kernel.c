/* The kernel's loops. Compiled several times, each with another -march and its own names. */
#include "kernel_round.h"
#include "kernel_stream.h"
#if defined(__AVX512BW__) && defined(__AVX512DQ__)
#include "kernel_avx512.h"
#include "kernel_avx512_seed.h"
#endif

#ifndef PE_KERNEL_SYMBOL
#define PE_KERNEL_SYMBOL pe_kernel_generic
#define PE_KERNEL_NAME   "generic"
#define PE_PRINT_SYMBOL  pe_print_batches_generic
#define PE_MATRIX_SYMBOL pe_matrix_multiply_generic
#define PE_PAIRS_SYMBOL  pe_pairs_generic
#endif

extern const pe_kernel PE_KERNEL_SYMBOL;
extern const pe_print_batches PE_PRINT_SYMBOL;
extern pe_matrix_multiply PE_MATRIX_SYMBOL;
extern pe_pairs PE_PAIRS_SYMBOL;

/* ---- seeds ---- */

#define TURN 0x1.921fb54442d18p+2 /* 2π */

/* From the nearest 64th of a turn, by Taylor series of the rest x, |x| <= π/64, whose terms are
 * so small against the table's entry that plain doubles serve. */
static void seed(const uint64_t *restrict phases, size_t count, double *restrict ret_sin,
                 double *restrict ret_cos)
{
#if defined(__AVX512BW__) && defined(__AVX512DQ__)
    seed_wide(phases, count, ret_sin, ret_cos, TURN);
#else
    for (size_t i = 0; i < count; i++) {
        uint64_t step = (phases[i] + (1ULL << 57)) >> 58;
        int64_t rest = (int64_t)(phases[i] - (step << 58));
        /* in two halves of 32 bits, which every instruction set can turn into doubles */
        int32_t low = (int32_t)(uint32_t)(uint64_t)rest;
        int32_t high = (int32_t)((rest - low) >> 32);
        double x = (double)high * (TURN * 0x1p-32) + (double)low * (TURN * 0x1p-64);
        double square = x * x;
        double sine =
            x +
            x * square *
                (-0x1.5555555555555p-3 +
                 square * (0x1.1111111111111p-7 +
                           square * (-0x1.a01a01a01a01ap-13 + square * 0x1.71de3a556c734p-19)));
        double versine = square * (-0.5 + square * (0x1.5555555555555p-5 +
                                                    square * (-0x1.6c16c16c16c17p-10 +
                                                              square * 0x1.a01a01a01a01ap-16)));
        size_t j = step & 63;
        double s = pe_kernel_sines[j], c = pe_kernel_sines[j + 16];
        ret_sin[i] = s + (pe_kernel_rests[j] + (s * versine + c * sine));
        ret_cos[i] = c + (pe_kernel_rests[j + 16] + (c * versine - s * sine));
    }
#endif
}

static void advance(uint64_t *restrict high, uint64_t *restrict low,
                    const uint64_t *restrict step_high, const uint64_t *restrict step_low,
                    size_t count)
{
    for (size_t i = 0; i < count; i++) {
        uint64_t sum = low[i] + step_low[i];
        high[i] += step_high[i] + (sum < low[i]);
        low[i] = sum;
    }
}

/* ---- rows ---- */

#if !defined(__AVX512BW__) || !defined(__AVX512DQ__)

/* One row; whether an entry is uncertain. `size` is that of an element. */
static inline __attribute__((always_inline)) bool
rotate_row(pe_sincos a, pe_sincos b, bool back, size_t count, const pe_rows *rows, size_t r,
           pe_rounding rounding, round_row *round, size_t size)
{
    _Alignas(64) double sines[PE_KERNEL_PAIRS], cosines[PE_KERNEL_PAIRS];
    _Alignas(64) unsigned char staged[2 * PE_KERNEL_PAIRS * sizeof(double)];
    unsigned char *to_sines = rows->sines + (ptrdiff_t)r * rows->stride;
    unsigned char *to_cosines =
        rows->cosines ? rows->cosines + (ptrdiff_t)r * rows->stride : NULL;
    turn(a, b, back, count, sines, cosines);
    if (!rounding.streamed)
        return round(sines, cosines, count, rounding.exponent, to_sines, to_cosines);
    unsigned char *staged_cosines = to_cosines ? staged + count * size : NULL;
    bool uncertain = round(sines, cosines, count, rounding.exponent, staged, staged_cosines);
    stream(to_sines, staged, (to_cosines ? 1 : 2) * count * size);
    if (to_cosines)
        stream(to_cosines, staged_cosines, count * size);
    return uncertain;
}

/* All rows, for one rounding; inlined with all of it constant. */
static inline __attribute__((always_inline)) pe_doubts
rotate_rows(pe_sincos a, const pe_sincos *b, size_t rows, size_t count, const pe_rows *ahead,
            const pe_rows *behind, pe_rounding rounding, round_row *round, size_t size)
{
    pe_doubts doubts = {0, 0};
    for (size_t r = 0; r < rows; r++) {
        bool doubt = rotate_row(a, b[r], false, count, ahead, r, rounding, round, size);
        doubts.ahead |= (uint64_t)doubt << r;
        if (behind) {
            doubt = rotate_row(a, b[r], true, count, behind, r, rounding, round, size);
            doubts.behind |= (uint64_t)doubt << r;
        }
    }
    return doubts;
}

#define ROTATE(name, round, type)                                                              \
    static pe_doubts name(pe_sincos a, const pe_sincos *b, size_t rows, size_t count,          \
                          const pe_rows *ahead, const pe_rows *behind, pe_rounding rounding)   \
    {                                                                                          \
        return rotate_rows(a, b, rows, count, ahead, behind, rounding, round, sizeof(type));   \
    }
ROTATE(rotate_f64, round_f64, double)
ROTATE(rotate_f32, round_f32, float)
ROTATE(rotate_f16, round_f16, uint16_t)
ROTATE(rotate_bf16, round_bf16, uint16_t)
#endif

const pe_kernel PE_KERNEL_SYMBOL = {
    .name = PE_KERNEL_NAME,
    .seed = seed,
    .advance = advance,
    .rotate =
        {
            [PE_F32] = rotate_f32,
            [PE_F64] = rotate_f64,
            [PE_F16] = rotate_f16,
            [PE_BF16] = rotate_bf16,
        },
    .stream = stream,
    .fence = fence,
    .print = &PE_PRINT_SYMBOL,
    .multiply = PE_MATRIX_SYMBOL,
    .pairs = PE_PAIRS_SYMBOL,
};
