/* The formula of a request's frequencies, and which column has which of them. */
#ifndef PE_FORMULA_H
#define PE_FORMULA_H

#include "scheme.h"
#include "waves/rotary.h"

/* Frequencies of which formulas are known. */
typedef struct pe_formula_law {
    pe_rotary rotary; /* its type says how frequencies are scaled */
    bool to_last;     /* base^(-i/(dim/2 - 1)), as tensor2tensor has it; else base^(-2i/dim) */
    bool counts_rows; /* positions are a fraction apart, which counts as a linear scaling; else
                       * frequencies are those of positions, whatever the step is */
} pe_formula_law;

/* Read the law of a request. False: there is none that is known. */
bool pe_formula_read(const pe_request *request, pe_formula_law *ret_law);

/* What the frequencies of a law are multiplied by: list[row], or offset + step·row. */
typedef struct pe_formula_rows {
    double offset, step;
    const double *list; /* borrowed from the request, or NULL */
} pe_formula_rows;

void pe_formula_positions(const pe_request *request, const pe_formula_law *law,
                          pe_formula_rows *ret_rows);

/* Which frequency a column has, and whether it is of sines. */
typedef struct pe_formula_column {
    size_t pair;
    bool sine;
} pe_formula_column;

/* Find that of a column of a tensor. False: it is not known. */
bool pe_formula_find_column(const pe_request *request, const pe_formula_law *law,
                            const char *tensor, uint64_t column, pe_formula_column *ret_column);

/* What the sines and cosines of a request are multiplied by. */
double pe_formula_amplitude(const pe_request *request, const pe_formula_law *law);

/* Whether the row of position 0 is all zero. */
bool pe_formula_has_zero(const pe_request *request);

/* How many frequencies there are, and the exact ones in radians per position, to about 2^-52.
 * NULL: memory ran out. The caller frees them. */
size_t pe_formula_pairs(const pe_formula_law *law);
double *pe_formula_exact(const pe_formula_law *law);

/* The factor by which a request divides all frequencies; else 1. */
double pe_formula_linear_factor(const pe_request *request);

#endif
