/* Bands: frequencies from a lowest to a highest one. */
#ifndef PE_BANDS_H
#define PE_BANDS_H

#include "numerics/wide.h"

#include <stdbool.h>
#include <stddef.h>

/* The angle of frequency 1 at coordinate 1. */
typedef enum pe_band_unit { PE_BAND_TURN, PE_BAND_HALF_TURN, PE_BAND_RADIAN } pe_band_unit;

/* Frequency i of `count` is low + (high - low)·i/(count - 1), or low·(high/low)^(i/(count -
 * 1)); a single one is low. 2^-20 <= low <= high <= 2^20. With `multiples`
 * frequency i is low·(i + 1) instead, and high is not read. */
typedef struct pe_bands {
    size_t count; /* 1 … 2^16 */
    bool linear, multiples;
    double low, high;
    pe_band_unit unit;
} pe_bands;

/* Write the frequencies as turns, modulo 1, per position; `positions` of these, 1 … 2^46, are 1
 * in coordinates. Where a multiple may be a quarter turn, the wave is rational. */
void pe_bands_write(const pe_bands *bands, uint64_t positions, pe_wide *ret_frequencies);

/* A frequency in radians, about. */
double pe_bands_radians(const pe_bands *bands, size_t band);

#endif
