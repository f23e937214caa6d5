/* Sandwich: biases of the attention scores that are inner products of sinusoidal encodings. */
#include "numerics/dtype.h"
#include "numerics/phase.h"
#include "relative/bias.h"
#include "waves/wave.h"

#include <math.h>
#include <stdlib.h>

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
    {"bias", "[heads, queries, keys] or [heads, queries+keys-1]",
     "is added to the attention scores"},
    {"distance", "[queries+keys-1]", "key minus query; only with form=compact"},
};
enum tensor { BIAS, DISTANCE };

static void plan(const pe_values *values, pe_plan *ret_plan, pe_error *reterr)
{
    pe_relative relative = pe_relative_read(values, reterr);
    uint64_t heads = (uint64_t)pe_integer(values, "heads");
    double largest = (double)pe_integer(values, "dim") / 2 * (double)heads / 8; /* head 1 */
    pe_check_magnitude(values, "heads", largest, reterr);
    pe_relative_add(ret_plan, &relative, "bias", pe_requested_dtype(values), heads, 0);
    pe_relative_add_distance(ret_plan, &relative);
    ret_plan->state += sizeof(dd) * pe_bias_kept(values);
}

typedef struct sandwich {
    pe_bias bias;
    pe_wide *frequencies; /* turns per position */
    size_t count, heads;
    uint64_t kept; /* distances whose products are kept */
    dd *products;  /* NULL if there are too many */
} sandwich;

#define COSINE_PRICE 600 /* of one term */
#define HEAD_PRICE   60  /* to divide a product */

/* The inner product of two encodings at this distance: the sum of the cosines. */
static dd product_at(const sandwich *state, uint64_t distance)
{
    dd sum = {0, 0};
    for (size_t i = 0; i < state->count; i++) {
        dd sine, cosine;
        pe_phase_sincos(pe_wide_mul_integer(state->frequencies[i], (int64_t)distance), &sine,
                        &cosine);
        sum = dd_add(sum, cosine);
    }
    return sum;
}

/* The product over 8h/H, h = head + 1: a pe_bias_function whose source is a sandwich. At
 * distance 0 it is a fraction of small integers, which may be a rounding boundary. */
static void bias_at(const void *source, size_t head, uint64_t distance, void *dst)
{
    const sandwich *state = source;
    dd product = state->products ? state->products[distance] : product_at(state, distance);
    dd bias = dd_quotient(dd_mul_double(product, (double)state->heads),
                          (dd){8 * (double)(head + 1), 0});
    pe_round_dd(state->bias.dtype, dd_snap(bias), dst);
}

static double product_price(const pe_values *values)
{
    return COSINE_PRICE * (double)(pe_integer(values, "dim") / 2);
}

/* The price of a bias, once what is kept has been computed. */
static double bias_price(const pe_values *values)
{
    return HEAD_PRICE + (pe_bias_kept(values) ? 0 : product_price(values));
}

static double price(const pe_values *values, const pe_plan *plan)
{
    return 30 * (double)pe_integer(values, "dim") +
           (double)pe_bias_kept(values) * product_price(values) +
           pe_toeplitz_price(values, &plan->tensors[BIAS], (size_t)pe_integer(values, "heads"),
                             bias_price(values));
}

static double element_price(const pe_values *values, const pe_plan *plan, size_t tensor)
{
    if (tensor != BIAS)
        return 2;
    return pe_toeplitz_element_price(values, &plan->tensors[BIAS],
                                     (size_t)pe_integer(values, "heads"), bias_price(values));
}

/* Compute the products that are kept. False if memory ran out or the runner cancelled it. */
static bool keep_products(sandwich *state, pe_pace *pace)
{
    if (state->kept == 0)
        return true;
    double each = product_price(pace->values);
    dd *products = malloc(state->kept * sizeof *products);
    if (!products)
        return false;
    for (uint64_t distance = 0; distance < state->kept; distance++) {
        if (!pe_pace_go_on(pace, each)) {
            free(products);
            return false;
        }
        products[distance] = product_at(state, distance);
    }
    state->products = products;
    return true;
}

static void release(void *context)
{
    sandwich *state = context;
    if (state) {
        pe_bias_done(&state->bias);
        free(state->frequencies);
        free(state->products);
    }
    free(state);
}

static void *prepare(const pe_values *values, const pe_plan *plan, const pe_runner *runner,
                     pe_error *reterr)
{
    pe_pace pace = pe_pace_of(values, plan, runner, reterr);
    size_t dim = (size_t)pe_integer(values, "dim");
    sandwich *state = calloc(1, sizeof *state);
    if (!state)
        return NULL;
    state->bias = (pe_bias){.function = bias_at,
                            .source = state,
                            .causal = pe_choice(values, "mask") == PE_CAUSAL,
                            .masked = -INFINITY};
    state->count = dim / 2;
    state->heads = (size_t)pe_integer(values, "heads");
    state->kept = pe_bias_kept(values);
    state->frequencies = pe_wave_geometric(dim / 2, pe_real(values, "base"), 2, dim);
    if (state->frequencies && keep_products(state, &pace) &&
        pe_bias_init(&state->bias, &plan->tensors[BIAS], state->heads, bias_price(values),
                     &pace))
        return state;
    release(state);
    return NULL;
}

static void fill(const pe_values *values, const pe_plan *plan, const void *context,
                 pe_window window, void *dst)
{
    (void)values, (void)plan;
    const sandwich *state = context;
    if (window.tensor == BIAS)
        pe_toeplitz_fill(&state->bias.toeplitz, window, dst);
    else
        pe_relative_fill_distance(&state->bias.relative, window, dst);
}

const pe_scheme pe_scheme_sandwich = {
    .info =
        {
            .name = "sandwich",
            .title = "Sandwich: biases by sinusoids",
            .summary = "A bias of the attention scores that is the inner product of the "
                       "sinusoidal encodings of query and key, over a number for each head.",
            .family = "relative",
            .formula = "bias[h, i, j] = (sum of cos((i - j) * w_c), c = 0 ... dim/2-1) / (8 * "
                       "h / H), w_c = base^(-2c/dim), h = 1 ... H",
            .convention = "as in the paper's own program: dim is a setting of its own, 128 "
                          "there, and nothing is subtracted from the sum. Without a mask, both "
                          "signs of a distance have the same bias",
            .reference = "arXiv:2212.10356, section 5 and appendix E",
            .example = "length=4&heads=2",
            .revision = 1,
            PE_LIST(parameter, PARAMETERS),
            PE_LIST(tensor, TENSORS),
        },
    .plan = plan,
    .prepare = prepare,
    .fill = fill,
    .release = release,
    .price = price,
    .element_price = element_price,
    PE_APPLIES(PE_BIAS("bias")),
    .streamable = true,
};
