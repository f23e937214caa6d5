/* Which scaled law of rotary frequencies, out of published ones, is nearest to measured waves.
 */
#ifndef PE_ROTARY_LAWS_H
#define PE_ROTARY_LAWS_H

#include "recognise/wave_ladder.h"
#include "waves/rotary.h"

/* The thetas of published models, the likelier ones first. */
#define PE_ROTARY_THETAS 32
extern const double pe_rotary_thetas[PE_ROTARY_THETAS];

#define PE_ROTARY_LAWS_KEPT 16
#define PE_ROTARY_ROWS      7 /* by whose entries laws are ranked, at most */

/* What has been measured of cosines or sines of frequencies times positions. */
typedef struct pe_rotary_observation {
    size_t count; /* frequencies */
    double amplitude, amplitude_error;
    const pe_ladder *ladder; /* of these frequencies; of no waves of rows not placed */
    bool sines;
    double unit;  /* in the last place at 1, of the entries */
    double grain; /* what entries may be off by besides */
    size_t still; /* of the last columns, how many are the same in all rows */
    size_t row_count;
    double rows[PE_ROTARY_ROWS];           /* their numbers */
    const double *entries[PE_ROTARY_ROWS]; /* [count] each */
    double *work;                          /* as of pe_observation */
} pe_rotary_observation;

/* A law as a request says it: `law.mscale` and `law.mscale_all_dim`, or `law.attention`, give
 * the amplitude where the type does not. */
typedef struct pe_rotary_law {
    pe_rotary law;
    double offset, step; /* of positions */
    double distance; /* mean square of what entries are off by; comparable within a search */
    double rank;     /* the same, a little more for laws that are longer to say */
    int digits;      /* of its numbers */
} pe_rotary_law;

/* Find the nearest laws, the best one first; returns how many. */
size_t pe_rotary_search(const pe_rotary_observation *seen,
                        pe_rotary_law ret_laws[PE_ROTARY_LAWS_KEPT]);

#endif
