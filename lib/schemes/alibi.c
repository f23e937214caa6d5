/* ALiBi: a bias of the attention scores that falls linearly with the distance, with a slope for
 * each head. */
#include "kernels/kernel.h"
#include "numerics/dtype.h"
#include "numerics/fixed.h"
#include "numerics/limbs.h"
#include "relative/bias.h"

#include <math.h>

static const char *const MASKS[] = {"symmetric", "causal", "key_only", "from_last_key", NULL};
enum mask { SYMMETRIC, CAUSAL, KEY_ONLY, FROM_LAST_KEY };

static const char *const SLOPE_DTYPES[] = {"f32", "f16", "bf16", NULL};
static const pe_dtype SLOPE_DTYPE_VALUES[] = {PE_F32, PE_F16, PE_BF16};

static const char *const RULES[] = {"official", "geometric", NULL};
enum rule { OFFICIAL, GEOMETRIC };

static const pe_parameter PARAMETERS[] = {
    PE_RELATIVE_PARAMETERS,
    {PE_HEADS_PARAMETER, .required = true, .help = "number of heads"},
    {.name = "heads_total",
     .type = PE_INTEGER,
     .default_of = "heads",
     .minimum = 1,
     .maximum = 65536,
     .unit = "heads",
     .help = "number of heads H of the model, where these are those of one tensor-parallel "
             "rank"},
    {.name = "first_head",
     .type = PE_INTEGER,
     .default_text = "0",
     .minimum = 0,
     .maximum = 65535,
     .help = "which of them is the first one here, from 0 on"},
    {.name = "alibi_bias_max",
     .type = PE_REAL,
     .default_text = "8",
     .minimum = 0.001,
     .maximum = 100,
     .help = "the slope of the last head is 2^-alibi_bias_max"},
    {.name = "mask",
     .type = PE_CHOICE,
     .default_text = "symmetric",
     .choices = MASKS,
     .help = "symmetric: -m*|i-j|; causal: -m*(i-j), and -inf for keys after the query; "
             "key_only: m*j, which differs from causal by a constant in each row; "
             "from_last_key: m*(j-(length-1))"},
    {.name = "non_power_of_two",
     .type = PE_CHOICE,
     .default_text = "official",
     .choices = RULES,
     .help =
         "slopes where the number of heads H is not a power of two; official: the slopes of "
         "the largest power of two P below H, then the 1st, 3rd, 5th ... slope of 2P heads; "
         "geometric: 2^(-alibi_bias_max*h/H) for any H"},
    {.name = "slope_dtype",
     .type = PE_CHOICE,
     .choices = SLOPE_DTYPES,
     .help =
         "slopes are rounded to this before they are used; by default they are not rounded"},
    {.name = "head_dim",
     .type = PE_INTEGER,
     .minimum = 1,
     .maximum = PE_DIM_MAX,
     .unit = "columns",
     .help = "biases are divided by its square root, for models that divide them together with "
             "the scores; by default they are not"},
};

static const pe_preset PRESETS[] = {
    {"bloom", "BLOOM", {"mask", "key_only", NULL}},
    {"falcon",
     "Falcon RW: slopes in bf16, and biases that are divided with the scores",
     {"mask", "key_only", "slope_dtype", "bf16", "head_dim", "64", NULL}},
    {"mpt",
     "MPT: one row, whose last key has no bias",
     {"mask", "from_last_key", "query_length", "1", NULL}},
};

static const pe_tensor_help TENSORS[] = {
    PE_BIAS_TENSOR,
    {"slopes", "[heads]", "slope m of each head, as slope_dtype rounds it"},
    PE_DISTANCE_TENSOR,
};
enum tensor { BIAS, SLOPES, DISTANCE };

/* The exponent of the slope of head h = 1 … heads: the slope is 2^-(max·h/heads). */
static pe_fixed find_exponent(double max, size_t h, size_t heads)
{
    return pe_fixed_div(pe_fixed_mul_integer(pe_fixed_from_double(max), (int64_t)h),
                        (pe_fixed){.whole = (int64_t)heads});
}

/* 2^-exponent */
static pe_wide compute_power(pe_fixed exponent)
{
    return pe_wide_power_of_log2((uint64_t)exponent.whole, exponent.part, 1, 1);
}

/* The largest power of two that is at most `heads`. */
static size_t round_to_power(size_t heads)
{
    size_t power = 1;
    while (2 * power <= heads)
        power *= 2;
    return power;
}

#define SLOPE_PRICE 600
#define BIAS_PRICE  12

typedef struct alibi {
    pe_toeplitz bias;
    enum mask mask;
    pe_dtype dtype;
    double bias_max;
    bool geometric, rounded, divided;
    pe_dtype slope_dtype; /* if rounded */
    dd divisor;           /* the square root of head_dim, else 1 */
    size_t total, first;  /* heads of which slopes are computed; the first of these here */

    /* prepared */
    dd *slopes;
} alibi;

/* Whether biases depend on the key instead of the distance. */
static bool is_by_key(enum mask mask)
{
    return mask == KEY_ONLY || mask == FROM_LAST_KEY;
}

/* A slope as slope_dtype rounds it. */
static dd round_slope(const alibi *state, dd slope)
{
    unsigned char element[sizeof(double)];
    if (!state->rounded)
        return slope;
    pe_round_dd(state->slope_dtype, slope, element);
    return (dd){pe_element_value(state->slope_dtype, element), 0};
}

/* The largest magnitude of any finite value. */
static double magnitude(const alibi *state, const pe_relative *relative)
{
    size_t heads = state->total, power = round_to_power(heads);
    size_t steps = state->geometric || power == heads
                       ? heads
                       : 2 * power; /* head h = 1 of 2 * power has the largest slope */
    double before = -(double)pe_relative_first(relative);
    double after = (double)relative->keys - 1 - (double)relative->offset;
    if (is_by_key(state->mask))
        before = after = (double)relative->keys - 1;
    else if (state->mask == CAUSAL)
        after = 0;
    pe_wide largest = compute_power(find_exponent(state->bias_max, 1, steps));
    double slope = round_slope(state, pe_fixed_to_dd((pe_fixed){0, largest})).hi;
    return slope * fmax(0, fmax(before, after)) / state->divisor.hi;
}

static alibi read_state(const pe_values *values)
{
    alibi state = {
        .mask = (enum mask)pe_get_choice(values, "mask"),
        .dtype = pe_requested_dtype(values),
        .bias_max = pe_get_real(values, "alibi_bias_max"),
        .geometric = pe_get_choice(values, "non_power_of_two") == GEOMETRIC,
        .rounded = pe_is_present(values, "slope_dtype"),
        .divided = pe_is_present(values, "head_dim"),
        .divisor = {1, 0},
        .total = (size_t)pe_get_integer(values, "heads_total"),
        .first = (size_t)pe_get_integer(values, "first_head"),
    };
    if (state.rounded)
        state.slope_dtype = SLOPE_DTYPE_VALUES[pe_get_choice(values, "slope_dtype")];
    if (state.divided)
        state.divisor = dd_sqrt((dd){pe_get_real(values, "head_dim"), 0});
    return state;
}

static void read(const pe_values *values, void *ret_state, pe_plan *plan, pe_error *reterr)
{
    pe_relative relative = pe_relative_read(values, reterr);
    uint64_t heads = (uint64_t)pe_get_integer(values, "heads");
    alibi *state = ret_state;
    *state = read_state(values);
    if (relative.compact && is_by_key(state->mask))
        pe_refuse_value(values, "form", reterr,
                        "expanded with mask=%s, whose bias depends on the key instead of the "
                        "distance",
                        MASKS[state->mask]);
    if (state->first + heads > state->total)
        pe_refuse_value(values, state->first > 0 ? "first_head" : "heads_total", reterr,
                        "such that first_head + heads is at most heads_total, %zu",
                        state->total);
    pe_check_magnitude(state->dtype, "length", magnitude(state, &relative), reterr);
    state->bias = pe_relative_add(plan, &relative, "bias", state->dtype, heads, 0, BIAS_PRICE);
    state->bias.relative.by_key = is_by_key(state->mask);
    pe_plan_add(plan, "slopes", state->dtype, 1, &heads);
    pe_plan_price(plan, 30);
    pe_relative_add_distance(plan, &relative);
    plan->price += SLOPE_PRICE * (double)state->total;
}

/* Every so many slopes one is computed by itself. */
#define SERIES 16

/* Compute the slopes of heads 1, 1 + step … of `heads` heads. They are a geometric
 * series: a slope is the one before it times their ratio, whose error of about 2^-245 hardly
 * grows. Powers of two are exact. False: the runner cancelled it. */
static bool make_series(double max, size_t step, size_t heads, size_t count, dd *ret_slopes,
                        pe_pace *pace)
{
    pe_wide ratio = compute_power(find_exponent(max, step, heads)), power = ratio;
    for (size_t i = 0; i < count; i++) {
        if (!pe_pace_may_continue(pace, SLOPE_PRICE))
            return false;
        pe_fixed exponent = find_exponent(max, 1 + i * step, heads);
        if (i % SERIES == 0 || pe_limbs_are_zero(exponent.part.limb, 4))
            power = compute_power(exponent);
        else
            power = pe_wide_mul(power, ratio);
        ret_slopes[i] = pe_fixed_to_dd((pe_fixed){0, power});
    }
    return true;
}

/* Compute the slopes of all heads. False: the runner cancelled it. */
static bool make_slopes(alibi *state, pe_pace *pace)
{
    double max = state->bias_max;
    size_t heads = state->total, power = round_to_power(heads);
    bool done;
    if (state->geometric)
        done = make_series(max, 1, heads, heads, state->slopes, pace);
    else
        done = make_series(max, 1, power, power, state->slopes, pace) &&
               make_series(max, 2, 2 * power, heads - power, state->slopes + power, pace);
    for (size_t h = 0; done && h < heads; h++)
        state->slopes[h] = round_slope(state, state->slopes[h]);
    return done;
}

#define PART 64 /* numbers rounded at a time */

/* What the slope is multiplied by: minus the magnitude of a distance; or a key, perhaps counted
 * from the last one. */
static double find_factor(const alibi *state, int64_t distance)
{
    if (state->mask == FROM_LAST_KEY)
        return (double)(distance - (int64_t)state->bias.relative.keys + 1);
    return state->mask == KEY_ONLY ? (double)distance : -fabs((double)distance);
}

/* Multiply a slope by a number, and divide it where that is asked for. A quotient may be a
 * number of few bits, and so a rounding boundary. */
static dd compute_product(const alibi *state, dd slope, double factor)
{
    dd product = dd_mul_double(slope, factor);
    return state->divided ? dd_snap(dd_quotient(product, state->divisor)) : product;
}

/* The same for many numbers, as doubles that round to the dtype as the products do. */
static void multiply(const alibi *state, dd slope, const double *factors, size_t count,
                     double *ret_products)
{
    pe_dtype dtype = state->dtype;
    if (!state->divided) {
        pe_kernel_get()->scale(slope, factors, count, dtype == PE_F64, ret_products);
        return;
    }
    for (size_t i = 0; i < count; i++)
        ret_products[i] = pe_narrow_to_double(dtype, compute_product(state, slope, factors[i]));
}

/* Write products of a head's slope, for up to PART distances or keys. */
static void write_part(const alibi *state, dd slope, int64_t first, size_t count,
                       unsigned char *dst)
{
    double factors[PART], products[PART];
    pe_dtype dtype = state->dtype;
    for (size_t i = 0; i < count; i++)
        factors[i] = find_factor(state, first + (int64_t)i);
    for (size_t i = 0; dtype == PE_DD && i < count; i++)
        pe_round_dd(PE_DD, compute_product(state, slope, factors[i]), dst + i * sizeof(dd));
    if (dtype == PE_DD)
        return;
    multiply(state, slope, factors, count, products);
    pe_round_row(dtype, products, count, dst);
}

/* Write the bias of one head at consecutive distances, or at consecutive keys. */
static void write_bias(const void *context, size_t head, int64_t first, uint64_t count,
                       void *dst)
{
    const alibi *state = context;
    unsigned char *to = dst;
    uint64_t seen = state->mask == CAUSAL ? pe_count_distances(first, count, 1) : count;
    for (uint64_t done = 0, part; done < seen; done += part) {
        part = seen - done < PART ? seen - done : PART;
        write_part(state, state->slopes[state->first + head], first + (int64_t)done,
                   (size_t)part, to);
        to += part * pe_dtype_size(state->dtype);
    }
    pe_masked_write(state->dtype, -INFINITY, count - seen, to);
}

static bool prepare(void *context, pe_pace *pace)
{
    alibi *state = context;
    state->slopes = pe_keep(pace, state->total, sizeof *state->slopes);
    return state->slopes && make_slopes(state, pace) &&
           pe_toeplitz_init(&state->bias, write_bias, state, pace);
}

static void fill(const void *context, pe_window window, void *dst)
{
    const alibi *state = context;
    pe_dtype dtype = state->dtype;
    unsigned char *at = dst;
    if (window.tensor == BIAS || window.tensor == DISTANCE)
        pe_relative_fill(state, window, dst);
    else
        for (uint64_t h = 0; h < window.rows; h++, at += pe_dtype_size(dtype))
            pe_round_dd(dtype, state->slopes[state->first + window.first + h], at);
}

const pe_scheme pe_scheme_alibi = {
    .info =
        {
            .name = "alibi",
            .title = "ALiBi: attention with linear biases",
            .summary = "A bias of the attention scores that falls linearly with the distance, "
                       "with a slope for each head.",
            .family = "relative",
            .keywords = "linear bias, slopes, long context, extrapolation, BLOOM, MPT, "
                        "Baichuan, mask, causal",
            .formula = "bias[h, i, j] = -m_h * |i - j|, m_h = 2^(-alibi_bias_max * (h + 1) / "
                       "H), h = first_head ... first_head + heads-1, H = heads_total",
            .convention = "slopes as in the authors' code, heads first; distance is key minus "
                          "query; without a mask, both signs of a distance have the same bias",
            .reference = "arXiv:2108.12409, section 3",
            .example = "length=4&heads=8",
            .revision = 1,
            PE_LIST(parameter, PARAMETERS),
            PE_LIST(preset, PRESETS),
            PE_LIST(tensor, TENSORS),
        },
    PE_HOOKS(alibi),
    PE_APPLIES(PE_BIAS("bias")),
};
