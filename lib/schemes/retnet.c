/* RetNet: the decay of each head, which replaces the softmax, and the rotation of queries and
 * keys. */
#include "numerics/dtype.h"
#include "numerics/elementary.h"
#include "relative/bias.h"
#include "waves/fill.h"

#include <math.h>
#include <stdlib.h>

/* Head h decays by 2^-(5+h), which for 256 heads is far below 1 and no subnormal double. */
#define FIRST_EXPONENT 5
#define HEADS_MAX      256

static const pe_parameter PARAMETERS[] = {
    PE_RELATIVE_PARAMETERS,
    {.name = "heads",
     .type = PE_INTEGER,
     .required = true,
     .minimum = 1,
     .maximum = HEADS_MAX,
     .unit = "heads",
     .help = "number of heads"},
    PE_DIM_PARAMETER(2, 2, "number of columns of a head"),
    PE_BASE_PARAMETER,
};

static const pe_tensor_help TENSORS[] = {
    {"mask", "[heads, queries, keys] or [heads, queries+keys-1]",
     "multiplies the products of queries and keys: 0 for keys after the query"},
    {"decay", "[heads]", "ln(gamma_h)"},
    {"cos", "[keys, dim]", "cosine of key position times frequency, each twice"},
    {"sin", "[keys, dim]", "sine of key position times frequency, each twice"},
    {"distance", "[queries+keys-1]", "key minus query; only with form=compact"},
};
enum tensor { MASK, DECAY, COS, SIN, DISTANCE };

static void plan(const pe_values *values, pe_plan *ret_plan, pe_error *reterr)
{
    pe_relative relative = pe_relative_read(values, reterr);
    uint64_t heads = (uint64_t)pe_integer(values, "heads");
    const uint64_t table[2] = {relative.keys, (uint64_t)pe_integer(values, "dim")};
    pe_dtype dtype = pe_requested_dtype(values);
    pe_relative_add(ret_plan, &relative, "mask", dtype, heads, 0);
    pe_plan_add(ret_plan, "decay", dtype, 1, &heads);
    pe_plan_add(ret_plan, "cos", dtype, 2, table);
    pe_plan_add(ret_plan, "sin", dtype, 2, table);
    pe_relative_add_distance(ret_plan, &relative);
}

typedef struct retnet {
    pe_bias mask;
    pe_wave cosines, sines; /* they share their frequencies */
    dd decays[HEADS_MAX];
} retnet;

#define MASK_PRICE      400
#define FREQUENCY_PRICE 60

/* gamma^distance, a pe_bias_function whose source is a retnet. Powers of gamma = 1 - 2^-k are
 * numbers of few bits at small distances, and so may be rounding boundaries. */
static void mask_at(const void *source, size_t head, uint64_t distance, void *dst)
{
    const retnet *state = source;
    pe_scaled power = pe_exp(dd_mul_double(state->decays[head], (double)distance));
    pe_round_scaled(state->mask.dtype, dd_snap(power.value), power.exponent, dst);
}

static void release(void *context)
{
    retnet *state = context;
    if (state) {
        pe_bias_done(&state->mask);
        free(state->cosines.frequencies);
    }
    free(state);
}

/* The waves of the keys' positions. False if memory ran out. */
static bool make_waves(retnet *state, const pe_values *values, const pe_tensor *tensor)
{
    size_t dim = (size_t)tensor->shape[1], count = dim / 2;
    state->cosines = (pe_wave){
        .positions = {.count = tensor->shape[0], .step = 1},
        .frequencies =
            pe_wave_geometric(count, pe_real(values, "base"), 1, count > 1 ? count - 1 : 1),
        .count = count,
        .layout = PE_WAVE_COSINES,
        .copies = PE_WAVE_IN_PAIRS,
        .columns = dim,
        .row_columns = dim,
        .amplitude = 1,
        .dtype = tensor->dtype,
    };
    state->sines = state->cosines;
    state->sines.layout = PE_WAVE_SINES;
    return state->cosines.frequencies != NULL;
}

static void *prepare(const pe_values *values, const pe_plan *plan, const pe_runner *runner,
                     pe_error *reterr)
{
    pe_pace pace = pe_pace_of(values, plan, runner, reterr);
    size_t heads = (size_t)pe_integer(values, "heads");
    retnet *state = calloc(1, sizeof *state);
    if (!state)
        return NULL;
    for (size_t h = 0; h < heads; h++)
        state->decays[h] = pe_log1p((dd){-ldexp(1, -FIRST_EXPONENT - (int)h), 0});
    state->mask = (pe_bias){.function = mask_at, .source = state, .causal = true, .masked = 0};
    if (make_waves(state, values, &plan->tensors[COS]) &&
        pe_bias_init(&state->mask, &plan->tensors[MASK], heads, MASK_PRICE, &pace))
        return state;
    release(state);
    return NULL;
}

static void fill(const pe_values *values, const pe_plan *plan, const void *context,
                 pe_window window, void *dst)
{
    (void)values, (void)plan;
    const retnet *state = context;
    unsigned char *at = dst;
    switch ((enum tensor)window.tensor) {
    case MASK:
        pe_toeplitz_fill(&state->mask.toeplitz, window, dst);
        return;
    case DECAY:
        for (uint64_t h = 0; h < window.rows; h++, at += pe_dtype_size(state->mask.dtype))
            pe_round_dd(state->mask.dtype, state->decays[window.first + h], at);
        return;
    case COS:
    case SIN:
        pe_wave_fill(window.tensor == COS ? &state->cosines : &state->sines, window.first,
                     window.rows, dst);
        return;
    case DISTANCE:
        pe_relative_fill_distance(&state->mask.relative, window, dst);
        return;
    }
}

static double price(const pe_values *values, const pe_plan *plan)
{
    return FREQUENCY_PRICE * (double)pe_integer(values, "dim") +
           pe_toeplitz_price(values, &plan->tensors[MASK], (size_t)pe_integer(values, "heads"),
                             MASK_PRICE);
}

static double element_price(const pe_values *values, const pe_plan *plan, size_t tensor)
{
    if (tensor != MASK)
        return 3;
    return pe_toeplitz_element_price(values, &plan->tensors[MASK],
                                     (size_t)pe_integer(values, "heads"), MASK_PRICE);
}

const pe_scheme pe_scheme_retnet = {
    .info =
        {
            .name = "retnet",
            .title = "RetNet: retention with decay and rotation",
            .summary = "A factor for each head that falls exponentially with the distance and "
                       "takes the place of the softmax, and the cosines and sines that rotate "
                       "queries and keys.",
            .family = "relative",
            .formula = "mask[h, i, j] = gamma_h^(i - j), 0 for j > i; gamma_h = 1 - 2^(-5 - "
                       "h), h = 0 ... H-1; cos[k, 2c] = cos[k, 2c+1] = cos(k * w_c), w_c = "
                       "base^(-c/(dim/2-1))",
            .convention =
                "as in torchscale, the authors' code, whose parallel form then divides each "
                "row of mask "
                "by the square root of its sum; a pair of columns is rotated as (x, "
                "y) -> (x cos - y sin, x sin + y cos). The tensor distance is key minus "
                "query",
            .reference = "arXiv:2307.08621, equations 5 and 8",
            .example = "length=4&heads=2&dim=4",
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
    PE_APPLIES(PE_FACTOR("scores", "mask")),
    .streamable = true,
};
