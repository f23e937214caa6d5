/* Swin Transformer's bias of attention in a window: a learned number for each head and offset.
 */
#include "numerics/dtype.h"
#include "relative/offsets.h"
#include "relative/relative.h"
#include "trained/resized_table.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

static const pe_recipe RECIPE = {.initialiser = PE_TRUNC_NORMAL, .std = 0.02};

/* ---- the window ---- */

#define CLASS_ROWS 3 /* of the table: class to token, token to class, class to class */

typedef struct window_shape {
    uint64_t height, width;               /* of tokens */
    uint64_t source_height, source_width; /* those of the table */
    uint64_t class_rows;                  /* of the table */
} window_shape;

static uint64_t offsets_of(uint64_t height, uint64_t width)
{
    return (2 * height - 1) * (2 * width - 1);
}

static uint64_t tokens_of(const window_shape *shape)
{
    return shape->height * shape->width + (shape->class_rows > 0);
}

/* Find the window that a stored table is for. False: there is none. */
static bool find_stored_window(const pe_values *values, uint64_t rows, window_shape *shape)
{
    uint64_t offsets = rows > shape->class_rows ? rows - shape->class_rows : 0;
    if (!pe_is_present(values, "source_height") &&
        offsets != offsets_of(shape->height, shape->width)) {
        uint64_t side = (uint64_t)sqrt((double)offsets);
        shape->source_height = shape->source_width = (side + 1) / 2;
    }
    return shape->source_height > 0 && shape->source_height <= PE_WINDOW_MAX &&
           offsets == offsets_of(shape->source_height, shape->source_width);
}

static uint64_t value_or(const pe_values *values, const char *name, uint64_t otherwise)
{
    return pe_is_present(values, name) ? (uint64_t)pe_integer(values, name) : otherwise;
}

/* Read the parameters. False: a problem was added. */
static bool read_window(const pe_values *values, window_shape *ret_window, pe_error *reterr)
{
    char given[96];
    bool named = pe_is_present(values, "source_height");
    uint64_t height = (uint64_t)pe_integer(values, "height");
    uint64_t width = (uint64_t)pe_integer(values, "width");
    *ret_window = (window_shape){.height = height, .width = width};
    ret_window->source_height = value_or(values, "source_height", height);
    ret_window->source_width =
        value_or(values, "source_width", named ? ret_window->source_height : width);
    ret_window->class_rows = pe_flag(values, "class_token") ? CLASS_ROWS : 0;
    if (!named && pe_is_present(values, "source_width")) {
        pe_error_add(reterr, PE_OUT_OF_RANGE, "source_height", "", "given with source_width");
        return false;
    }
    const pe_set *set = pe_values_set(values);
    uint64_t rows = set ? pe_set_tensor_find(set, "table")->tensor.shape[0] : 0;
    if (!set || find_stored_window(values, rows, ret_window))
        return true;
    snprintf(given, sizeof given, "%s with %llu rows", pe_value_of(values, "parameters")->text,
             (unsigned long long)rows);
    pe_error_add(reterr, PE_OUT_OF_RANGE, "parameters", given,
                 "the name of a set whose table has (2*source_height-1) * (2*source_width-1)%s "
                 "rows",
                 ret_window->class_rows ? " + 3" : "");
    return false;
}

static window_shape planned_window(const pe_values *values)
{
    window_shape shape;
    pe_error none;
    pe_error_init(&none);
    (void)read_window(values, &shape, &none);
    return shape;
}

/* An axis of offsets. One that stays as it is is copied. */
static pe_resample axis_of(const pe_values *values, uint64_t source, uint64_t target,
                           bool resized)
{
    pe_filter filter = pe_choice(values, "mode") == 0 ? PE_LINEAR : PE_CUBIC;
    return pe_resample_to_size(resized ? filter : PE_NEAREST, false, false, 2 * source - 1,
                               2 * target - 1);
}

/* The table on the grid of this window's offsets. */
static pe_resized_source source_of(const pe_values *values, const window_shape *shape)
{
    bool resized = shape->height != shape->source_height || shape->width != shape->source_width;
    return (pe_resized_source){
        .name = "table",
        .columns = (uint64_t)pe_integer(values, "heads"),
        .recipe = &RECIPE,
        .y = axis_of(values, shape->source_height, shape->height, resized),
        .x = axis_of(values, shape->source_width, shape->width, resized),
        .suffix = shape->class_rows,
    };
}

static void plan(const pe_values *values, pe_plan *ret_plan, pe_error *reterr)
{
    window_shape shape;
    if (!pe_trained_check(values, "table", 2, (const uint64_t[]){0, 0}, reterr) ||
        !read_window(values, &shape, reterr))
        return;
    pe_resized_source source = source_of(values, &shape);
    uint64_t heads = source.columns, tokens = tokens_of(&shape);
    uint64_t entries = offsets_of(shape.height, shape.width) * (heads + 1);
    pe_plan_add(ret_plan, "bias", pe_requested_dtype(values), 3,
                (uint64_t[]){heads, tokens, tokens});
    pe_plan_rows(ret_plan, 3);
    pe_plan_add(ret_plan, "index", PE_I32, 2, (uint64_t[]){tokens, tokens});
    pe_plan_rows(ret_plan, 2);
    ret_plan->held = pe_resized_table_bytes(values, &source) + sizeof(double) * entries;
}

/* ---- preparation ---- */

#define REPEATED 64 /* copies of an entry that is copied in a row */

/* The entries of one tensor. */
typedef struct entries {
    pe_offsets offsets;
    unsigned char *class_entries; /* [planes, REPEATED + 2]: class to token, then the others */
} entries;

typedef struct swin {
    uint64_t tokens;
    bool class_token;
    entries bias, index; /* planes: heads; one */
} swin;

static void release(void *context)
{
    swin *state = context;
    if (state) {
        free(state->bias.offsets.lines);
        free(state->bias.class_entries);
        free(state->index.offsets.lines);
        free(state->index.class_entries);
    }
    free(state);
}

/* Take the rows of a plane that are for the class token. */
static void take_class(unsigned char *own, const unsigned char *column, size_t stride,
                       size_t size)
{
    for (size_t i = 0; i < REPEATED; i++)
        memcpy(own + i * size, column, size);
    for (size_t i = 1; i < CLASS_ROWS; i++)
        memcpy(own + (REPEATED + i - 1) * size, column + i * stride, size);
}

/* Take a table [rows, planes], with the rows for a class token behind if there is one. False:
 * memory ran out, or the runner cancelled it. */
static bool take_table(entries *to, const unsigned char *table, size_t planes, size_t rows,
                       bool class_token, pe_pace *pace)
{
    size_t size = to->offsets.element_size, stride = planes * size;
    if (!pe_offsets_take(&to->offsets, table, planes, pace))
        return false;
    to->class_entries = malloc((REPEATED + 2) * stride);
    if (!to->class_entries)
        return false;
    for (size_t plane = 0; class_token && plane < planes; plane++)
        take_class(to->class_entries + plane * (REPEATED + 2) * size,
                   table + rows * stride + plane * size, stride, size);
    return true;
}

static bool make_bias(swin *state, const window_shape *shape, size_t heads, pe_pace *pace)
{
    pe_resized_source source = source_of(pace->values, shape);
    unsigned char *table = pe_resized_table(&source, pace);
    bool good = table && take_table(&state->bias, table, heads,
                                    (size_t)offsets_of(shape->height, shape->width),
                                    state->class_token, pace);
    free(table);
    return good;
}

static bool make_index(swin *state, const window_shape *shape, pe_pace *pace)
{
    size_t rows = (size_t)offsets_of(shape->height, shape->width);
    int32_t *numbers = malloc((rows + CLASS_ROWS) * sizeof *numbers);
    for (size_t i = 0; numbers && i < rows + CLASS_ROWS; i++)
        numbers[i] = (int32_t)i;
    bool good = numbers && take_table(&state->index, (const unsigned char *)numbers, 1, rows,
                                      state->class_token, pace);
    free(numbers);
    return good;
}

static void *prepare(const pe_values *values, const pe_plan *plan, const pe_runner *runner,
                     pe_error *reterr)
{
    pe_pace pace = pe_pace_of(values, plan, runner, reterr);
    window_shape shape = planned_window(values);
    swin *state = calloc(1, sizeof *state);
    if (!state)
        return NULL;
    state->tokens = tokens_of(&shape);
    state->class_token = shape.class_rows > 0;
    state->index.offsets = (pe_offsets){.element_size = sizeof(int32_t),
                                        .height = (size_t)shape.height,
                                        .width = (size_t)shape.width};
    state->bias.offsets = state->index.offsets;
    state->bias.offsets.element_size = pe_dtype_size(pe_requested_dtype(values));
    if (make_bias(state, &shape, (size_t)pe_integer(values, "heads"), &pace) &&
        make_index(state, &shape, &pace))
        return state;
    release(state);
    return NULL;
}

static double price(const pe_values *values, const pe_plan *plan)
{
    (void)plan;
    window_shape shape = planned_window(values);
    pe_resized_source source = source_of(values, &shape);
    return pe_resized_table_price(values, &source) +
           pe_offsets_price(offsets_of(shape.height, shape.width), source.columns + 1);
}

/* ---- entries ---- */

/* Copy one entry of the class token's `count` times: 0 class to token, or one of the others. */
static void copy_class(const entries *source, size_t plane, size_t which, size_t count,
                       pe_copier *copier)
{
    size_t size = source->offsets.element_size;
    const unsigned char *own = source->class_entries + plane * (REPEATED + 2) * size;
    if (which > 0)
        own += (REPEATED + which - 1) * size;
    for (size_t part; count > 0; count -= part) {
        part = count < REPEATED ? count : REPEATED;
        pe_copier_add(copier, own, part * size);
    }
}

/* Copy `count` entries of a query from `key` on. */
static void copy_row(const swin *state, const entries *source, size_t plane, size_t query,
                     size_t key, size_t count, pe_copier *copier)
{
    if (!state->class_token) {
        pe_offsets_copy(&source->offsets, plane, query, key, count, copier);
        return;
    }
    if (key == 0) {
        copy_class(source, plane, query == 0 ? 2 : 1, 1, copier);
        count--;
        key++;
    }
    if (query == 0)
        copy_class(source, plane, 0, count, copier);
    else
        pe_offsets_copy(&source->offsets, plane, query - 1, key - 1, count, copier);
}

static void fill(const pe_values *values, const pe_plan *plan, const void *context,
                 pe_window window, void *dst)
{
    (void)values, (void)plan;
    const swin *state = context;
    const entries *source = window.tensor == 0 ? &state->bias : &state->index;
    pe_copier copier;
    pe_copier_init(&copier, dst, window.rows * source->offsets.element_size);
    for (uint64_t at = window.first, end = at + window.rows, count; at < end; at += count) {
        uint64_t row = at / state->tokens, key = at % state->tokens;
        count = state->tokens - key < end - at ? state->tokens - key : end - at;
        copy_row(state, source, (size_t)(row / state->tokens), (size_t)(row % state->tokens),
                 (size_t)key, (size_t)count, &copier);
    }
    pe_copier_done(&copier);
}

const pe_scheme pe_scheme_swin = {
    .info =
        {
            .name = "swin",
            .title = "Swin Transformer attention bias",
            .summary =
                "A learned bias of the attention scores for each head and each offset of "
                "two tokens in a window; the table of another window is interpolated. The "
                "biases are random, drawn from seed, until parameters names an uploaded "
                "set.",
            .family = "relative",
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
    .plan = plan,
    .prepare = prepare,
    .fill = fill,
    .release = release,
    PE_APPLIES(PE_BIAS("bias")),
    .price = price,
    .streamable = true,
};
