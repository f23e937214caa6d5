/* Waves whose amplitude grows or shrinks exponentially with the position,
 *
 *     e^(±(k - centre)·rate_i) · cos(k·w_i)   and   · sin(k·w_i),
 *
 * each entry rounded once. */
#ifndef PE_GROWTH_H
#define PE_GROWTH_H

#include "waves/wave.h"

typedef struct pe_growth {
    pe_positions positions;
    double centre;        /* the position where every amplitude is 1 */
    size_t count;         /* frequencies */
    pe_wide *frequencies; /* turns per position */
    dd *rates; /* ln of the amplitude's growth from position to position; at most 0 */
    pe_wave_copies copies;
    pe_dtype dtype;
} pe_growth;

/* What a table holds. */
typedef enum pe_growth_kind {
    PE_GROWTH_COSINES,
    PE_GROWTH_SINES,
    PE_GROWTH_AMPLITUDES
} pe_growth_kind;

typedef struct pe_growth_table {
    pe_growth_kind kind;
    int sign; /* 1; or -1 for the inverse amplitudes */
} pe_growth_table;

/* Write rows [first, first + rows) of a table: `count` columns, or twice as many with copies.
 * No entry may overflow. */
void pe_growth_fill(const pe_growth *growth, pe_growth_table table, uint64_t first,
                    uint64_t rows, void *dst);

/* What an entry costs, with its share of what a block of rows begins with. */
double pe_growth_entry_price(const pe_growth *growth);

/* The largest amplitude, of either sign, at any position; infinite if beyond double. */
double pe_growth_magnitude(const pe_growth *growth);

#endif
