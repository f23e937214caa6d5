/* Ranking rotary laws by how near they are to what is measured of a table. */
#ifndef PE_ROTARY_RANK_H
#define PE_ROTARY_RANK_H

#include "recognise/rotary_laws.h"

#define PE_ROTARY_KNOWN_BITS 12

/* What a column's entries are off by, for a frequency, step, amplitude and column. */
typedef struct pe_rotary_column {
    double numbers[4];
    double distance;
} pe_rotary_column;

typedef struct pe_rotary_ranking {
    const pe_rotary_observation *seen;
    double step;      /* a decimal near the first frequency, which most laws leave as it is */
    double attention; /* a decimal near the amplitude */
    double *frequencies, *errors; /* [count], of the ladder; 0 where no wave was measured */
    double *predicted; /* [count]: radians per position, of the law that is considered next */
    pe_rotary_column *columns; /* [2^PE_ROTARY_KNOWN_BITS], zeroed: those known already */
    size_t looked;             /* laws that fit the measured frequencies */
    size_t kept;
    pe_rotary_law *laws; /* [PE_ROTARY_LAWS_KEPT], the best one first */
} pe_rotary_ranking;

/* Compare a law whose frequencies have been predicted, and keep it if it is one of the best. */
void pe_rotary_consider(pe_rotary_ranking *self, const pe_rotary *rotary, double step);

/* Spend the work of comparing so many entries. Whether laws may still be looked at. */
bool pe_rotary_spend(const pe_rotary_observation *seen, double entries);

#endif
