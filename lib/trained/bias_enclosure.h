/* Swin v2's network of biases in doubles: intervals that hold its biases, which nearly always
 * tell what an entry of a short dtype is. */
#ifndef PE_BIAS_ENCLOSURE_H
#define PE_BIAS_ENCLOSURE_H

#include "trained/bias_network.h"

typedef struct pe_bias_enclosure {
    size_t heads, hidden, panels;
    double *w1, *b1; /* [hidden, 2], [hidden], in one allocation with all that follow */
    double *w2;      /* packed as pe_matrix_multiply needs it */
    double *bounds; /* [heads, 3]: the sums of |w2 w1| over the units, of y, x and of |w2 b1| */
    double *units;  /* scratch memory: [hidden] */
    double *outputs;  /* the same: [panels, PE_MATRIX_LANES] */
    uint32_t *active; /* the same: [hidden] */
} pe_bias_enclosure;

/* Take the weights of a network. False if memory ran out. */
bool pe_bias_enclosure_init(pe_bias_enclosure *ret_enclosure, const pe_bias_network *network,
                            pe_pace *pace);

/* The bytes that it holds. */
uint64_t pe_bias_enclosure_bytes(uint64_t heads, uint64_t hidden);

/* Compute intervals around the biases of all heads at coordinates that are within 2^-53 of
 * these, relative to them. False: an output may be below PE_BIAS_OUTPUT_MIN. */
bool pe_bias_enclose(const pe_bias_enclosure *enclosure, const double coordinates[2],
                     double *ret_low, double *ret_high);

/* The price of pe_bias_enclose. */
double pe_bias_enclose_price(uint64_t heads, uint64_t hidden);

#endif
