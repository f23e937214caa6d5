/* FIRE: biases of the attention scores by a small network, whose input is the logarithm of the
 * distance over that of the query's position. */
#include "kernels/intervals.h"
#include "numerics/dtype.h"
#include "numerics/elementary.h"
#include "relative/bias.h"
#include "trained/pieces.h"

#include <math.h>

static const pe_parameter PARAMETERS[] = {
    PE_RELATIVE_PARAMETERS,
    {PE_HEADS_PARAMETER, .required = true, .stored = "w2", .stored_axis = 0,
     .help = "number of heads"},
    {.name = "hidden",
     .type = PE_INTEGER,
     .default_text = "32",
     .stored = "w1",
     .stored_axis = 0,
     .minimum = 1,
     .maximum = 4096,
     .unit = "units",
     .help = "number of hidden units of the network"},
    {.name = "c",
     .type = PE_REAL,
     .default_text = "0.1",
     .minimum = 1e-9,
     .maximum = 1e9,
     .help = "factor of distances in the logarithm; of a trained model its magnitude"},
    {.name = "threshold",
     .type = PE_REAL,
     .default_text = "512",
     .minimum = 0.001,
     .maximum = PE_RELATIVE_MAX,
     .unit = "positions",
     .help = "L: queries before this position are treated as if they were there; of a trained "
             "model init_L * L_multiplier"},
    {.name = "epsilon",
     .type = PE_REAL,
     .default_text = "1e-06",
     .minimum = 0,
     .maximum = 1,
     .help = "is added to the denominator; the paper has none"},
    PE_MASK_PARAMETER,
    PE_TRAINED_PARAMETERS("w1 [hidden, 1], b1 [hidden], w2 [heads, hidden] and b2 [heads]"),
};

static const pe_tensor_help TENSORS[] = {
    PE_BIAS_TENSOR,
    PE_DISTANCE_TENSOR,
};
enum tensor { BIAS, DISTANCE };

#define LOG_PRICE   400
#define PRICE       350 /* of a bias, once its logarithm is known */
#define SHORT_PRICE 15  /* the same by intervals */

typedef struct fire {
    pe_relative relative;
    pe_weights weights;
    size_t heads, hidden;
    double c, threshold, epsilon;
    bool causal;
    uint64_t kept; /* distances whose logarithms are kept; 0: there are too many */

    /* prepared */
    pe_pieces pieces;
    dd *logarithms; /* ln(c·distance + 1); NULL if there are too many */
} fire;

static bool check_weights(const fire *state, pe_error *reterr)
{
    const uint64_t heads = state->heads, hidden = state->hidden;
    const uint64_t w1[2] = {hidden, 1}, w2[2] = {heads, hidden};
    return pe_trained_check(&state->weights, "w1", 2, w1, reterr) &&
           pe_trained_check(&state->weights, "b1", 1, &hidden, reterr) &&
           pe_trained_check(&state->weights, "w2", 2, w2, reterr) &&
           pe_trained_check(&state->weights, "b2", 1, &heads, reterr);
}

static void read(const pe_values *values, void *ret_state, pe_plan *plan, pe_error *reterr)
{
    fire *state = ret_state;
    *state = (fire){.weights = pe_weights_read(values),
                    .heads = (size_t)pe_get_integer(values, "heads"),
                    .hidden = (size_t)pe_get_integer(values, "hidden"),
                    .c = pe_get_real(values, "c"),
                    .threshold = pe_get_real(values, "threshold"),
                    .epsilon = pe_get_real(values, "epsilon"),
                    .causal = pe_get_choice(values, "mask") == PE_CAUSAL};
    if (!check_weights(state, reterr))
        return;
    pe_relative relative = state->relative = pe_relative_read(values, reterr);
    double last = (double)relative.offset + (double)relative.queries - 1;
    if (relative.compact && last > state->threshold)
        pe_refuse_value(
            values, "form", reterr,
            "expanded where a query is beyond threshold, since its biases depend on "
            "its position, too");
    state->kept = pe_bias_kept(&relative, state->causal);
    const bool quick = state->kept && pe_dtype_is_short(state->weights.dtype);
    pe_relative_add(plan, &relative, "bias", state->weights.dtype, state->heads, 0, PRICE);
    pe_plan_price(plan, quick ? SHORT_PRICE : PRICE + (state->kept ? 0 : LOG_PRICE));
    pe_relative_add_distance(plan, &relative);
    plan->held = pe_pieces_bytes(state->hidden, state->heads);
    plan->state += sizeof(dd) * state->kept;
    plan->price = (double)state->kept * LOG_PRICE +
                  pe_pieces_price(&state->weights, state->hidden, state->heads);
}

static dd logarithm(const fire *state, double distance)
{
    return pe_log1p(dd_two_prod(state->c, distance));
}

/* The input of the network at a distance is the logarithm of the distance over this. */
static dd denominator(const fire *state, int64_t query)
{
    double position = fmax((double)query, state->threshold);
    return dd_add(logarithm(state, position), (dd){state->epsilon, 0});
}

/* Compute the logarithms that are kept. False if memory ran out or the runner cancelled it. */
static bool keep_logarithms(fire *state, pe_pace *pace)
{
    if (state->kept == 0)
        return true;
    state->logarithms = pe_keep(pace, state->kept, sizeof *state->logarithms);
    for (uint64_t distance = 0; state->logarithms && distance < state->kept; distance++) {
        if (!pe_pace_may_continue(pace, LOG_PRICE))
            return false;
        state->logarithms[distance] = logarithm(state, (double)distance);
    }
    return state->logarithms != NULL;
}

/* Check that the dtype holds whatever the network returns for inputs up to the largest one,
 * which no distance over no query's position exceeds. */
static bool check_magnitude(const fire *state, pe_pace *pace)
{
    uint64_t farthest = pe_relative_farthest(&state->relative, state->causal);
    dd most = dd_quotient(logarithm(state, (double)farthest),
                          denominator(state, state->relative.offset));
    pe_check_magnitude(state->weights.dtype, state->weights.set ? "set" : "seed",
                       pe_pieces_magnitude(&state->pieces, most), pace->reterr);
    return pace->reterr->status == PE_OK;
}

static bool prepare(void *context, pe_pace *pace)
{
    fire *state = context;
    return pe_pieces_init(&state->pieces, &state->weights, state->hidden, state->heads, pace) &&
           check_magnitude(state, pace) && keep_logarithms(state, pace);
}

/* Consecutive distances of a head and a query. */
typedef struct run {
    const fire *state;
    size_t head;
    dd below; /* the query's denominator */
    int64_t first;
} run;

static uint64_t find_magnitude(const run *own, size_t i)
{
    int64_t distance = own->first + (int64_t)i;
    return (uint64_t)(distance < 0 ? -distance : distance);
}

/* A pe_settle for the biases of a run. */
static void settle(const void *context, size_t i, void *dst)
{
    const run *own = context;
    const fire *state = own->state;
    uint64_t far = find_magnitude(own, i);
    dd above = state->logarithms ? state->logarithms[far] : logarithm(state, (double)far);
    dd u = dd_quotient(above, own->below);
    pe_round_dd(state->weights.dtype,
                pe_line_value(pe_pieces_find(&state->pieces, u)[own->head], u), dst);
}

/* Write `count` <= PE_LINE_MAX biases of a run by intervals. The input is the product of two
 * doubles, each within 2^-53, and the inverse is rounded. */
static void write_part(run own, size_t count, unsigned char *dst)
{
    const fire *state = own.state;
    const pe_dtype dtype = state->weights.dtype;
    const double inverse = 1 / own.below.hi;
    double inputs[PE_LINE_MAX], biases[PE_LINE_MAX], error;
    size_t piece = 0;
    for (size_t i = 0; i < count; i++)
        inputs[i] = state->logarithms[find_magnitude(&own, i)].hi * inverse;
    for (size_t done = 0, part; done < count; done += part) {
        part = pe_pieces_follow(&state->pieces, own.head, inputs + done, count - done, &piece,
                                biases, &error);
        pe_round_about(dtype, biases, error, part, settle, &own, dst);
        own.first += (int64_t)part;
        dst += part * pe_dtype_size(dtype);
    }
}

/* Write the biases of a run, and what is masked after them. */
static void write_run(run own, uint64_t count, unsigned char *dst)
{
    const fire *state = own.state;
    const pe_dtype dtype = state->weights.dtype;
    const size_t size = pe_dtype_size(dtype);
    const size_t most = state->logarithms && pe_dtype_is_short(dtype) ? PE_LINE_MAX : 1;
    uint64_t seen = state->causal ? pe_count_distances(own.first, count, 1) : count;
    pe_masked_write(dtype, -INFINITY, count - seen, dst + seen * size);
    for (size_t part; seen > 0; seen -= part, own.first += (int64_t)part, dst += part * size) {
        part = seen < most ? (size_t)seen : most;
        if (most > 1)
            write_part(own, part, dst);
        else
            settle(&own, 0, dst);
    }
}

static void fill(const void *context, pe_window window, void *dst)
{
    const fire *state = context;
    const pe_relative *relative = &state->relative;
    if (window.tensor != BIAS) {
        pe_relative_fill_distance(relative, window, dst);
        return;
    }
    /* a line is a query, or in the compact form all distances, as of the last query */
    uint64_t columns = relative->compact ? pe_relative_distances(relative) : relative->keys;
    uint64_t lines = relative->compact ? 1 : relative->queries;
    unsigned char *at = dst;
    for (uint64_t row = window.first, end = row + window.rows, count; row < end; row += count) {
        uint64_t line = row / columns, column = row % columns;
        int64_t query = relative->compact ? relative->offset + (int64_t)relative->queries - 1
                                          : relative->offset + (int64_t)(line % lines);
        count = columns - column < end - row ? columns - column : end - row;
        write_run((run){state, (size_t)(line / lines), denominator(state, query),
                        (int64_t)column - query},
                  count, at);
        at += count * pe_dtype_size(state->weights.dtype);
    }
}

const pe_scheme pe_scheme_fire = {
    .info =
        {
            .name = "fire",
            .title = "FIRE: functional interpolation of relative positions",
            .summary = "A bias of the attention scores that a small network computes from "
                       "the distance, relative to the query's position. Without a set, its "
                       "weights are random, drawn from seed.",
            .family = "relative",
            .keywords = "long context, extrapolation, learned bias",
            .formula = "bias[h, i, j] = sum of w2[h, k] * max(0, w1[k] * u + b1[k]) + b2[h] "
                       "over k, u = ln(c * |i - j| + 1) / (ln(c * max(i, L) + 1) + epsilon)",
            .convention =
                "as in the authors' program: the magnitude of the distance, and an "
                "epsilon that the paper's equation lacks; random weights as "
                "torch.nn.Linear draws them, uniform within 1/sqrt(inputs). Without a "
                "mask, both signs of a distance have the same bias",
            .reference = "arXiv:2310.04418, equation 8 and appendix D",
            .example = "length=4&heads=2",
            .revision = 1,
            PE_LIST(parameter, PARAMETERS),
            PE_LIST(tensor, TENSORS),
        },
    PE_HOOKS(fire),
    PE_APPLIES(PE_BIAS("bias")),
    .errors = PE_ERRORS_OF_SUMS,
};
