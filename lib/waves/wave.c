/* Creating waves and their geometric frequencies. */
#include "waves/wave.h"

#include "numerics/dtype.h"
#include "numerics/limbs.h"
#include "numerics/phase.h"

#include <math.h>
#include <string.h>

void pe_wave_geometric_ladder(pe_wide first, size_t count, double base, uint64_t numerator,
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

pe_wide *pe_wave_geometric(pe_pace *pace, size_t count, double base, uint64_t numerator,
                           uint64_t denominator)
{
    pe_wide *frequencies = pe_keep(pace, count, sizeof *frequencies);
    if (frequencies)
        pe_wave_geometric_ladder(pe_wide_radian, count, base, numerator, denominator,
                                 frequencies);
    return frequencies;
}

pe_wide pe_wave_snap(pe_wide frequency)
{
    const pe_wide near = PE_WAVE_RATIONAL;
    pe_wide above = pe_wide_add(frequency, near);
    bool is_zero = pe_limbs_compare(above.limb, pe_wide_add(near, near).limb, 4) < 0;
    return is_zero ? (pe_wide){{0, 0, 0, 0}} : frequency;
}

void pe_wave_ladder(size_t count, pe_fixed first, double base, uint64_t numerator,
                    uint64_t denominator, pe_wide *frequencies)
{
    frequencies[0] = pe_wave_snap(first.part);
    if (base == 1 || count == 1) {
        for (size_t i = 1; i < count; i++)
            frequencies[i] = frequencies[0];
        return;
    }
    const pe_wide ratio = pe_wide_power(base, numerator, denominator);
    pe_wide power = ratio;
    for (size_t i = 1; i < count; i++, power = pe_wide_mul(power, ratio))
        frequencies[i] = pe_wave_snap(pe_fixed_mul_fraction((pe_fixed){.part = power}, first));
}

pe_wave pe_wave_read(const pe_values *values, size_t columns, pe_wave_layout layout,
                     pe_error *reterr)
{
    return (pe_wave){
        .positions = pe_positions_read(values, reterr),
        .count = columns,
        .layout = layout,
        .columns = columns,
        .row_columns = columns,
        .amplitude = 1,
        .dtype = pe_requested_dtype(values),
    };
}

double pe_wave_entry_price(const pe_wave *wave)
{
    const double entry = wave->dtype != PE_F64 && !wave->positions.list ? 1 : 3;
    return entry + (double)PE_WAVE_ROW_PRICE / (double)wave->row_columns;
}

void pe_wave_add(pe_plan *plan, const pe_wave *wave)
{
    pe_plan_add(plan, "encoding", wave->dtype, 2,
                (uint64_t[]){wave->positions.count, wave->row_columns});
    pe_plan_price(plan, pe_wave_entry_price(wave));
    plan->price += PE_WAVE_FREQUENCY_PRICE * (double)wave->row_columns;
}

/* Multiply the positions by a power of two. */
static bool multiply_positions(pe_wave *wave, double power, pe_pace *pace)
{
    pe_positions *positions = &wave->positions;
    positions->offset *= power;
    positions->step *= power;
    if (!positions->list)
        return true;
    if (!wave->scaled_list) {
        wave->scaled_list = pe_keep(pace, positions->count, sizeof *wave->scaled_list);
        if (!wave->scaled_list)
            return false;
    }
    for (uint64_t row = 0; row < positions->count; row++)
        wave->scaled_list[row] = positions->list[row] * power;
    positions->list = wave->scaled_list;
    return true;
}

bool pe_wave_scale_positions(pe_wave *wave, double scale, pe_pace *pace)
{
    int exponent;
    if (scale == 1)
        return true;
    (void)frexp(scale, &exponent);
    const double power = ldexp(1, exponent > 0 ? exponent : 0);
    for (size_t i = 0; i < wave->count; i++) /* the factor is at most 1 */
        wave->frequencies[i] = pe_wide_mul_double(wave->frequencies[i], scale / power);
    return multiply_positions(wave, power, pace);
}

bool pe_wave_set_geometric(pe_wave *wave, double base, uint64_t numerator, uint64_t denominator,
                           pe_pace *pace)
{
    const size_t last = wave->count - 1;
    const pe_fixed zero = {.whole = 0};
    if (base >= 1) {
        wave->frequencies = pe_wave_geometric(pace, wave->count, base, numerator, denominator);
        return wave->frequencies != NULL;
    }
    wave->frequencies = pe_keep(pace, wave->count, sizeof *wave->frequencies);
    if (!wave->frequencies)
        return false;
    /* the highest frequency is 2^(whole + part) radians, which is 2^-rest of 2^(whole + 1) */
    const pe_fixed log2 = pe_fixed_sub(zero, pe_fixed_log2(base));
    const pe_fixed divisor = {.whole = (int64_t)denominator};
    const pe_fixed highest =
        pe_fixed_div(pe_fixed_mul_integer(log2, (int64_t)(last * numerator)), divisor);
    const pe_fixed rest = pe_fixed_sub((pe_fixed){.whole = highest.whole + 1}, highest);
    const pe_wide ratio =
        pe_wide_power_of_log2((uint64_t)log2.whole, log2.part, numerator, denominator);
    pe_wide frequency = pe_wide_mul(
        pe_wide_radian, pe_wide_power_of_log2((uint64_t)rest.whole, rest.part, 1, 1));
    for (size_t i = last + 1; i-- > 0; frequency = pe_wide_mul(frequency, ratio))
        wave->frequencies[i] = frequency;
    return multiply_positions(wave, ldexp(1, (int)highest.whole + 1), pace);
}

double pe_wave_loss(double amplitude, double position, pe_wide frequency)
{
    const double w = pe_phase_radians(frequency).hi;
    const double lost = w > 0 ? w * (8 + 3 * fabs(log(w))) : 0;
    return fabs(amplitude * position) * lost;
}

void pe_wave_write_radians(pe_dtype dtype, const pe_wide *frequencies, uint64_t count,
                           void *dst)
{
    unsigned char *at = dst;
    for (uint64_t i = 0; i < count; i++, at += pe_dtype_size(dtype))
        if (dtype == PE_LOSS)
            memcpy(at, &(double){pe_wave_loss(1, 1, frequencies[i])}, sizeof(double));
        else
            pe_round_dd(dtype, dd_snap(pe_phase_radians(frequencies[i])), at);
}
