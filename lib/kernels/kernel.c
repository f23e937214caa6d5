/* Seeds, phases and rotations of sines and cosines, and the table of this instruction set's
 * kernels. */
#include "kernels/instruction_set.h"
#include "kernels/kernel_f64.h"
#include "kernels/kernel_round.h"
#include "kernels/kernel_stream.h"
#include "numerics/sine_table.h"
#if defined(__AVX512BW__) && defined(__AVX512DQ__)
#include "kernels/kernel_avx512.h"
#include "kernels/kernel_avx512_seed.h"
#endif

extern const pe_kernel PE_FOR_SET(pe_kernel);
extern const pe_lines PE_FOR_SET(pe_lines);
extern const pe_print_batches PE_FOR_SET(pe_print_batches);
extern pe_matrix_multiply PE_FOR_SET(pe_matrix_multiply);
extern pe_pairs PE_FOR_SET(pe_pairs);
extern pe_small PE_FOR_SET(pe_small);
extern pe_spread_bits PE_FOR_SET(pe_spread_bits);
extern pe_draw_many PE_FOR_SET(pe_draw_many);
extern pe_draw_normals PE_FOR_SET(pe_draw_normals);
extern pe_scale PE_FOR_SET(pe_scale);

/* ---- seeds ---- */

#define TURN 0x1.921fb54442d18p+2 /* 2π */

/* Write each angle as a multiple of 1/64 turn, whose sine and cosine are in a table, plus a
 * remainder x, |x| <= π/64, whose sine and cosine are Taylor polynomials. These are small
 * against the table's entry, so plain doubles are exact enough. */
static void seed(const uint64_t *restrict phases, size_t count, double *restrict ret_sin,
                 double *restrict ret_cos)
{
#if defined(__AVX512BW__) && defined(__AVX512DQ__)
    seed_wide(phases, count, ret_sin, ret_cos, TURN);
#else
    for (size_t i = 0; i < count; i++) {
        uint64_t step = (phases[i] + (1ULL << 57)) >> 58;
        int64_t rest = (int64_t)(phases[i] - (step << 58));
        /* convert two halves of 32 bits: every instruction set has that conversion */
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
        double s = pe_sine_table[j], c = pe_sine_table[j + 16];
        ret_sin[i] = s + (pe_sine_table_rests[j] + (s * versine + c * sine));
        ret_cos[i] = c + (pe_sine_table_rests[j + 16] + (c * versine - s * sine));
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

/* Rotate, round and store one row of elements of `size` bytes. Returns whether an entry is
 * uncertain. */
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

/* The same for all rows. It is inlined into one function per dtype, where `round` and `size`
 * are constants. */
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

const pe_kernel PE_FOR_SET(pe_kernel) = {
    .name = PE_SET_NAME,
    .seed = seed,
    .seed_f64 = seed_f64,
    .rotate_f64 = rotate_seeds_f64,
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
    .print = &PE_FOR_SET(pe_print_batches),
    .multiply = PE_FOR_SET(pe_matrix_multiply),
    .pairs = PE_FOR_SET(pe_pairs),
    .spread_bits = PE_FOR_SET(pe_spread_bits),
    .lines = &PE_FOR_SET(pe_lines),
    .small = PE_FOR_SET(pe_small),
    .draw = PE_FOR_SET(pe_draw_many),
    .normals = PE_FOR_SET(pe_draw_normals),
    .scale = PE_FOR_SET(pe_scale),
};
