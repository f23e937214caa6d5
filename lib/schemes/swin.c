/* Swin Transformer's bias of attention in a window: a learned number for each head and offset.
 */
#include "relative/grid_offsets.h"
#include "relative/relative.h"
#include "trained/resized_table.h"

#include <math.h>
#include <stdio.h>

static const char *const MODES[] = {"bilinear", "bicubic", NULL};

static const pe_parameter PARAMETERS[] = {
    PE_WINDOW_PARAMETERS,
    {PE_HEADS_PARAMETER, .required = true, .stored = "table", .stored_axis = 1,
     .help = "number of heads"},
    {.name = "class_token",
     .type = PE_BOOLEAN,
     .default_text = "false",
     .help = "true: a class token comes before those of the window, and three rows of the "
             "table after those of the offsets are for it"},
    PE_TRAINED_PARAMETERS(
        "table [offsets, heads], with (2*height-1) * (2*width-1) offsets, and "
        "3 more with class_token=true"),
    {.name = "source_height",
     PE_WINDOW_SIZE,
     .unit = "cells",
     .help = "rows of the window that the table is for; by default those of this window, or of "
             "the square that the stored table has"},
    {.name = "source_width",
     PE_WINDOW_SIZE,
     .unit = "cells",
     .help = "columns of that window; by default as many as source_height"},
    {.name = "mode",
     .type = PE_CHOICE,
     .default_text = "bicubic",
     .choices = MODES,
     .help = "how the table of another window is interpolated, as by scheme resized"},
};

static const pe_preset PRESETS[] = {
    {"beit", "BEiT and Data2Vec", {"class_token", "true", "mode", "bilinear"}},
};

static const pe_tensor_help TENSORS[] = {
    {"bias", "[heads, tokens, tokens]", "is added to the attention scores"},
    {"index", "[tokens, tokens]", "the row of the table, for query and key"},
};

static const pe_distribution RECIPE = {.initialiser = PE_TRUNC_NORMAL, .std = 0.02};

/* ---- the window ---- */

typedef struct swin {
    pe_resized_source table; /* on the grid of the window's offsets */
    uint64_t height, width;  /* of tokens */
    uint64_t tokens;
    bool class_token;

    /* prepared */
    pe_offsets bias, index; /* planes: heads; one */
} swin;

static uint64_t count_offsets(uint64_t height, uint64_t width)
{
    return (2 * height - 1) * (2 * width - 1);
}

/* Find the window that a stored table is for, unless it is given or that of the request. False:
 * there is none. */
static bool find_stored_window(const pe_values *values, const swin *state, uint64_t rows,
                               uint64_t *height, uint64_t *width)
{
    uint64_t class_rows = state->table.suffix;
    uint64_t offsets = rows > class_rows ? rows - class_rows : 0;
    if (!pe_is_present(values, "source_height") &&
        offsets != count_offsets(state->height, state->width)) {
        uint64_t side = (uint64_t)sqrt((double)offsets);
        *height = *width = (side + 1) / 2;
    }
    return *height > 0 && *height <= PE_WINDOW_MAX && offsets == count_offsets(*height, *width);
}

static uint64_t value_or(const pe_values *values, const char *name, uint64_t otherwise)
{
    return pe_is_present(values, name) ? (uint64_t)pe_get_integer(values, name) : otherwise;
}

/* Read the window that the table is for. False: a problem was added. */
static bool read_source(const pe_values *values, const swin *state, uint64_t *ret_height,
                        uint64_t *ret_width, pe_error *reterr)
{
    char given[96];
    const pe_weights *weights = &state->table.weights;
    bool named = pe_is_present(values, "source_height");
    *ret_height = value_or(values, "source_height", state->height);
    *ret_width = value_or(values, "source_width", named ? *ret_height : state->width);
    if (!named && pe_is_present(values, "source_width")) {
        pe_error_add(reterr, PE_OUT_OF_RANGE, "source_height", "", "given with source_width");
        return false;
    }
    if (!weights->set)
        return true;
    uint64_t rows = pe_set_tensor_find(weights->set, "table")->tensor.shape[0];
    if (find_stored_window(values, state, rows, ret_height, ret_width))
        return true;
    snprintf(given, sizeof given, "%s with %llu rows", weights->set_name,
             (unsigned long long)rows);
    pe_error_add(reterr, PE_OUT_OF_RANGE, "set", given,
                 "the name of a set whose table has (2*source_height-1) * (2*source_width-1)%s "
                 "rows",
                 state->class_token ? " + 3" : "");
    return false;
}

/* An axis of offsets. One that stays as it is is copied. */
static pe_resample read_axis(const pe_values *values, uint64_t source, uint64_t target,
                             bool resized)
{
    pe_filter filter = pe_get_choice(values, "mode") == 0 ? PE_LINEAR : PE_CUBIC;
    return pe_resample_to_size(resized ? filter : PE_NEAREST, false, false, 2 * source - 1,
                               2 * target - 1);
}

static void read(const pe_values *values, void *ret_state, pe_plan *plan, pe_error *reterr)
{
    uint64_t source_height, source_width;
    swin *state = ret_state;
    pe_resized_source *table = &state->table;
    state->height = (uint64_t)pe_get_integer(values, "height");
    state->width = (uint64_t)pe_get_integer(values, "width");
    state->class_token = pe_get_flag(values, "class_token");
    state->tokens = state->height * state->width + state->class_token;
    *table = (pe_resized_source){.weights = pe_weights_read(values),
                                 .name = "table",
                                 .distribution = &RECIPE,
                                 .suffix = state->class_token ? PE_CLASS_ROWS : 0};
    if (!pe_trained_check(&table->weights, "table", 2, (const uint64_t[]){0, 0}, reterr) ||
        !read_source(values, state, &source_height, &source_width, reterr))
        return;
    pe_plan_settle(plan, "source_height", (double)source_height);
    pe_plan_settle(plan, "source_width", (double)source_width);
    const bool resized = state->height != source_height || state->width != source_width;
    const uint64_t heads = (uint64_t)pe_get_integer(values, "heads"), tokens = state->tokens;
    table->columns = heads;
    table->y = read_axis(values, source_height, state->height, resized);
    table->x = read_axis(values, source_width, state->width, resized);
    pe_plan_add(plan, "bias", table->weights.dtype, 3, (uint64_t[]){heads, tokens, tokens});
    pe_plan_rows(plan, 3);
    pe_plan_add(plan, "index", PE_I32, 2, (uint64_t[]){tokens, tokens});
    pe_plan_rows(plan, 2);
    const uint64_t offsets = count_offsets(state->height, state->width);
    plan->held = pe_resized_table_bytes(table) + sizeof(double) * offsets * (heads + 1);
    plan->price = pe_resized_table_price(table) + pe_offsets_price(offsets, heads + 1);
}

/* ---- preparation ---- */

static bool prepare(void *context, pe_pace *pace)
{
    swin *state = context;
    unsigned char *table = pe_resized_table(&state->table, pace);
    state->index = (pe_offsets){.element_size = sizeof(int32_t),
                                .height = (size_t)state->height,
                                .width = (size_t)state->width,
                                .class_token = state->class_token};
    state->bias = state->index;
    state->bias.element_size = pe_dtype_size(state->table.weights.dtype);
    return table && pe_offsets_take(&state->bias, table, (size_t)state->table.columns, pace) &&
           pe_offsets_take_numbers(&state->index, pace);
}

static void fill(const void *context, pe_window window, void *dst)
{
    const swin *state = context;
    pe_offsets_fill(window.tensor == 0 ? &state->bias : &state->index, state->tokens, 0, window,
                    dst);
}

const pe_scheme pe_scheme_swin = {
    .info =
        {
            .name = "swin",
            .title = "Swin Transformer attention bias",
            .summary = "A learned bias of the attention scores for each head and each offset"
                       " of two tokens in a window; the table of another window is "
                       "interpolated. Without a set, the biases are random, drawn from seed.",
            .family = "relative",
            .keywords = "relative_position_bias_table, BEiT, window attention, CoAtNet, "
                        "picture, image, grid",
            .formula =
                "bias[h, i, j] = table[index[i, j], h], index = (dy + height-1) * "
                "(2*width-1) + dx + width-1 with dy, dx the row and column of query i "
                "minus those of key j; class token to token, token to class token, and to "
                "itself: the last three rows",
            .convention =
                "relative_position_index of the authors' code, query minus key, heads "
                "first; class token as in BEiT",
            .reference = "arXiv:2103.14030, equation 4; arXiv:2106.08254",
            .example = "height=2&heads=3",
            .revision = 1,
            PE_LIST(parameter, PARAMETERS),
            PE_LIST(preset, PRESETS),
            PE_LIST(tensor, TENSORS),
        },
    PE_HOOKS(swin),
    PE_APPLIES(PE_BIAS("bias")),
    .errors = PE_ERRORS_OF_SUMS,
};
