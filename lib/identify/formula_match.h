/* Saying by which formula the frequencies of a table in float32 were computed. */
#ifndef PE_FORMULA_MATCH_H
#define PE_FORMULA_MATCH_H

#include "identify/exact_waves.h"
#include "identify/formula.h"
#include "recognise/observation.h"

/* The law of a table's frequencies, and which of its pairs each column has. */
typedef struct pe_matched_law {
    bool known; /* false: no formulas are known */
    pe_formula_law law;
    bool quotient;  /* positions are divided by the numbers */
    uint64_t count; /* columns */
    double *exact;  /* of the law's pairs, radians per position */
    size_t *pairs;  /* [count] */
} pe_matched_law;

/* Read the law of a request for columns with these waves. `factor`: positions were divided by
 * it instead of the frequencies; else 1. False: memory ran out. pe_matched_law_done frees what
 * is held either way. */
bool pe_matched_law_init(pe_matched_law *law, const pe_request *wide,
                         const pe_exact_waves *waves, bool quotient, double factor);
void pe_matched_law_done(pe_matched_law *law);

/* Whether a frequency (or divisor) that is `floats` floats above a number gives a column as
 * well as the one that was chosen for it. */
typedef bool pe_frequency_test(void *context, uint64_t column, float number, int floats);

/* Name the formulas that give the frequencies of all columns; none if none does. The counts of
 * the computation's frequencies are known. */
void pe_match_formulas(const pe_matched_law *law, pe_frequency_test *test, void *context,
                       pe_computation *computation);

/* The factor by which a request divides all frequencies, or positions; else 1. */
double pe_linear_factor(const pe_request *wide);

/* Say how a vector of frequencies was computed, if a formula gives all of them. False: memory
 * ran out, or the view cannot be read. */
bool pe_match_frequency_vector(const pe_request *wide, const pe_observation *seen,
                               pe_dtype dtype, pe_computation *ret_computation);

#endif
