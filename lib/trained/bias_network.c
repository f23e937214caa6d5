/* The network in integers of six limbs, four of them behind the point. */
#include "trained/bias_network.h"

#include "numerics/limbs.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define LIMBS         6 /* of a sum, in two's complement; two are the whole part */
#define PRODUCT_PRICE 30
#define UNIT_PRICE    100
#define OUTPUT_PRICE  40000 /* of a sigmoid */

static const pe_distribution WEIGHTS = {.initialiser = PE_TRUNC_NORMAL, .std = 0.02};
static const pe_distribution BIAS = {.initialiser = PE_ZEROS};

/* ---- tensors ---- */

static pe_bias_weight make_weight(double number)
{
    int exponent;
    uint64_t significand = (uint64_t)ldexp(frexp(fabs(number), &exponent), 53);
    return (pe_bias_weight){significand, (unsigned)(53 - exponent), number < 0};
}

static void refuse_weight(const pe_weights *weights, const char *name, double number,
                          pe_error *reterr)
{
    char given[96];
    snprintf(given, sizeof given, "%s with %g in %s", weights->set_name, number, name);
    pe_error_add(reterr, PE_OUT_OF_RANGE, "set", given,
                 "the name of a set whose elements have magnitudes of at most %d",
                 PE_BIAS_WEIGHT_MAX);
}

/* Read a tensor row by row. False: a problem was added. */
static bool read_tensor(pe_pace *pace, const pe_weights *weights, const char *name, size_t rows,
                        size_t columns, const pe_distribution *distribution,
                        pe_bias_weight *ret_weights)
{
    enum { PART = 64 };
    double elements[PART];
    pe_trained tensor = pe_trained_find(weights, name, columns, distribution);
    double price = pe_trained_price(weights, distribution) + PRODUCT_PRICE;
    for (size_t row = 0; row < rows; row++)
        for (size_t c = 0, part; c < columns; c += part) {
            part = columns - c < PART ? columns - c : PART;
            if (!pe_pace_may_continue(pace, (double)part * price))
                return false;
            pe_trained_row(&tensor, row, c, part, elements);
            for (size_t i = 0; i < part; i++) {
                if (fabs(elements[i]) > PE_BIAS_WEIGHT_MAX) {
                    refuse_weight(weights, name, elements[i], pace->reterr);
                    return false;
                }
                *ret_weights++ = make_weight(elements[i]);
            }
        }
    return true;
}

bool pe_bias_network_init(pe_bias_network *ret_network, const pe_weights *weights, size_t heads,
                          size_t hidden, pe_pace *pace)
{
    pe_bias_network network = {.heads = heads, .hidden = hidden};
    network.w1 = pe_keep(pace, (3 + heads) * hidden, sizeof *network.w1);
    network.units = pe_keep(pace, hidden, sizeof *network.units);
    if (!network.w1 || !network.units)
        return false;
    network.b1 = network.w1 + 2 * hidden;
    network.w2 = network.b1 + hidden;
    *ret_network = network;
    return read_tensor(pace, weights, "w1", hidden, 2, &WEIGHTS, network.w1) &&
           read_tensor(pace, weights, "b1", 1, hidden, &BIAS, network.b1) &&
           read_tensor(pace, weights, "w2", heads, hidden, &WEIGHTS, network.w2);
}

double pe_bias_network_price(const pe_weights *weights, uint64_t heads, uint64_t hidden)
{
    return (double)((heads + 2) * hidden) *
               (pe_trained_price(weights, &WEIGHTS) + PRODUCT_PRICE) +
           (double)hidden * (pe_trained_price(weights, &BIAS) + PRODUCT_PRICE);
}

double pe_bias_network_cell_price(uint64_t heads, uint64_t hidden)
{
    return (double)hidden * (UNIT_PRICE + (double)heads * PRODUCT_PRICE) +
           (double)heads * OUTPUT_PRICE;
}

/* ---- sums ---- */

/* Add `a` · weight, |a| < 2^10, to a sum; bits below 2^-256 are cut off. */
static void add_product(uint64_t sum[LIMBS], const pe_fixed *a, const pe_bias_weight *weight)
{
    uint64_t product[LIMBS], shifted[LIMBS] = {0};
    pe_fixed size = a->whole < 0 ? pe_fixed_sub((pe_fixed){0}, *a) : *a;
    size_t limbs = weight->shift / 64;
    unsigned bits = weight->shift % 64;
    if (limbs >= LIMBS - 1 || weight->significand == 0)
        return;
    memcpy(product, size.part.limb, sizeof size.part.limb);
    product[4] = (uint64_t)size.whole;
    product[5] = pe_limbs_mul_small(product, 5, weight->significand);
    for (size_t i = 0; i + limbs < LIMBS; i++)
        shifted[i] = pe_funnel_right(i + limbs + 1 < LIMBS ? product[i + limbs + 1] : 0,
                                     product[i + limbs], bits);
    if ((a->whole < 0) != weight->negative)
        pe_limbs_sub(sum, shifted, LIMBS);
    else
        pe_limbs_add(sum, shifted, LIMBS);
}

/* A sum, |sum| < 2^62. */
static pe_fixed make_fixed(const uint64_t sum[LIMBS])
{
    pe_fixed result = {.whole = (int64_t)sum[4]};
    memcpy(result.part.limb, sum, sizeof result.part.limb);
    return result;
}

/* 16 / (1 + exp(-output)). */
static pe_fixed compute_bias(pe_fixed output)
{
    bool negative = output.whole < 0;
    pe_fixed size = negative ? pe_fixed_sub((pe_fixed){0}, output) : output;
    pe_fixed exponent = pe_fixed_div(size, (pe_fixed){0, pe_wide_ln2});
    /* within 2^-128 of 8 */
    if (exponent.whole == 0 && pe_limbs_are_zero(exponent.part.limb + 2, 2))
        return (pe_fixed){.whole = 8};
    /* exp(-|output|), of which an output above 256 leaves no bit */
    pe_fixed part = {0};
    if (exponent.whole < 256)
        part.part = pe_wide_power_of_log2((uint64_t)exponent.whole, exponent.part, 1, 1);
    pe_fixed dividend = negative ? pe_fixed_mul_integer(part, 16) : (pe_fixed){.whole = 16};
    part.whole = 1;
    return pe_fixed_div(dividend, part);
}

bool pe_bias_network_compute(const pe_bias_network *network, const pe_fixed coordinates[2],
                             pe_fixed *ret_biases)
{
    static const pe_fixed one = {.whole = 1};
    size_t hidden = network->hidden;
    for (size_t j = 0; j < hidden; j++) {
        uint64_t sum[LIMBS] = {0};
        add_product(sum, &coordinates[0], &network->w1[2 * j]);
        add_product(sum, &coordinates[1], &network->w1[2 * j + 1]);
        add_product(sum, &one, &network->b1[j]);
        network->units[j] = make_fixed(sum);
    }
    for (size_t h = 0; h < network->heads; h++) {
        uint64_t sum[LIMBS] = {0};
        for (size_t j = 0; j < hidden; j++)
            if (network->units[j].whole >= 0) /* relu */
                add_product(sum, &network->units[j], &network->w2[h * hidden + j]);
        pe_fixed output = make_fixed(sum);
        if (output.whole < PE_BIAS_OUTPUT_MIN)
            return false;
        ret_biases[h] = compute_bias(output);
    }
    return true;
}
