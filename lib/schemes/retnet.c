/* RetNet: the decay of each head, which replaces the softmax, and the rotation of queries and
 * keys. */
#include "kernels/kernel.h"
#include "numerics/dtype.h"
#include "numerics/elementary.h"
#include "relative/bias.h"
#include "waves/fill.h"

#include <math.h>

/* Head h decays by 2^-(5+h), which for 256 heads is far below 1 and no subnormal double. */
#define FIRST_EXPONENT 5
#define HEADS_MAX      256
#define BOUNDARY_BITS  55 /* of a rounding boundary, at most, as dd_snap has it */

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
    PE_DISTANCE_TENSOR,
};
enum tensor { MASK, DECAY, COS, SIN, DISTANCE };

#define MASK_PRICE 400 /* in double-double */
#define NEAR_PRICE 15  /* in double */

typedef struct retnet {
    pe_bias mask;
    pe_wave cosines, sines; /* they share their frequencies */
    double base;

    /* prepared */
    dd *decays; /* of the heads */
} retnet;

static void read(const pe_values *values, void *ret_state, pe_plan *plan, pe_error *reterr)
{
    retnet *state = ret_state;
    pe_relative relative = pe_relative_read(values, reterr);
    pe_dtype dtype = pe_requested_dtype(values);
    uint64_t heads = (uint64_t)pe_get_integer(values, "heads");
    size_t dim = (size_t)pe_get_integer(values, "dim");
    state->base = pe_get_real(values, "base");
    state->mask.causal = true;
    state->cosines = (pe_wave){.positions = {.count = relative.keys, .step = 1},
                               .count = dim / 2,
                               .layout = PE_WAVE_COSINES,
                               .copies = PE_WAVE_IN_PAIRS,
                               .columns = dim,
                               .row_columns = dim,
                               .amplitude = 1,
                               .dtype = dtype};
    pe_bias_add(plan, &relative, "mask", dtype, heads,
                pe_dtype_is_short(dtype) ? NEAR_PRICE : MASK_PRICE, &state->mask);
    pe_plan_add(plan, "decay", dtype, 1, &heads);
    for (size_t i = 0; i < 2; i++) {
        pe_plan_add(plan, i ? "sin" : "cos", dtype, 2, (uint64_t[]){relative.keys, dim});
        pe_plan_price(plan, 3);
    }
    pe_relative_add_distance(plan, &relative);
    plan->price += PE_WAVE_FREQUENCY_PRICE * (double)dim;
}

/* gamma^distance, a pe_bias_function whose source is a retnet. A power of gamma = 1 - 2^-k has
 * k·distance bits: where these are few it may be a rounding boundary. Elsewhere it is none, and
 * how far a power near 1 is from it decides what a product with it is rounded to. */
static void write_mask(const void *source, size_t head, uint64_t distance, void *dst)
{
    const retnet *state = source;
    pe_scaled power = pe_exp(dd_mul_double(state->decays[head], (double)distance));
    bool is_short = (FIRST_EXPONENT + head) * distance <= BOUNDARY_BITS;
    dd value = is_short ? dd_snap(power.value) : power.value;
    pe_round_scaled(state->mask.dtype, value, power.exponent, dst);
}

/* A pe_bias_intervals whose source is a retnet.
 *
 * The exponent x is within |x|·2^-52, so its power is within (3·|x| + 8)·2^-52 < 2^-40 of
 * itself. Below -700 both are 0 in every short dtype. */
static void find_intervals(const void *source, size_t head, uint64_t distance, size_t count,
                           double *ret_low, double *ret_high)
{
    const retnet *state = source;
    const double decay = state->decays[head].hi;
    double exponents[PE_BIAS_PART], powers[PE_BIAS_PART];
    for (size_t i = 0; i < count; i++) {
        double exponent = decay * (double)(distance + i);
        exponents[i] = exponent > -PE_CURVE_EXPONENT_MAX ? exponent : -PE_CURVE_EXPONENT_MAX;
    }
    pe_kernel_get()->curves->exponentials(exponents, count, powers);
    for (size_t i = 0; i < count; i++) {
        ret_low[i] = powers[i] * (1 - 0x1p-40);
        ret_high[i] = powers[i] * (1 + 0x1p-40);
    }
}

static bool prepare(void *context, pe_pace *pace)
{
    retnet *state = context;
    size_t pairs = state->cosines.count, heads = state->mask.toeplitz.heads;
    state->decays = pe_keep(pace, heads, sizeof *state->decays);
    for (size_t h = 0; state->decays && h < heads; h++)
        state->decays[h] = pe_log1p((dd){-ldexp(1, -FIRST_EXPONENT - (int)h), 0});
    state->cosines.frequencies =
        pe_wave_geometric(pace, pairs, state->base, 1, pairs > 1 ? pairs - 1 : 1);
    state->sines = state->cosines;
    state->sines.layout = PE_WAVE_SINES;
    return state->decays && state->cosines.frequencies &&
           pe_bias_init(&state->mask, write_mask, find_intervals, state, pace);
}

static void fill(const void *context, pe_window window, void *dst)
{
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
        pe_relative_fill_distance(&state->mask.toeplitz.relative, window, dst);
        return;
    }
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
            .keywords = "retention, decay, xPos, mask, causal",
            .formula = "mask[h, i, j] = gamma_h^(i - j), 0 for j > i; gamma_h = 1 - 2^(-5 - "
                       "h), h = 0 ... heads-1; cos[k, 2c] = cos[k, 2c+1] = cos(k * w_c), w_c = "
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
    PE_HOOKS(retnet),
    PE_APPLIES(PE_FACTOR("scores", "mask")),
    .errors = PE_ERRORS_OF_ANGLES,
};
