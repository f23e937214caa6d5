/* Sandwich: biases of the attention scores that are inner products of sinusoidal encodings. */
#include "kernels/kernel.h"
#include "numerics/dtype.h"
#include "numerics/limbs.h"
#include "numerics/phase.h"
#include "relative/bias.h"
#include "waves/wave.h"

#include <math.h>

static const pe_parameter PARAMETERS[] = {
    PE_RELATIVE_PARAMETERS,
    {PE_HEADS_PARAMETER, .required = true, .help = "number of heads H"},
    {.name = "dim",
     .type = PE_INTEGER,
     .default_text = "128",
     .minimum = 2,
     .maximum = PE_DIM_MAX,
     .multiple_of = 2,
     .unit = "columns",
     .help = "number of columns of the sinusoidal encodings, whatever a head has"},
    PE_BASE_PARAMETER,
    PE_MASK_PARAMETER,
};

static const pe_tensor_help TENSORS[] = {
    PE_BIAS_TENSOR,
    PE_DISTANCE_TENSOR,
};
enum tensor { BIAS, DISTANCE };

/* Of one term, and of dividing a product: in double-double, and in double. */
#define COSINE_PRICE      600
#define HEAD_PRICE        60
#define NEAR_COSINE_PRICE 10
#define NEAR_HEAD_PRICE   5

typedef struct sandwich {
    pe_bias bias;
    size_t dim;
    double base;
    uint64_t kept; /* distances whose products are kept; 0: there are too many */

    /* prepared */
    pe_wide *frequencies;  /* turns per position */
    dd *products;          /* NULL if there are too many, or the dtype is short */
    double *near_products; /* NULL if there are too many, or the dtype is not short */
} sandwich;

/* The price of an inner product. */
static double product_price(const sandwich *state)
{
    const bool is_short = pe_dtype_is_short(state->bias.dtype);
    const size_t pairs = state->dim / 2;
    return (is_short ? NEAR_COSINE_PRICE : COSINE_PRICE) * (double)pairs;
}

static void read(const pe_values *values, void *ret_state, pe_plan *plan, pe_error *reterr)
{
    sandwich *state = ret_state;
    pe_relative relative = pe_relative_read(values, reterr);
    pe_dtype dtype = pe_requested_dtype(values);
    uint64_t heads = (uint64_t)pe_get_integer(values, "heads");
    state->dim = (size_t)pe_get_integer(values, "dim");
    state->base = pe_get_real(values, "base");
    state->bias.causal = pe_get_choice(values, "mask") == PE_CAUSAL;
    state->bias.masked = -INFINITY;
    state->bias.dtype = dtype;
    state->kept = pe_bias_kept(&relative, state->bias.causal);
    double largest = (double)state->dim / 2 * (double)heads / 8; /* head 1 */
    double price = pe_dtype_is_short(dtype) ? NEAR_HEAD_PRICE : HEAD_PRICE;
    price += state->kept ? 0 : product_price(state);
    pe_check_magnitude(dtype, "heads", largest, reterr);
    pe_bias_add(plan, &relative, "bias", dtype, heads, price, &state->bias);
    pe_relative_add_distance(plan, &relative);
    plan->state += (pe_dtype_is_short(dtype) ? sizeof(double) : sizeof(dd)) * state->kept;
    plan->price += 30 * (double)state->dim + (double)state->kept * product_price(state);
}

/* The inner product of two encodings at this distance: the sum of the cosines. */
static dd compute_product(const sandwich *state, uint64_t distance)
{
    dd sum = {0, 0};
    for (size_t i = 0; i < state->dim / 2; i++) {
        dd sine, cosine;
        pe_phase_sincos(pe_wide_mul_integer(state->frequencies[i], (int64_t)distance), &sine,
                        &cosine);
        sum = dd_add(sum, cosine);
    }
    return sum;
}

/* The same in double, within 2^-47 of each term: the anchors are within 2^-53, and the sum of
 * 64 of them, of which none is above 64, adds 63·64·2^-53 / 2 at most for its roundings, 2^-48
 * of each term. Sums of these sums are in double-double. */
static double compute_near_product(const sandwich *state, uint64_t distance)
{
    const pe_kernel *kernel = pe_kernel_get();
    const size_t terms = state->dim / 2;
    uint64_t phases[PE_KERNEL_PAIRS];
    double sines[PE_KERNEL_PAIRS], cosines[PE_KERNEL_PAIRS];
    dd sum = {0, 0};
    for (size_t done = 0, part; done < terms; done += part) {
        part = terms - done < PE_KERNEL_PAIRS ? terms - done : PE_KERNEL_PAIRS;
        for (size_t i = 0; i < part; i++) {
            const uint64_t *turns = state->frequencies[done + i].limb;
            phases[i] = turns[3] * distance + (uint64_t)((pe_uint128)turns[2] * distance >> 64);
        }
        kernel->anchor(phases, part, sines, cosines);
        double of_part = 0;
        for (size_t i = 0; i < part; i++)
            of_part += cosines[i];
        sum = dd_add(sum, (dd){of_part, 0});
    }
    return sum.hi;
}

/* The product over 8h/H, h = head + 1: a pe_bias_function whose source is a sandwich. At
 * distance 0 it is a fraction of small integers, which may be a rounding boundary. */
static void write_bias(const void *source, size_t head, uint64_t distance, void *dst)
{
    const sandwich *state = source;
    dd product = state->products ? state->products[distance] : compute_product(state, distance);
    dd bias = dd_quotient(dd_mul_double(product, (double)state->bias.toeplitz.heads),
                          (dd){8 * (double)(head + 1), 0});
    pe_round_dd(state->bias.dtype, dd_snap(bias), dst);
}

/* A pe_bias_intervals whose source is a sandwich. The quotient adds 2^-51 of itself. */
static void find_intervals(const void *source, size_t head, uint64_t distance, size_t count,
                           double *ret_low, double *ret_high)
{
    const sandwich *state = source;
    const double *kept = state->near_products;
    const double scale = (double)state->bias.toeplitz.heads / (8 * (double)(head + 1));
    const size_t pairs = state->dim / 2;
    const double error = scale * (double)pairs * 0x1p-47;
    for (size_t i = 0; i < count; i++) {
        double product = kept ? kept[distance + i] : compute_near_product(state, distance + i);
        double bias = product * scale, off = error + fabs(bias) * 0x1p-51;
        ret_low[i] = bias - off;
        ret_high[i] = bias + off;
    }
}

/* Compute the products that are kept. False if memory ran out or the runner cancelled it. */
static bool keep_products(sandwich *state, pe_pace *pace)
{
    const bool is_short = pe_dtype_is_short(state->bias.dtype);
    const double each = product_price(state);
    if (state->kept == 0)
        return true;
    if (is_short)
        state->near_products = pe_keep(pace, state->kept, sizeof *state->near_products);
    else
        state->products = pe_keep(pace, state->kept, sizeof *state->products);
    bool good = state->near_products || state->products;
    for (uint64_t distance = 0; good && distance < state->kept; distance++) {
        good = pe_pace_may_continue(pace, each);
        if (is_short)
            state->near_products[distance] = compute_near_product(state, distance);
        else
            state->products[distance] = compute_product(state, distance);
    }
    return good;
}

static bool prepare(void *context, pe_pace *pace)
{
    sandwich *state = context;
    state->frequencies = pe_wave_geometric(pace, state->dim / 2, state->base, 2, state->dim);
    return state->frequencies && keep_products(state, pace) &&
           pe_bias_init(&state->bias, write_bias, find_intervals, state, pace);
}

const pe_scheme pe_scheme_sandwich = {
    .info =
        {
            .name = "sandwich",
            .title = "Sandwich: biases by sinusoids",
            .summary = "A bias of the attention scores that is the inner product of the "
                       "sinusoidal encodings of query and key, over a number for each head.",
            .family = "relative",
            .keywords = "long context, extrapolation, sinusoidal bias",
            .formula = "bias[h, i, j] = heads / (8 * (h + 1)) * sum of cos((i - j) * w_c) over "
                       "c = 0 ... dim/2-1, w_c = base^(-2c/dim), h = 0 ... heads-1",
            .convention = "as in the paper's own program: dim is a setting of its own, 128 "
                          "there, and nothing is subtracted from the sum. Without a mask, both "
                          "signs of a distance have the same bias",
            .reference = "arXiv:2212.10356, section 5 and appendix E",
            .example = "length=4&heads=2",
            .revision = 1,
            PE_LIST(parameter, PARAMETERS),
            PE_LIST(tensor, TENSORS),
        },
    .state_size = sizeof(sandwich),
    .read = read,
    .prepare = prepare,
    .fill = pe_relative_fill,
    PE_APPLIES(PE_BIAS("bias")),
    .errors = PE_ERRORS_OF_SUMS,
};
