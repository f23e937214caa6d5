/* Saying how a table in float32 was computed: by which formula its frequencies, and by
 * functions like those of which library. */
#ifndef PE_NAMED_H
#define PE_NAMED_H

#include "foreign/seen.h"
#include "identify/exact_waves.h"

/* Whether a frequency (or divisor) that is `floats` floats above a number gives a column as
 * well as the one that was chosen for it. */
typedef bool pe_frequency_test(void *context, uint64_t column, float number, int floats);

/* How the frequencies of a table are used. */
typedef struct pe_frequency_use {
    bool quotient; /* positions are divided by them */
    double factor; /* by which positions were divided instead of them; else 1 */
    pe_frequency_test *test;
    void *context;
} pe_frequency_use;

/* Name the formulas that give the frequencies of all columns; none if none does. `wide` is the
 * request. False: memory ran out. */
bool pe_name_frequencies(const pe_request *wide, const pe_exact_waves *waves,
                         const pe_frequency_use *use, pe_computation *ret_computation);

/* The factor by which a request divides all frequencies, or positions; else 1. */
double pe_linear_factor(const pe_request *wide);

/* Say how a vector of frequencies was computed, if a formula gives all of them. False: memory
 * ran out, or the view cannot be read. */
bool pe_name_vector(const pe_request *wide, const pe_seen *seen, pe_dtype dtype,
                    pe_computation *ret_computation);

/* Say of which library sines and cosines are about as often not the nearest floats as these. */
void pe_name_function(pe_computation *computation);

#endif
