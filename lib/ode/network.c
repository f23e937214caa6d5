/* Packing the network's weights and computing the derivative. */
#include "ode/network.h"

#include "kernels/kernel.h"

#include <math.h>
#include <string.h>

static size_t count_panels(size_t rows)
{
    return (rows + PE_MATRIX_LANES - 1) / PE_MATRIX_LANES;
}

uint64_t pe_network_weights(uint64_t dim, uint64_t hidden)
{
    return PE_MATRIX_LANES *
           (count_panels(hidden) * (dim + 1) + count_panels(dim) * (hidden + 1));
}

/* Pack one layer. `row` is scratch memory of `columns` doubles. */
static bool pack_layer(pe_layer *layer, const pe_trained *weights, const pe_trained *bias,
                       double *row, double price, pe_pace *pace)
{
    for (size_t r = 0; r < layer->rows; r++) {
        if (!pe_pace_may_continue(pace, price * (double)layer->columns))
            return false;
        pe_trained_row(weights, r, 0, layer->columns, row);
        size_t panel = r / PE_MATRIX_LANES, lane = r % PE_MATRIX_LANES;
        double *packed = layer->panels + panel * PE_MATRIX_LANES * layer->columns + lane;
        for (size_t c = 0; c < layer->columns; c++)
            packed[c * PE_MATRIX_LANES] = row[c];
    }
    pe_trained_row(bias, 0, 0, layer->rows, layer->bias);
    return true;
}

/* Add up the squares of each column but the last, which multiplies t. */
static void add_squares(const pe_layer *layer, double *ret_squares)
{
    for (size_t panel = 0; panel < count_panels(layer->rows); panel++)
        for (size_t c = 0; c + 1 < layer->columns; c++) {
            const double *column =
                layer->panels + (panel * layer->columns + c) * PE_MATRIX_LANES;
            for (size_t lane = 0; lane < PE_MATRIX_LANES; lane++)
                ret_squares[c] += column[lane] * column[lane];
        }
}

/* Allocate panels of zeros. NULL if memory ran out. */
static double *new_panels(size_t rows, size_t columns, pe_pace *pace)
{
    return pe_keep_zeros(pace, count_panels(rows) * columns * PE_MATRIX_LANES, sizeof(double));
}

/* False if memory ran out. */
static bool allocate_layer(pe_layer *layer, size_t rows, size_t columns, pe_pace *pace)
{
    *layer = (pe_layer){.rows = rows,
                        .columns = columns,
                        .panels = new_panels(rows, columns, pace),
                        .bias = pe_keep_zeros(pace, rows, sizeof *layer->bias)};
    return layer->panels && layer->bias;
}

bool pe_network_init(pe_network *network, const pe_trained weights[2],
                     const pe_trained biases[2], size_t dim, size_t hidden,
                     pe_activation activation, double weight_price, pe_pace *pace)
{
    size_t most = dim > hidden ? dim : hidden;
    *network = (pe_network){.activation = activation,
                            .inputs = pe_keep_zeros(pace, most + 1, sizeof(double)),
                            .products = new_panels(most, 1, pace),
                            .squares = pe_keep_zeros(pace, hidden, sizeof(double)),
                            .used = pe_keep_zeros(pace, most + 1, sizeof *network->used)};
    if (!network->inputs || !network->products || !network->used || !network->squares ||
        !allocate_layer(&network->first, hidden, dim + 1, pace) ||
        !allocate_layer(&network->second, dim, hidden + 1, pace) ||
        !pack_layer(&network->first, &weights[0], &biases[0], network->inputs, weight_price,
                    pace) ||
        !pack_layer(&network->second, &weights[1], &biases[1], network->inputs, weight_price,
                    pace))
        return false;
    add_squares(&network->second, network->squares);
    return true;
}

/* products = layer · inputs, without the bias. Half of the units of a relu layer give 0. */
static void multiply_layer(const pe_network *network, const pe_layer *layer)
{
    size_t count = 0;
    for (size_t j = 0; j < layer->columns; j++) {
        network->used[count] = (uint32_t)j;
        count += network->inputs[j] != 0;
    }
    pe_kernel_get()->multiply(layer->panels, count_panels(layer->rows), layer->columns,
                              network->inputs, network->used, count, network->products);
}

static double apply_activation(pe_activation activation, double z)
{
    if (activation == PE_TANH)
        return pe_network_tanh(z);
    return z < 0 ? 0 : z; /* NaN stays NaN */
}

void pe_network_derivative(const pe_network *network, double t, const double *p,
                           double *ret_units, double *ret_derivative)
{
    const pe_layer *first = &network->first, *second = &network->second;
    double *inputs = network->inputs, *products = network->products;
    memcpy(inputs, p, second->rows * sizeof *p);
    inputs[second->rows] = t;
    multiply_layer(network, first);
    for (size_t i = 0; i < first->rows; i++) {
        ret_units[i] = products[i] + first->bias[i];
        inputs[i] = apply_activation(network->activation, ret_units[i]);
    }
    inputs[first->rows] = t;
    multiply_layer(network, second);
    for (size_t i = 0; i < second->rows; i++)
        ret_derivative[i] = products[i] + second->bias[i];
}

/* exp(x) for 0 <= x <= 40: 2^n times the Taylor polynomial of x - n·ln 2, which is at most
 * ln2/2 in magnitude. */
static double compute_exponential(double x)
{
    static const double terms[] = {1,
                                   1,
                                   1.0 / 2,
                                   1.0 / 6,
                                   1.0 / 24,
                                   1.0 / 120,
                                   1.0 / 720,
                                   1.0 / 5040,
                                   1.0 / 40320,
                                   1.0 / 362880,
                                   1.0 / 3628800,
                                   1.0 / 39916800,
                                   1.0 / 479001600,
                                   1.0 / 6227020800};
    int n = (int)(x * 0x1.71547652b82fep+0 + 0.5); /* x / ln 2 */
    double rest = (x - n * 0x1.62e42fefa3980p-1) - n * 0x1.bcd5e4f1d9cc0p-47;
    double sum = terms[13];
    for (int i = 12; i >= 0; i--)
        sum = sum * rest + terms[i];
    return ldexp(sum, n);
}

double pe_network_tanh(double x)
{
    double size = fabs(x), result;
    if (isnan(x))
        return x;
    if (size >= 20)
        return x < 0 ? -1 : 1;
    if (size < 0.5) { /* Lambert's continued fraction; its next term is below 2^-57 */
        double square = x * x, fraction = 17;
        for (int n = 15; n >= 1; n -= 2)
            fraction = n + square / fraction;
        return x / fraction;
    }
    result = 1 - 2 / (compute_exponential(2 * size) + 1);
    return x < 0 ? -result : result;
}
