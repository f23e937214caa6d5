/* The network of FLOATER's equation p'(t) = h(t, p) = w2·[act(w1·[p; t] + b1); t] + b2. */
#ifndef PE_NETWORK_H
#define PE_NETWORK_H

#include "kernels/matrix.h"
#include "trained/trained.h"

typedef enum pe_activation { PE_RELU, PE_TANH } pe_activation;

typedef struct pe_layer {
    size_t rows, columns;  /* the last column is multiplied by t */
    double *panels, *bias; /* panels: the weights, packed as kernels/matrix.h says */
} pe_layer;

typedef struct pe_network {
    pe_activation activation;
    pe_layer first, second;
    double *squares; /* for each hidden unit the squares of its weights in w2, added up */
    double *inputs, *products; /* scratch memory of either layer */
    uint32_t *used;            /* the inputs that are not 0 */
} pe_network;

/* The number of weights that a network holds, including the zeros that fill its panels. */
uint64_t pe_network_weights(uint64_t dim, uint64_t hidden);

/* Read or draw the weights of a network of `dim` states and `hidden` units, each for a price,
 * and pack them. False if memory ran out or the runner cancelled it. */
bool pe_network_init(pe_network *network, const pe_trained weights[2],
                     const pe_trained biases[2], size_t dim, size_t hidden,
                     pe_activation activation, double weight_price, pe_pace *pace);

/* Compute h(t, p), the derivative of the state p at t, and on the way w1·[p; t] + b1, which
 * goes into the hidden units. One thread at a time, as it uses the network's scratch memory. */
void pe_network_derivative(const pe_network *network, double t, const double *p,
                           double *ret_units, double *ret_derivative);

/* tanh(x) with a relative error below 2^-51. It uses only sums, products and quotients, so that
 * every processor gives the same bits. */
double pe_network_tanh(double x);

#endif
