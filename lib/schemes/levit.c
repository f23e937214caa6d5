/* LeViT's attention bias: a learned number for each head and each pair of absolute offsets. */
#include "relative/grid_offsets.h"
#include "relative/relative.h"
#include "trained/bias_table.h"

#include <math.h>

#define TOKENS_MAX 1073741824

static const pe_parameter PARAMETERS[] = {
    {.name = "height",
     .type = PE_INTEGER,
     .minimum = 1,
     .maximum = TOKENS_MAX,
     .unit = "rows",
     .help = "number of rows of a grid of tokens; without it, the tokens are a line of length"},
    {.name = "width",
     .type = PE_INTEGER,
     .minimum = 1,
     .maximum = TOKENS_MAX,
     .unit = "columns",
     .help = "number of columns of the grid, unless the tokens are a line"},
    {PE_LENGTH_PARAMETER, .default_of = "height", .default_times = "width",
     .help = "number of keys; height and width may be given instead"},
    PE_QUERY_PARAMETERS,
    PE_FORM_PARAMETER,
    {PE_HEADS_PARAMETER, .required = true, .stored = "table", .stored_axis = 1,
     .help = "number of heads"},
    {.name = "dim_head",
     .type = PE_REAL,
     .minimum = 1e-6,
     .maximum = 1e12,
     .unit = "columns",
     .help = "divides the bias by dim_head^-0.5, for scores that are scaled afterwards; by "
             "default it is not divided"},
    PE_TRAINED_PARAMETERS("table [tokens, heads]"),
};

static const pe_tensor_help TENSORS[] = {
    PE_BIAS_TENSOR,
    {"index", "[queries, keys] or [queries+keys-1]",
     "|row difference| * width + |column difference|, the row of the table"},
    PE_DISTANCE_TENSOR,
};

static void refuse_absence(pe_error *reterr)
{
    pe_problem *problem = pe_error_add(reterr, PE_MALFORMED, "length", "",
                                       "the number of keys, unless height and width are given");
    problem->reason = PE_REASON_MISSING;
}

typedef struct levit {
    pe_relative relative;
    pe_weights weights;
    dd factor;              /* of the biases */
    pe_offsets bias, index; /* planes: heads; one. Their lines are prepared */
    size_t heads;
} levit;

/* Check that the tokens are a line of `length`, or a grid of `height` times `width`. */
static void check_grid(const pe_values *values, pe_error *reterr)
{
    bool height = pe_is_present(values, "height"), width = pe_is_present(values, "width");
    if (height != width)
        pe_refuse_value(values, height ? "width" : "height", reterr,
                        "given with %s, unless length is given instead of both",
                        height ? "height" : "width");
    else if (!pe_is_present(values, "length"))
        refuse_absence(reterr);
    else if (height && pe_get_integer(values, "height") * pe_get_integer(values, "width") !=
                           pe_get_integer(values, "length"))
        pe_refuse_value(values, "length", reterr, "height * width, or left out");
}

static void read(const pe_values *values, void *ret_state, pe_plan *plan, pe_error *reterr)
{
    check_grid(values, reterr);
    if (reterr->status != PE_OK)
        return;
    levit *state = ret_state;
    const bool grid = pe_is_present(values, "height");
    const size_t width = (size_t)pe_get_integer(values, grid ? "width" : "length");
    const pe_relative *relative = &state->relative;
    const pe_weights *weights = &state->weights;
    state->relative = pe_relative_read(values, reterr);
    state->weights = pe_weights_read(values);
    state->factor = (dd){1, 0};
    if (pe_is_present(values, "dim_head"))
        state->factor = dd_sqrt((dd){pe_get_real(values, "dim_head"), 0});
    if (!pe_trained_check(weights, "table", 2, (const uint64_t[]){relative->keys, 0}, reterr))
        return;
    const uint64_t heads = (uint64_t)pe_get_integer(values, "heads"), tokens = relative->keys;
    if (relative->compact && grid)
        pe_refuse_value(values, "form", reterr,
                        "expanded for a grid, whose bias does not depend on one distance");
    pe_relative_check_queries(relative, ", where the keys are", reterr);
    state->heads = (size_t)heads;
    state->index = state->bias = (pe_offsets){.element_size = pe_dtype_size(weights->dtype),
                                              .height = (size_t)tokens / width,
                                              .width = width,
                                              .symmetric = true};
    state->index.element_size = sizeof(int32_t);
    /* both are copied from their lines */
    pe_relative_add(plan, relative, "bias", weights->dtype, heads, 0, 2);
    pe_plan_price(plan, 2);
    pe_relative_add(plan, relative, "index", PE_I32, 0, 0, 2);
    pe_plan_price(plan, 2);
    pe_relative_add_distance(plan, relative);
    plan->held = 3 * pe_bias_table_bytes(weights, tokens, heads) + 8 * tokens;
    plan->price =
        pe_bias_table_price(weights, tokens, heads) + pe_offsets_price(2 * tokens, heads + 1);
}

static bool prepare(void *context, pe_pace *pace)
{
    levit *state = context;
    unsigned char *table = pe_bias_table(&state->weights, (size_t)state->relative.keys,
                                         state->heads, state->factor, pace);
    return table && pe_offsets_take(&state->bias, table, state->heads, pace) &&
           pe_offsets_take_numbers(&state->index, pace);
}

/* Fill a window of [planes, distances], where the tokens are a line. */
static void fill_distances(const levit *state, const pe_offsets *source, pe_window window,
                           unsigned char *dst)
{
    uint64_t distances = pe_relative_distances(&state->relative);
    size_t line = 2 * source->width - 1, size = source->element_size;
    int64_t skipped = pe_relative_first(&state->relative) + (int64_t)source->width - 1;
    pe_copier copier;
    pe_copier_init(&copier, dst, window.rows * size);
    for (uint64_t done = 0, count; done < window.rows; done += count) {
        uint64_t plane = (window.first + done) / distances;
        uint64_t t = (window.first + done) % distances;
        count = distances - t < window.rows - done ? distances - t : window.rows - done;
        pe_copier_add(&copier, source->lines + (plane * line + (uint64_t)skipped + t) * size,
                      count * size);
    }
    pe_copier_done(&copier);
}

static void fill(const void *context, pe_window window, void *dst)
{
    const levit *state = context;
    const pe_offsets *source = window.tensor == 0 ? &state->bias : &state->index;
    if (window.tensor == 2)
        pe_relative_fill_distance(&state->relative, window, dst);
    else if (state->relative.compact)
        fill_distances(state, source, window, dst);
    else
        pe_offsets_fill(source, state->relative.queries, state->relative.offset, window, dst);
}

const pe_scheme pe_scheme_levit = {
    .info =
        {
            .name = "levit",
            .title = "LeViT attention bias",
            .summary = "A learned bias of the attention scores for each head and each pair "
                       "of absolute offsets on a grid, or each absolute offset on a line. "
                       "Without a set, the biases are random, drawn from seed.",
            .family = "relative",
            .keywords = "TinyViT, EfficientFormer, MobileViT, picture, image, grid",
            .formula =
                "bias[h, i, j] = table[index, h], index = |dx| * width + |dy| with x and y "
                "the row and column of a token; on a line index = |i - j|",
            .convention =
                "attention_biases as in the authors' code, heads first; both signs of a "
                "distance have the same bias",
            .reference = "arXiv:2104.01136, section 4.2",
            .example = "length=4&heads=8",
            .revision = 1,
            PE_LIST(parameter, PARAMETERS),
            PE_LIST(tensor, TENSORS),
        },
    PE_HOOKS(levit),
    PE_APPLIES(PE_BIAS("bias")),
};
