/* Seeds, phases and rotations of sines and cosines, and the table of this instruction set's
 * kernels. */
#include "kernels/instruction_set.h"
#include "kernels/kernel_f64.h"
#include "kernels/kernel_nontemporal.h"
#include "kernels/kernel_rotate.h"
#include "numerics/sine_table.h"
#if defined(__AVX512BW__) && defined(__AVX512DQ__)
#include "kernels/kernel_avx512_anchor.h"
#endif

extern const pe_kernel PE_FOR_SET(pe_kernel);
extern const pe_curves PE_FOR_SET(pe_curves);
extern const pe_lines PE_FOR_SET(pe_lines);
extern const pe_applying PE_FOR_SET(pe_applying);
extern const pe_print_batches PE_FOR_SET(pe_print_batches);
extern pe_matrix_multiply PE_FOR_SET(pe_matrix_multiply);
extern pe_overlay PE_FOR_SET(pe_overlay);
extern pe_pairs PE_FOR_SET(pe_pairs);
extern pe_small PE_FOR_SET(pe_small);
extern pe_spread_bits PE_FOR_SET(pe_spread_bits);
extern pe_draw_many PE_FOR_SET(pe_draw_many);
extern pe_draw_variables PE_FOR_SET(pe_draw_normals), PE_FOR_SET(pe_draw_truncated);
extern pe_draw_variables PE_FOR_SET(pe_draw_near_normals), PE_FOR_SET(pe_draw_near_truncated);
extern pe_scale PE_FOR_SET(pe_scale);
extern pe_bracket PE_FOR_SET(pe_bracket);
extern pe_weigh PE_FOR_SET(pe_weigh);

/* ---- anchors ---- */

#define TURN 0x1.921fb54442d18p+2 /* 2π */

/* Write each angle as a multiple of 1/64 turn, whose sine and cosine are in a table, plus a
 * remainder x, |x| <= π/64, whose sine and cosine are Taylor polynomials. These are small
 * against the table's entry, so plain doubles are exact enough. */
static void anchor(const uint64_t *restrict phases, size_t count, double *restrict ret_sin,
                   double *restrict ret_cos)
{
#if defined(__AVX512BW__) && defined(__AVX512DQ__)
    anchor_wide(phases, count, ret_sin, ret_cos, TURN);
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

const pe_kernel PE_FOR_SET(pe_kernel) = {
    .name = PE_SET_NAME,
    .anchor = anchor,
    .anchor_f64 = anchor_f64,
    .rotate_f64 = rotate_anchors_f64,
    .advance = advance,
    .rotate =
        {
            [PE_F32] = rotate_f32,
            [PE_F64] = rotate_f64,
            [PE_F16] = rotate_f16,
            [PE_BF16] = rotate_bf16,
        },
    .stream = store_nontemporal,
    .fence = fence,
    .print = &PE_FOR_SET(pe_print_batches),
    .multiply = PE_FOR_SET(pe_matrix_multiply),
    .pairs = PE_FOR_SET(pe_pairs),
    .spread_bits = PE_FOR_SET(pe_spread_bits),
    .lines = &PE_FOR_SET(pe_lines),
    .curves = &PE_FOR_SET(pe_curves),
    .small = PE_FOR_SET(pe_small),
    .draw = PE_FOR_SET(pe_draw_many),
    .normals = PE_FOR_SET(pe_draw_normals),
    .truncated = PE_FOR_SET(pe_draw_truncated),
    .near_normals = PE_FOR_SET(pe_draw_near_normals),
    .near_truncated = PE_FOR_SET(pe_draw_near_truncated),
    .scale = PE_FOR_SET(pe_scale),
    .bracket = PE_FOR_SET(pe_bracket),
    .weigh = PE_FOR_SET(pe_weigh),
    .overlay = PE_FOR_SET(pe_overlay),
    .applying = &PE_FOR_SET(pe_applying),
};
