/* Frequencies of bands in 256 bits. */
#include "waves/bands.h"

#include "numerics/dd.h"
#include "numerics/fixed.h"
#include "waves/wave.h"

#include <math.h>

/* A frequency / divisor in turns. */
static pe_wide compute_turns(const pe_bands *bands, pe_fixed frequency, uint64_t divisor)
{
    if (bands->unit == PE_BAND_HALF_TURN)
        divisor *= 2;
    pe_fixed turns = pe_fixed_div(frequency, (pe_fixed){.whole = (int64_t)divisor});
    if (bands->unit == PE_BAND_RADIAN)
        turns = pe_fixed_mul_wide(turns, pe_wide_radian);
    return pe_wave_snap(turns.part);
}

static void set_linear(const pe_bands *bands, uint64_t positions, pe_wide *frequencies)
{
    const pe_fixed low = pe_fixed_from_double(bands->low),
                   high = pe_fixed_from_double(bands->high);
    const size_t last = bands->count - 1;
    for (size_t i = 0; i <= last; i++) {
        pe_fixed sum = pe_fixed_add(pe_fixed_mul_integer(low, (int64_t)(last - i)),
                                    pe_fixed_mul_integer(high, (int64_t)i));
        frequencies[i] = compute_turns(bands, sum, positions * last);
    }
}

static void set_multiples(const pe_bands *bands, uint64_t positions, pe_wide *frequencies)
{
    const pe_fixed low = pe_fixed_from_double(bands->low);
    for (size_t i = 0; i < bands->count; i++)
        frequencies[i] =
            compute_turns(bands, pe_fixed_mul_integer(low, (int64_t)i + 1), positions);
}

/* From the highest frequency down, each times the same ratio below 1. */
static void set_geometric(const pe_bands *bands, uint64_t positions, pe_wide *frequencies)
{
    const pe_fixed high = pe_fixed_from_double(bands->high);
    const pe_fixed octaves =
        pe_fixed_sub(pe_fixed_log2(bands->high), pe_fixed_log2(bands->low));
    const size_t last = bands->count - 1;
    pe_wide ratio =
        pe_wide_power_of_log2((uint64_t)octaves.whole, octaves.part, 1, (uint64_t)last);
    pe_wide power = ratio;
    frequencies[last] = compute_turns(bands, high, positions);
    for (size_t i = last; i-- > 0; power = pe_wide_mul(power, ratio))
        frequencies[i] = compute_turns(bands, pe_fixed_mul_wide(high, power), positions);
}

void pe_bands_write(const pe_bands *bands, uint64_t positions, pe_wide *frequencies)
{
    if (bands->multiples)
        set_multiples(bands, positions, frequencies);
    else if (bands->count == 1 || bands->low == bands->high)
        for (size_t i = 0; i < bands->count; i++)
            frequencies[i] = compute_turns(bands, pe_fixed_from_double(bands->low), positions);
    else if (bands->linear)
        set_linear(bands, positions, frequencies);
    else
        set_geometric(bands, positions, frequencies);
}

double pe_bands_radians(const pe_bands *bands, size_t band)
{
    const double unit = bands->unit == PE_BAND_RADIAN      ? 1
                        : bands->unit == PE_BAND_HALF_TURN ? PE_TURN / 2
                                                           : PE_TURN;
    const double part = bands->count > 1 ? (double)band / (double)(bands->count - 1) : 0;
    if (bands->multiples)
        return unit * bands->low * (double)(band + 1);
    return unit * (bands->linear ? bands->low + (bands->high - bands->low) * part
                                 : bands->low * pow(bands->high / bands->low, part));
}
