/* The network that moves FLOATER's state: h(t, p) = w2·[act(w1·[p; t] + b1); t] + b2. */
#ifndef PE_NETWORK_H
#define PE_NETWORK_H

#include "matrix.h"
#include "trained.h"

typedef enum pe_activation { PE_RELU, PE_TANH } pe_activation;

typedef struct pe_layer {
    size_t rows, columns; /* the last column is t's */
    double *panels, *bias;
} pe_layer;

typedef struct pe_network {
    pe_activation activation;
    pe_layer first, second;
    double *inputs; /* of either layer, then the products */
    double *products;
} pe_network;

/* The weights that a network takes as it is packed. */
uint64_t pe_network_weights(uint64_t dim, uint64_t hidden);

/* Told the weights that are made by now; false ends the making. */
typedef bool pe_network_watch(void *context, uint64_t made);

/* Make the layers of `dim` states and `hidden` units. False: memory ran out, or `watch` ended
 * it. */
bool pe_network_init(pe_network *network, const pe_trained weights[2],
                     const pe_trained biases[2], size_t dim, size_t hidden,
                     pe_activation activation, pe_network_watch *watch, void *context);
void pe_network_done(pe_network *network);

/* The derivative of the state p at t. */
void pe_network_derivative(const pe_network *network, double t, const double *p,
                           double *ret_derivative);

/* tanh, within 2^-51 of itself, from sums, products and quotients alone. */
double pe_network_tanh(double x);

#endif
