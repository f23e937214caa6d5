/* Creating waves and their geometric frequencies. */
#include "waves/wave.h"

#include "numerics/dtype.h"
#include "numerics/limbs.h"
#include "numerics/phase.h"

#include <math.h>
#include <stdlib.h>

void pe_wave_geometric_from(pe_wide first, size_t count, double base, uint64_t numerator,
                            uint64_t denominator, pe_wide *frequencies)
{
    if (count > 0)
        frequencies[0] = first;
    if (base == 1) { /* every power is 1, which pe_wide, a fraction below 1, cannot hold */
        for (size_t i = 1; i < count; i++)
            frequencies[i] = first;
        return;
    }
    if (count <= 1)
        return;
    pe_wide ratio = pe_wide_power(base, numerator, denominator), square, fourth;
    square = pe_wide_mul(ratio, ratio);
    fourth = pe_wide_mul(square, square);
    for (size_t i = 1; i < count && i < 4; i++)
        frequencies[i] = pe_wide_mul(frequencies[i - 1], ratio);
    for (size_t i = 4; i < count;
         i++) /* four independent chains, which the processor overlaps */
        frequencies[i] = pe_wide_mul(frequencies[i - 4], fourth);
}

pe_wide *pe_wave_geometric(size_t count, double base, uint64_t numerator, uint64_t denominator)
{
    pe_wide *frequencies = malloc(count * sizeof *frequencies);
    if (frequencies)
        pe_wave_geometric_from(pe_wide_radian, count, base, numerator, denominator,
                               frequencies);
    return frequencies;
}

pe_wide pe_wave_snap(pe_wide frequency)
{
    const pe_wide near =
        pe_wide_shift_right((pe_wide){{0, 0, 0, 1ULL << 63}}, PE_WAVE_RATIONAL - 1);
    pe_wide above = pe_wide_add(frequency, near);
    bool is_zero = pe_limbs_compare(above.limb, pe_wide_add(near, near).limb, 4) < 0;
    return is_zero ? (pe_wide){{0, 0, 0, 0}} : frequency;
}

pe_wide *pe_wave_ladder(size_t count, pe_fixed first, double base, uint64_t numerator,
                        uint64_t denominator)
{
    pe_wide *frequencies = malloc(count * sizeof *frequencies);
    if (!frequencies)
        return NULL;
    frequencies[0] = pe_wave_snap(first.part);
    if (base == 1 || count == 1) {
        for (size_t i = 1; i < count; i++)
            frequencies[i] = frequencies[0];
        return frequencies;
    }
    const pe_wide ratio = pe_wide_power(base, numerator, denominator);
    pe_wide power = ratio;
    for (size_t i = 1; i < count; i++, power = pe_wide_mul(power, ratio))
        frequencies[i] = pe_wave_snap(pe_fixed_mul_fraction((pe_fixed){.part = power}, first));
    return frequencies;
}

pe_wave *pe_wave_new(const pe_values *values, size_t columns, pe_wave_layout layout,
                     size_t row_columns)
{
    pe_wave *wave = malloc(sizeof *wave);
    pe_error unused; /* the plan has read the positions without a problem */
    if (!wave)
        return NULL;
    pe_error_init(&unused);
    *wave = (pe_wave){
        .positions = pe_positions_read(values, &unused),
        .count = columns,
        .layout = layout,
        .columns = columns,
        .row_columns = row_columns,
        .amplitude = 1,
        .dtype = pe_requested_dtype(values),
    };
    return wave;
}

pe_wave *pe_wave_ready(pe_wave *wave)
{
    if (wave->frequencies)
        return wave;
    pe_wave_free(wave);
    return NULL;
}

pe_wave *pe_wave_scale_positions(pe_wave *wave, double scale)
{
    pe_positions *positions = &wave->positions;
    int exponent;
    if (scale == 1 || !wave->frequencies)
        return pe_wave_ready(wave);
    (void)frexp(scale, &exponent);
    const double power = ldexp(1, exponent > 0 ? exponent : 0);
    for (size_t i = 0; i < wave->count; i++) /* the factor is at most 1 */
        wave->frequencies[i] = pe_wide_mul_double(wave->frequencies[i], scale / power);
    positions->offset *= power;
    positions->step *= power;
    if (!positions->list)
        return wave;
    wave->scaled_list = malloc(positions->count * sizeof *wave->scaled_list);
    if (!wave->scaled_list) {
        pe_wave_free(wave);
        return NULL;
    }
    for (uint64_t row = 0; row < positions->count; row++)
        wave->scaled_list[row] = positions->list[row] * power;
    positions->list = wave->scaled_list;
    return wave;
}

void pe_wave_write_radians(pe_dtype dtype, const pe_wide *frequencies, uint64_t count,
                           void *dst)
{
    unsigned char *at = dst;
    for (uint64_t i = 0; i < count; i++, at += pe_dtype_size(dtype))
        pe_round_dd(dtype, dd_snap(pe_phase_radians(frequencies[i])), at);
}

double pe_wave_price(const pe_values *values, const pe_plan *plan)
{
    const pe_tensor *tensor = &plan->tensors[0];
    (void)values;
    return 60 * (double)tensor->shape[tensor->rank - 1];
}

double pe_wave_element_price(const pe_values *values, const pe_plan *plan, size_t tensor)
{
    bool even = plan->tensors[tensor].dtype != PE_F64 && !pe_is_present(values, "positions");
    return even ? 1 : 3;
}

void pe_wave_free(void *state)
{
    pe_wave *wave = state;
    if (wave) {
        free(wave->frequencies);
        free(wave->scaled_list);
    }
    free(wave);
}
