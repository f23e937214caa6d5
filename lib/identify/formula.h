/* The formulas by which libraries compute frequencies in float32, step by step: every function
 * is rounded once from its exact value, every sum, product and quotient as IEEE 754 has it. */
#ifndef PE_FORMULA_H
#define PE_FORMULA_H

#include "scheme.h"
#include "waves/rotary.h"

/* Frequencies of which formulas are known. */
typedef struct pe_formula_law {
    pe_rotary rotary; /* its type says how frequencies are scaled, as transformers does it */
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

/* Whether a formula rounds the exact frequency once. */
bool pe_formula_is_exact(size_t formula);

/* A formula's text; NULL: there are not so many. `quotient`: of numbers that positions are
 * divided by. */
const char *pe_formula_text(const pe_formula_law *law, bool quotient, size_t formula);

/* The frequency of pair i, whose exact one is given, or the number that positions are divided
 * by. */
float pe_formula_number(const pe_formula_law *law, bool quotient, size_t formula, size_t i,
                        double exact);

#endif
