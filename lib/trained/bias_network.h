/* Swin v2's network of biases: 16 · sigmoid(w2 · relu(w1 · [y, x] + b1)) for coordinates y and
 * x. All of it is computed in fixed point to about 2^-230, so that each bias can be rounded
 * once. */
#ifndef PE_BIAS_NETWORK_H
#define PE_BIAS_NETWORK_H

#include "numerics/fixed.h"
#include "trained/trained.h"

#define PE_BIAS_WEIGHT_MAX 16     /* the largest magnitude of an element */
#define PE_BIAS_HIDDEN_MAX 4096   /* units */
#define PE_BIAS_OUTPUT_MIN (-100) /* of w2 · relu(…): smaller ones would lose their bits */

/* A number as significand · 2^-shift. */
typedef struct pe_bias_weight {
    uint64_t significand;
    unsigned shift;
    bool negative;
} pe_bias_weight;

typedef struct pe_bias_network {
    size_t heads, hidden;
    pe_bias_weight *w1, *b1,
        *w2;         /* [hidden, 2], [hidden], [heads, hidden], in one allocation */
    pe_fixed *units; /* scratch memory: [hidden] */
} pe_bias_network;

/* Read or draw the request's tensors w1 [hidden, 2], b1 [hidden] and w2 [heads, hidden]; seeded
 * ones are trunc_normal(0, 0.02), b1 is zero. False if memory ran out or a problem was added to
 * the pace's error. */
bool pe_bias_network_init(pe_bias_network *ret_network, const pe_weights *weights, size_t heads,
                          size_t hidden, pe_pace *pace);

/* Compute the biases of all heads, each in 0 … 16. False: an output is below the least one. */
bool pe_bias_network_compute(const pe_bias_network *network, const pe_fixed coordinates[2],
                             pe_fixed *ret_biases);

/* The price of pe_bias_network_init, and of pe_bias_network_compute. */
double pe_bias_network_price(const pe_weights *weights, uint64_t heads, uint64_t hidden);
double pe_bias_network_cell_price(uint64_t heads, uint64_t hidden);

#endif
