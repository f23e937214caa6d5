/* KERPLE: biases of the attention scores that fall with the logarithm or a power of the
 * distance, at a pace that is learned for each head. */
#include "kernels/kernel.h"
#include "numerics/dtype.h"
#include "numerics/elementary.h"
#include "relative/bias.h"
#include "trained/trained.h"

#include <math.h>

static const char *const KERNELS[] = {"log", "power", NULL};
enum kernel { LOG, POWER };

#define LEAST    0.01 /* of a and p, and the largest p of the power, as in the authors' code */
#define STEEPEST 2

static const pe_parameter PARAMETERS[] = {
    PE_RELATIVE_PARAMETERS,
    {PE_HEADS_PARAMETER, .required = true, .stored = "p", .stored_axis = 0,
     .help = "number of heads"},
    {.name = "kernel",
     .type = PE_CHOICE,
     .default_text = "log",
     .choices = KERNELS,
     .help = "log: -p*ln(1 + a*|i-j|); power: -a*|i-j|^p"},
    PE_MASK_PARAMETER,
    PE_TRAINED_PARAMETERS("p and a [heads, 1]"),
};

static const pe_tensor_help TENSORS[] = {
    PE_BIAS_TENSOR,
    {"p", "[heads]",
     "trained number p of each head: at least 0.01, and with kernel=power at most 2"},
    {"a", "[heads]", "trained number a of each head: at least 0.01"},
    PE_DISTANCE_TENSOR,
};
enum tensor { BIAS, P, A, DISTANCE };

#define PACE_PRICE 50
#define BIAS_PRICE 700 /* in double-double */
#define NEAR_PRICE 25  /* in double */

typedef struct kerple {
    pe_bias bias;
    pe_weights weights;
    enum kernel kernel;

    /* prepared */
    struct pace {
        double p, a;
    } * paces; /* of the heads */
} kerple;

static void read(const pe_values *values, void *ret_state, pe_plan *plan, pe_error *reterr)
{
    kerple *state = ret_state;
    uint64_t heads = (uint64_t)pe_get_integer(values, "heads");
    const uint64_t shape[2] = {heads, 1};
    state->weights = pe_weights_read(values);
    state->bias.causal = pe_get_choice(values, "mask") == PE_CAUSAL;
    state->bias.masked = -INFINITY;
    state->kernel = (enum kernel)pe_get_choice(values, "kernel");
    if (!pe_trained_check(&state->weights, "p", 2, shape, reterr) ||
        !pe_trained_check(&state->weights, "a", 2, shape, reterr))
        return;
    pe_relative relative = pe_relative_read(values, reterr);
    pe_dtype dtype = state->weights.dtype;
    pe_bias_add(plan, &relative, "bias", dtype, heads,
                pe_dtype_is_short(dtype) ? NEAR_PRICE : BIAS_PRICE, &state->bias);
    pe_plan_add(plan, "p", dtype, 1, &heads);
    pe_plan_add(plan, "a", dtype, 1, &heads);
    pe_relative_add_distance(plan, &relative);
    plan->price += (PACE_PRICE + BIAS_PRICE) * (double)heads;
}

/* Uniform on [-1, 1): the distribution's scale is the square root of 6/6. */
static const pe_distribution UNIFORM = {.initialiser = PE_XAVIER_UNIFORM, .fans = 6};

/* Read p or a of a head; or draw it from [0, end), as the authors' code does. */
static double read_number(const pe_trained *trained, size_t head, double end)
{
    double number;
    pe_trained_row(trained, head, 0, 1, &number);
    if (!trained->stored)
        number = (1 + number) * (end / 2);
    return fmax(number, LEAST);
}

/* Read or draw what the heads have. False: a problem was added, or the runner cancelled it. */
static bool read_paces(kerple *state, pe_pace *pace)
{
    const size_t heads = state->bias.toeplitz.heads;
    pe_trained p = pe_trained_find(&state->weights, "p", 1, &UNIFORM);
    pe_trained a = pe_trained_find(&state->weights, "a", 1, &UNIFORM);
    if (!pe_trained_check_largest(pace, &p, "p", heads) ||
        !pe_trained_check_largest(pace, &a, "a", heads))
        return false;
    for (size_t h = 0; h < heads; h++) {
        if (!pe_pace_may_continue(pace, PACE_PRICE))
            return false;
        struct pace numbers = {read_number(&p, h, 2), read_number(&a, h, 1)};
        if (state->kernel == POWER)
            numbers.p = fmin(numbers.p, STEEPEST);
        state->paces[h] = numbers;
    }
    return true;
}

static dd compute_bias(const kerple *state, size_t head, uint64_t distance)
{
    struct pace pace = state->paces[head];
    dd bias;
    if (distance == 0)
        return (dd){0, 0};
    if (state->kernel == LOG)
        bias = dd_mul_double(pe_log1p(dd_two_prod(pace.a, (double)distance)), pace.p);
    else /* the root of a square is exact, and so may be a rounding boundary */
        bias = dd_snap(
            dd_mul_double(pe_apply_exponent(pe_power((double)distance, pace.p)), pace.a));
    return dd_neg(bias);
}

/* A pe_bias_function whose source is a kerple. */
static void write_bias(const void *source, size_t head, uint64_t distance, void *dst)
{
    const kerple *state = source;
    pe_round_dd(state->bias.dtype, compute_bias(state, head, distance), dst);
}

/* A pe_bias_intervals whose source is a kerple.
 *
 * log: 1 + a·|i-j| is at least 1.01, and its two roundings add less than 2^-52 / ln 1.01 <
 * 2^-45.3 to the relative error of its logarithm. power: the exponent p·ln|i-j| is at most
 * 2·ln 2^32 < 45, and within 45·(2^-46 + 2^-53) < 2^-40.4. With what the kernel's functions and
 * the products add, both are within 2^-40 of themselves. */
static void find_intervals(const void *source, size_t head, uint64_t distance, size_t count,
                           double *ret_low, double *ret_high)
{
    const kerple *state = source;
    const struct pace pace = state->paces[head];
    const pe_curves *curves = pe_kernel_get()->curves;
    const bool is_log = state->kernel == LOG;
    double numbers[PE_BIAS_PART], logarithms[PE_BIAS_PART], powers[PE_BIAS_PART];
    for (size_t i = 0; i < count; i++) {
        double magnitude = (double)(distance + i);
        numbers[i] = is_log ? 1 + pace.a * magnitude : magnitude > 0 ? magnitude : 1;
    }
    curves->logarithms(numbers, count, logarithms);
    for (size_t i = 0; i < count; i++)
        logarithms[i] *= pace.p;
    if (!is_log)
        curves->exponentials(logarithms, count, powers);
    for (size_t i = 0; i < count; i++) {
        double bias = is_log ? -logarithms[i] : distance + i > 0 ? -pace.a * powers[i] : 0;
        ret_low[i] = bias * (1 + 0x1p-40);
        ret_high[i] = bias * (1 - 0x1p-40);
    }
}

/* Check that the biases at the largest distance fit the dtype: all others are smaller. */
static bool check_magnitude(const kerple *state, pe_pace *pace)
{
    const pe_toeplitz *toeplitz = &state->bias.toeplitz;
    uint64_t farthest = pe_relative_farthest(&toeplitz->relative, state->bias.causal);
    double magnitude = 0;
    for (size_t h = 0; h < toeplitz->heads; h++) {
        if (!pe_pace_may_continue(pace, BIAS_PRICE))
            return false;
        magnitude = fmax(magnitude, -compute_bias(state, h, farthest).hi);
        magnitude = fmax(magnitude, fmax(state->paces[h].p, state->paces[h].a));
    }
    pe_check_magnitude(state->weights.dtype, state->weights.set ? "set" : "length", magnitude,
                       pace->reterr);
    return pace->reterr->status == PE_OK;
}

static bool prepare(void *context, pe_pace *pace)
{
    kerple *state = context;
    state->paces = pe_keep(pace, state->bias.toeplitz.heads, sizeof *state->paces);
    return state->paces && read_paces(state, pace) && check_magnitude(state, pace) &&
           pe_bias_init(&state->bias, write_bias, find_intervals, state, pace);
}

static void fill(const void *context, pe_window window, void *dst)
{
    const kerple *state = context;
    unsigned char *at = dst;
    if (window.tensor == BIAS || window.tensor == DISTANCE)
        pe_relative_fill(state, window, dst);
    else
        for (uint64_t h = 0; h < window.rows; h++, at += pe_dtype_size(state->bias.dtype)) {
            const struct pace *pace = &state->paces[window.first + h];
            pe_round_row(state->bias.dtype, window.tensor == P ? &pace->p : &pace->a, 1, at);
        }
}

const pe_scheme pe_scheme_kerple = {
    .info =
        {
            .name = "kerple",
            .title = "KERPLE: kernelized relative biases",
            .summary = "A bias of the attention scores that falls with the logarithm or a "
                       "power of the distance. Without a set, its two numbers for each head "
                       "are random, drawn from seed.",
            .family = "relative",
            .keywords = "long context, extrapolation, logarithmic bias",
            .formula = "log: bias[h, i, j] = -p_h * ln(1 + a_h * |i - j|); power: bias[h, i, "
                       "j] = -a_h * |i - j|^p_h",
            .convention = "as in the authors' code: p and a below 0.01 count as 0.01, and p "
                          "above 2 as 2 with kernel=power; random p are uniform on [0, 2), "
                          "random a on [0, 1). Without a mask, both signs of a distance have "
                          "the same bias",
            .reference = "arXiv:2205.09921, section 4",
            .example = "length=4&heads=2",
            .revision = 1,
            PE_LIST(parameter, PARAMETERS),
            PE_LIST(tensor, TENSORS),
        },
    PE_HOOKS(kerple),
    PE_APPLIES(PE_BIAS("bias")),
};
