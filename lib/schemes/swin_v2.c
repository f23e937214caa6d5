/* Swin Transformer v2's continuous bias of attention in a window: a network of the offsets. */
#include "kernels/intervals.h"
#include "numerics/dtype.h"
#include "relative/bias.h"
#include "relative/grid_offsets.h"
#include "relative/relative.h"
#include "trained/bias_enclosure.h"

#include <string.h>

PE_HELD_SIZE(pe_bias_weight, 16);
PE_HELD_SIZE(pe_fixed, 40);

#define TRAINED_WINDOW                                                                         \
    .type = PE_INTEGER, .minimum = 2, .maximum = PE_WINDOW_MAX, .unit = "tokens"

static const pe_parameter PARAMETERS[] = {
    PE_WINDOW_PARAMETERS,
    {PE_HEADS_PARAMETER, .required = true, .stored = "w2", .stored_axis = 0,
     .help = "number of heads"},
    {.name = "hidden",
     .type = PE_INTEGER,
     .default_text = "512",
     .stored = "w2",
     .stored_axis = 1,
     .minimum = 1,
     .maximum = PE_BIAS_HIDDEN_MAX,
     .unit = "units",
     .help = "number of hidden units"},
    {.name = "pretrained_height",
     TRAINED_WINDOW,
     .help = "rows of the window that the network was trained with, which coordinates are "
             "divided by; by default height"},
    {.name = "pretrained_width",
     TRAINED_WINDOW,
     .help = "columns of that window; by default width"},
    PE_TRAINED_PARAMETERS("w1 [hidden, 2], b1 [hidden], w2 [heads, hidden], the layers of "
                          "cpb_mlp, with elements up to 16"),
};

static const pe_tensor_help TENSORS[] = {
    {"bias", "[heads, tokens, tokens]", "is added to the attention scores"},
    {"index", "[tokens, tokens]", "the row of coordinates, for query and key"},
    {"coordinates", "[(2*height-1) * (2*width-1), 2]",
     "what the network is given: the offsets of rows and columns, in logarithmic steps"},
};

/* ---- the window ---- */

typedef struct side {
    uint64_t tokens, trained;
} side;

#define COORDINATE_PRICE 60000

typedef struct swin_v2 {
    pe_weights weights;
    side axes[2];          /* height, width */
    uint64_t tokens, rows; /* rows: of the table, and of coordinates */
    size_t heads, hidden;

    /* prepared */
    pe_offsets bias, index;     /* planes: heads; one */
    unsigned char *coordinates; /* [rows, 2] */
} swin_v2;

static side read_side(const pe_values *values, const char *name, const char *trained)
{
    uint64_t tokens = (uint64_t)pe_get_integer(values, name);
    bool given = pe_is_present(values, trained);
    return (side){tokens, given ? (uint64_t)pe_get_integer(values, trained) : tokens};
}

static swin_v2 read_state(const pe_values *values)
{
    swin_v2 state = {
        .weights = pe_weights_read(values),
        .axes = {read_side(values, "height", "pretrained_height"),
                 read_side(values, "width", "pretrained_width")},
        .heads = (size_t)pe_get_integer(values, "heads"),
        .hidden = (size_t)pe_get_integer(values, "hidden"),
    };
    const uint64_t height = state.axes[0].tokens, width = state.axes[1].tokens;
    state.tokens = height * width;
    state.rows = (2 * height - 1) * (2 * width - 1);
    return state;
}

/* The price of an offset's biases. */
static double cell_price(const swin_v2 *state)
{
    return pe_dtype_is_short(state->weights.dtype)
               ? pe_bias_enclose_price(state->heads, state->hidden)
               : pe_bias_network_cell_price(state->heads, state->hidden);
}

static void read(const pe_values *values, void *ret_state, pe_plan *plan, pe_error *reterr)
{
    swin_v2 *state = ret_state;
    *state = read_state(values);
    const pe_weights *weights = &state->weights;
    const uint64_t heads = state->heads, hidden = state->hidden, rows = state->rows;
    const uint64_t tokens = state->tokens;
    if (!pe_trained_check(weights, "w2", 2, (const uint64_t[]){heads, hidden}, reterr) ||
        !pe_trained_check(weights, "w1", 2, (const uint64_t[]){hidden, 2}, reterr) ||
        !pe_trained_check(weights, "b1", 1, (const uint64_t[]){hidden}, reterr))
        return;
    for (size_t i = 0; i < 2; i++) /* a window of one has no coordinates to divide */
        if (state->axes[i].trained > 1)
            pe_plan_settle(plan, i == 0 ? "pretrained_height" : "pretrained_width",
                           (double)state->axes[i].trained);
    pe_plan_add(plan, "bias", weights->dtype, 3, (uint64_t[]){heads, tokens, tokens});
    pe_plan_rows(plan, 3);
    pe_plan_add(plan, "index", PE_I32, 2, (uint64_t[]){tokens, tokens});
    pe_plan_rows(plan, 2);
    pe_plan_add(plan, "coordinates", weights->dtype, 2, (uint64_t[]){rows, 2});
    plan->held = 2 * sizeof(double) * (rows * (heads + 2) + heads) +
                 (heads + 4) * hidden * (sizeof(pe_bias_weight) + sizeof(pe_fixed)) +
                 pe_bias_enclosure_bytes(heads, hidden);
    double sides = 2 * ((double)state->axes[0].tokens + (double)state->axes[1].tokens);
    plan->price = pe_bias_network_price(weights, heads, hidden) + COORDINATE_PRICE * sides +
                  (double)rows * cell_price(state) + pe_offsets_price(rows, heads + 1);
}

/* ---- preparation ---- */

/* sign(d) · log2(1 + 8|d|/(trained - 1)) / 3, the logarithm to the base 8. */
static pe_fixed compute_coordinate(const side *axis, int64_t offset)
{
    uint64_t size = (uint64_t)(offset < 0 ? -offset : offset), unit = axis->trained - 1;
    if (size == 0)
        return (pe_fixed){0};
    pe_fixed log2 =
        pe_fixed_sub(pe_fixed_log2((double)(unit + 8 * size)), pe_fixed_log2((double)unit));
    pe_fixed third = pe_fixed_div(log2, (pe_fixed){.whole = 3});
    return offset < 0 ? pe_fixed_sub((pe_fixed){0}, third) : third;
}

static void write_rounded(pe_dtype dtype, pe_fixed number, void *dst)
{
    if (dtype == PE_DD) {
        bool negative = number.whole < 0;
        dd size = pe_fixed_to_dd(negative ? pe_fixed_sub((pe_fixed){0}, number) : number);
        pe_round_dd(dtype, negative ? dd_neg(size) : size, dst);
        return;
    }
    double rounded = dtype == PE_F64 ? pe_fixed_nearest(number) : pe_fixed_to_odd(number);
    pe_round_row(dtype, &rounded, 1, dst);
}

/* The coordinates of all offsets along an axis. NULL if memory ran out or the runner cancelled
 * it. */
static pe_fixed *make_coordinates(const side *axis, pe_pace *pace)
{
    int64_t most = (int64_t)axis->tokens - 1;
    pe_fixed *coordinates = pe_keep(pace, (size_t)(2 * most + 1), sizeof *coordinates);
    for (int64_t i = 0; coordinates && i <= 2 * most; i++) {
        if (!pe_pace_may_continue(pace, COORDINATE_PRICE))
            return NULL;
        coordinates[i] = compute_coordinate(axis, i - most);
    }
    return coordinates;
}

/* What the table of biases is made of. */
typedef struct maker {
    pe_bias_network network;
    pe_bias_enclosure enclosure; /* of short dtypes */
    bool is_short;
    pe_fixed *y, *x;      /* coordinates */
    pe_fixed *biases;     /* of one offset: [heads] */
    double *low, *high;   /* the same, around them */
    unsigned char *table; /* [rows, heads] */
} maker;

/* An offset whose biases are computed. */
typedef struct cell {
    const maker *work;
    const pe_fixed *at; /* its coordinates */
    pe_dtype dtype;
    size_t first;   /* head of the entries that are rounded */
    bool *is_exact; /* whether work->biases has those of this offset */
} cell;

static bool compute_exactly(const cell *own)
{
    if (!*own->is_exact)
        *own->is_exact =
            pe_bias_network_compute(&own->work->network, own->at, own->work->biases);
    return *own->is_exact;
}

/* A pe_settle for the biases of a cell, none of which is below the least one. */
static void settle(const void *context, size_t head, void *dst)
{
    const cell *own = context;
    if (compute_exactly(own))
        write_rounded(own->dtype, own->work->biases[own->first + head], dst);
}

/* Write the biases of all heads. False: one is below the least one. */
static bool write_cell(cell own, size_t heads, unsigned char *dst)
{
    const maker *work = own.work;
    const size_t size = pe_dtype_size(own.dtype);
    const double at[2] = {pe_fixed_nearest(own.at[0]), pe_fixed_nearest(own.at[1])};
    bool enclosed =
        work->is_short && pe_bias_enclose(&work->enclosure, at, work->low, work->high);
    if (!enclosed && !compute_exactly(&own))
        return false;
    for (size_t part; own.first < heads; own.first += part, dst += part * size) {
        part = heads - own.first < PE_LINE_MAX ? heads - own.first : PE_LINE_MAX;
        if (enclosed)
            pe_round_intervals(own.dtype, work->low + own.first, work->high + own.first, part,
                               settle, &own, dst);
        for (size_t h = 0; !enclosed && h < part; h++)
            settle(&own, h, dst + h * size);
    }
    return true;
}

/* Compute the biases of all offsets, and write their coordinates. False: the runner cancelled
 * it, or a problem was added. */
static bool write_table(swin_v2 *state, maker *work, pe_pace *pace)
{
    const pe_dtype dtype = state->weights.dtype;
    size_t size = pe_dtype_size(dtype), heads = state->heads;
    size_t columns = 2 * state->bias.width - 1;
    double price = cell_price(state);
    for (size_t row = 0; row < state->rows; row++) {
        const pe_fixed at[2] = {work->y[row / columns], work->x[row % columns]};
        bool is_exact = false;
        if (!pe_pace_may_continue(pace, price))
            return false;
        if (!write_cell((cell){work, at, dtype, 0, &is_exact}, heads,
                        work->table + row * heads * size)) {
            pe_error_add(pace->reterr, PE_OUT_OF_RANGE, "set", state->weights.set_name,
                         "the name of a set whose network gives at least %d before the sigmoid",
                         PE_BIAS_OUTPUT_MIN);
            return false;
        }
        for (size_t i = 0; i < 2; i++)
            write_rounded(dtype, at[i], state->coordinates + (2 * row + i) * size);
    }
    return true;
}

static bool make_bias(swin_v2 *state, pe_pace *pace)
{
    maker work = {.is_short = pe_dtype_is_short(state->weights.dtype)};
    size_t heads = state->heads, rows = state->rows, size = state->bias.element_size;
    if (!pe_bias_network_init(&work.network, &state->weights, heads, state->hidden, pace))
        return false;
    work.y = make_coordinates(&state->axes[0], pace);
    work.x = work.y ? make_coordinates(&state->axes[1], pace) : NULL;
    work.biases = pe_keep(pace, heads, sizeof *work.biases);
    work.low = pe_keep(pace, heads, sizeof *work.low);
    work.high = pe_keep(pace, heads, sizeof *work.high);
    work.table = pe_keep(pace, rows * heads, size);
    state->coordinates = pe_keep(pace, rows * 2, size);
    return work.x && work.biases && work.low && work.high && work.table && state->coordinates &&
           (!work.is_short || pe_bias_enclosure_init(&work.enclosure, &work.network, pace)) &&
           write_table(state, &work, pace) &&
           pe_offsets_take(&state->bias, work.table, heads, pace);
}

static bool prepare(void *context, pe_pace *pace)
{
    swin_v2 *state = context;
    state->index = (pe_offsets){.element_size = sizeof(int32_t),
                                .height = (size_t)state->axes[0].tokens,
                                .width = (size_t)state->axes[1].tokens};
    state->bias = state->index;
    state->bias.element_size = pe_dtype_size(state->weights.dtype);
    return make_bias(state, pace) && pe_offsets_take_numbers(&state->index, pace);
}

static void fill(const void *context, pe_window window, void *dst)
{
    const swin_v2 *state = context;
    if (window.tensor == 2) {
        size_t row_bytes = 2 * state->bias.element_size;
        memcpy(dst, state->coordinates + window.first * row_bytes, window.rows * row_bytes);
        return;
    }
    pe_offsets_fill(window.tensor == 0 ? &state->bias : &state->index, state->tokens, 0, window,
                    dst);
}

const pe_scheme pe_scheme_swin_v2 = {
    .info =
        {
            .name = "swin_v2",
            .title = "Swin Transformer v2 attention bias",
            .summary = "A bias of the attention scores that a small network computes for "
                       "each head from the logarithmic offset of two tokens in a window, "
                       "whatever the size of the window. Without a set, the network is "
                       "random, drawn from seed.",
            .family = "relative",
            .keywords = "log-spaced, continuous position bias, cpb_mlp, window attention, "
                        "picture, image, grid",
            .formula = "bias[h, i, j] = 16 * sigmoid(w2[h] . relu(w1 . c + b1)), c = "
                       "coordinates[index[i, j]]; index as of swin; c = sign(d) * log2(1 + 8 * "
                       "|d| / (pretrained - 1)) / 3 for an offset d of rows or columns, query "
                       "minus key",
            .convention = "relative_coords_table and cpb_mlp of the authors' code, query minus "
                          "key; heads first",
            .reference = "arXiv:2111.09883, equations 3 and 4",
            .example = "height=1&width=2&heads=2&hidden=8",
            .revision = 1,
            PE_LIST(parameter, PARAMETERS),
            PE_LIST(tensor, TENSORS),
        },
    PE_HOOKS(swin_v2),
    PE_APPLIES(PE_BIAS("bias")),
    .errors = PE_ERRORS_OF_SUMS,
};
