/* The waves of an exact tensor, measured: which columns are cosines and sines of which angle.
 */
#ifndef PE_EXACT_WAVES_H
#define PE_EXACT_WAVES_H

#include "identify/formula.h"
#include "recognise/observation.h"

typedef struct pe_exact_wave {
    bool constant; /* too slow to be told: no wave; the other members are unset */
    int quarters;  /* 0: cosines; 3: sines */
    double angle;  /* frequency, in radians per position */
} pe_exact_wave;

/* The waves of all columns of a tensor. */
typedef struct pe_exact_waves {
    pe_exact_wave *items; /* [count] */
    uint64_t rows, count;
    pe_formula_rows positions; /* those that were measured are in rows, whole numbers */
    bool zero_at_origin;       /* the row of position 0 is all zero */
    double amplitude;
} pe_exact_waves;

/* The position of a row. */
static inline double pe_exact_position(const pe_exact_waves *waves, uint64_t row)
{
    const pe_formula_rows *positions = &waves->positions;
    return positions->list ? positions->list[row]
                           : positions->offset + positions->step * (double)row;
}

/* Read the waves of a matrix off its request, of which the formula is known. False: it is not,
 * or memory ran out, and nothing is held. pe_exact_waves_done frees what is held. The request
 * outlives them. */
bool pe_exact_waves_read(pe_exact_waves *waves, const pe_request *request, size_t tensor);

/* The same, or measure the waves of a matrix, of which `wide` is the request in f64, by its
 * first rows, `sampled` of them, and by rows that are spread over it. *ret_whole: its positions
 * are whole numbers of rows from 0 on; if not, nothing is measured. False: it cannot be
 * computed, or memory ran out. pe_exact_waves_done frees what is held, also then. */
bool pe_exact_waves_init(pe_exact_waves *waves, pe_request *wide, size_t tensor,
                         const pe_observation *seen, const pe_runner *runner, bool *ret_whole,
                         pe_error *reterr);
/* The largest angle of a table, in radians; infinite if a column is no wave: then it fits only
 * if every entry is exact. */
double pe_exact_waves_reach(const pe_exact_waves *waves);

/* Join columns of the same frequency, as full tables have each one twice, of sines and cosines:
 * ret_first[c] is the first column of that of c, ret_next[c] the next one, or c itself. False:
 * memory ran out. */
bool pe_exact_waves_join(const pe_exact_waves *waves, uint64_t *ret_first, uint64_t *ret_next);
void pe_exact_waves_done(pe_exact_waves *waves);

#endif
