/* Networks of one input with one hidden layer of relu units,
 *
 *     y_h(u) = Σ_k w2[h, k] · max(0, w1[k]·u + b1[k]) + b2[h].
 *
 * Each output is a piecewise linear function of u, and all outputs have their corners at the
 * same u = -b1[k]/w1[k]. Between two corners an output is slope·u + intercept, with sums over
 * the active units that are computed exactly, once. So an output costs one product and one sum,
 * however many units there are. */
#ifndef PE_PIECES_H
#define PE_PIECES_H

#include "numerics/dd.h"
#include "trained/trained.h"

/* A line; each number is the exact one to 106 bits. */
typedef struct pe_line {
    dd slope, intercept;
} pe_line;

typedef struct pe_pieces {
    size_t outputs, corners;
    dd *at;           /* the corners above 0, ascending */
    pe_line *lines;   /* [corners + 1, outputs] */
    double *steepest; /* [outputs]: the largest magnitude of a slope */
} pe_pieces;

/* Read or draw w1 [units, 1], b1 [units], w2 [outputs, units] and b2 [outputs] and find the
 * pieces for u >= 0. Random weights and biases are uniform within ±1 (w1, b1) and
 * ±1/sqrt(units) (w2, b2), as torch.nn.Linear begins. False if memory ran out, the runner
 * cancelled it or a problem was added. */
bool pe_pieces_init(pe_pieces *ret_pieces, const pe_weights *weights, size_t units,
                    size_t outputs, pe_pace *pace);

/* The lines of all outputs at u >= 0. */
const pe_line *pe_pieces_find(const pe_pieces *pieces, dd u);

/* y_h(u), from its line. Its error is below 2^-100 of |slope·u| + |intercept|, and where the
 * result is a number of few bits there is none. */
dd pe_line_value(pe_line line, dd u);

/* Write y_h(u) for the first of `count` > 0 inputs u, as many as lie on one piece, and return
 * how many these are. Each u is within 2^-51 of the number that is meant, relative to it, and
 * each result within *ret_error. *piece: where the last search ended, at first 0; it goes on
 * from there. */
size_t pe_pieces_follow(const pe_pieces *pieces, size_t output, const double *inputs,
                        size_t count, size_t *piece, double *ret_outputs, double *ret_error);

/* The largest magnitude of any output for 0 <= u <= most. */
double pe_pieces_magnitude(const pe_pieces *pieces, dd most);

/* The price of pe_pieces_init, and the bytes of the pieces, for pe_plan.held. */
double pe_pieces_price(const pe_weights *weights, uint64_t units, uint64_t outputs);
uint64_t pe_pieces_bytes(uint64_t units, uint64_t outputs);

#endif
