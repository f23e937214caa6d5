/* Decomposed relative positions: a learned vector for each offset of rows, and one of columns.
 */
#include "kernels/copier.h"
#include "trained/resized_table.h"

#include <stdio.h>

#define LARGEST_SIZE 65536 /* 2*size-1 rows are an axis of pe_resample */
#define AXES         2     /* rows, columns */

#define CELLS .type = PE_INTEGER, .minimum = 1, .maximum = LARGEST_SIZE

static const pe_parameter PARAMETERS[] = {
    {.name = "height",
     CELLS,
     .required = true,
     .unit = "cells",
     .counts_rows = true,
     .help = "rows of the grid of keys"},
    {.name = "width",
     CELLS,
     .default_of = "height",
     .unit = "cells",
     .counts_rows = true,
     .help = "columns of the grid of keys"},
    {.name = "query_height",
     CELLS,
     .default_of = "height",
     .unit = "cells",
     .help = "rows of the grid of queries, which covers that of the keys"},
    {.name = "query_width",
     CELLS,
     .default_of = "width",
     .unit = "cells",
     .help = "columns of the grid of queries"},
    {PE_TRAINED_DIM("rel_pos_h"),
     .help = "number of columns, those of a head; stored tables have their own"},
    PE_TRAINED_PARAMETERS("rel_pos_h [rows, dim] and rel_pos_w [columns, dim], each 2*size-1 "
                          "rows for a size"),
    {.name = "source_height",
     CELLS,
     .unless = "set",
     .unit = "cells",
     .help = "size that the random rel_pos_h is for; by default the larger of height and "
             "query_height"},
    {.name = "source_width",
     CELLS,
     .unless = "set",
     .unit = "cells",
     .help = "size that the random rel_pos_w is for; by default the larger of width and "
             "query_width"},
};

static const pe_tensor_help TENSORS[] = {
    {"rel_h", "[query_height, height, dim]", "the vector for the rows of query and key"},
    {"rel_w", "[query_width, width, dim]", "the vector for the columns of query and key"},
    {"index_h", "[query_height, height]", "the row of the resized rel_pos_h"},
    {"index_w", "[query_width, width]", "the row of the resized rel_pos_w"},
};

static const pe_distribution RECIPE = {.initialiser = PE_TRUNC_NORMAL, .std = 0.02};

/* ---- axes ---- */

static const struct {
    const char *table, *keys, *queries, *source;
} NAMES[AXES] = {{"rel_pos_h", "height", "query_height", "source_height"},
                 {"rel_pos_w", "width", "query_width", "source_width"}};

typedef struct axis {
    uint64_t queries, keys;
    uint64_t source_rows, rows; /* of the table, and of the resized one */
} axis;

typedef struct decomposed {
    pe_weights weights;
    uint64_t dim;
    axis lines[AXES];
    pe_resized_source sources[AXES];

    /* prepared */
    unsigned char *tables[AXES]; /* [rows, dim] */
} decomposed;

static axis read_axis(const pe_values *values, const pe_set *set, size_t which)
{
    axis result = {.queries = (uint64_t)pe_get_integer(values, NAMES[which].queries),
                   .keys = (uint64_t)pe_get_integer(values, NAMES[which].keys)};
    uint64_t size = result.queries > result.keys ? result.queries : result.keys;
    result.rows = result.source_rows = 2 * size - 1;
    if (set)
        result.source_rows = pe_set_tensor_find(set, NAMES[which].table)->tensor.shape[0];
    else if (pe_is_present(values, NAMES[which].source))
        result.source_rows = 2 * (uint64_t)pe_get_integer(values, NAMES[which].source) - 1;
    return result;
}

/* Refuse a stored table that is too long to be resized. */
static void check_rows(const pe_weights *weights, size_t which, const axis *line,
                       pe_error *reterr)
{
    char given[96];
    if (line->source_rows <= PE_RESAMPLE_MAX)
        return;
    snprintf(given, sizeof given, "%s with %llu rows of %s", weights->set_name,
             (unsigned long long)line->source_rows, NAMES[which].table);
    pe_error_add(reterr, PE_OUT_OF_RANGE, "set", given,
                 "the name of a set whose tables have at most %d rows", PE_RESAMPLE_MAX);
}

/* The table of an axis, resized as a line. One that stays as it is is copied. */
static pe_resized_source read_source(const decomposed *state, size_t which)
{
    const axis *line = &state->lines[which];
    pe_filter filter = line->source_rows == line->rows ? PE_NEAREST : PE_LINEAR;
    return (pe_resized_source){
        .weights = state->weights,
        .name = NAMES[which].table,
        .columns = state->dim,
        .distribution = &RECIPE,
        .y = pe_resample_to_size(PE_NEAREST, false, false, 1, 1),
        .x = pe_resample_to_size(filter, false, false, line->source_rows, line->rows),
    };
}

/* The row of the resized table: the query's minus the key's cell, both on the finer grid, from
 * 0 on, cut off. In units of 1/coarser: that has no fractions. */
static uint64_t find_row(const axis *line, uint64_t query, uint64_t key)
{
    uint64_t coarser = line->queries < line->keys ? line->queries : line->keys;
    return (query * line->keys + (line->keys - 1 - key) * line->queries) / coarser;
}

/* ---- the scheme ---- */

static void plan_tensors(const decomposed *state, pe_plan *plan)
{
    for (size_t i = 0; i < 2 * AXES; i++) {
        const axis *line = &state->lines[i % AXES];
        const uint64_t shape[3] = {line->queries, line->keys, state->dim};
        pe_plan_add(plan, TENSORS[i].name, i < AXES ? state->weights.dtype : PE_I32,
                    i < AXES ? 3 : 2, shape);
        pe_plan_rows(plan, 2);
    }
    for (size_t i = 0; i < AXES; i++) {
        plan->held += pe_resized_table_bytes(&state->sources[i]);
        plan->price += pe_resized_table_price(&state->sources[i]);
    }
}

static void read(const pe_values *values, void *ret_state, pe_plan *plan, pe_error *reterr)
{
    decomposed *state = ret_state;
    const pe_weights *weights = &state->weights;
    state->weights = pe_weights_read(values);
    state->dim = (uint64_t)pe_get_integer(values, "dim");
    for (size_t i = 0; i < AXES; i++) {
        if (!pe_trained_check(weights, NAMES[i].table, 2, (const uint64_t[]){0, state->dim},
                              reterr))
            return;
        state->lines[i] = read_axis(values, weights->set, i);
        check_rows(weights, i, &state->lines[i], reterr);
    }
    if (reterr->status != PE_OK)
        return;
    for (size_t i = 0; i < AXES; i++) {
        state->sources[i] = read_source(state, i);
        if (!weights->set)
            pe_plan_settle(plan, NAMES[i].source,
                           (double)(state->lines[i].source_rows + 1) / 2);
    }
    plan_tensors(state, plan);
}

static bool prepare(void *context, pe_pace *pace)
{
    decomposed *state = context;
    for (size_t i = 0; i < AXES; i++) {
        state->tables[i] = pe_resized_table(&state->sources[i], pace);
        if (!state->tables[i])
            return false;
    }
    return true;
}

static void fill_index(const axis *line, pe_window window, int32_t *dst)
{
    for (uint64_t i = 0, at = window.first; i < window.rows; i++, at++)
        dst[i] = (int32_t)find_row(line, at / line->keys, at % line->keys);
}

static void fill(const void *context, pe_window window, void *dst)
{
    const decomposed *state = context;
    size_t which = window.tensor % AXES;
    const axis *line = &state->lines[which];
    size_t row_bytes = (size_t)state->dim * pe_dtype_size(state->weights.dtype);
    pe_copier copier;
    if (window.tensor >= AXES) {
        fill_index(line, window, dst);
        return;
    }
    pe_copier_init(&copier, dst, window.rows * row_bytes);
    for (uint64_t at = window.first; at < window.first + window.rows; at++)
        pe_copier_add(&copier,
                      state->tables[which] +
                          find_row(line, at / line->keys, at % line->keys) * row_bytes,
                      row_bytes);
    pe_copier_done(&copier);
}

static const pe_application APPLICATIONS[] = {
    {.kind = PE_APPLY_CONTRACT,
     .input = "query",
     .axes = "query_height,query_width,dim",
     .result = "scores_h",
     .result_axes = "query_height,query_width,height",
     .tensors = {"rel_h"},
     .entry_axes = "query_height,height,dim",
     .is_rational = true,
     .formula = "scores_h[y, x, j] = query[y, x] . rel_h[y, j]"},
    {.kind = PE_APPLY_CONTRACT,
     .input = "query",
     .axes = "query_height,query_width,dim",
     .result = "scores_w",
     .result_axes = "query_height,query_width,width",
     .tensors = {"rel_w"},
     .entry_axes = "query_width,width,dim",
     .is_rational = true,
     .formula = "scores_w[y, x, j] = query[y, x] . rel_w[x, j]"},
};

const pe_scheme pe_scheme_decomposed = {
    .info =
        {
            .name = "decomposed",
            .title = "Decomposed relative positions",
            .summary = "A learned vector for each offset of rows and one for each offset of "
                       "columns, whose products with a query are added to its attention "
                       "scores; tables for grids of another size are interpolated. Without a"
                       " set, the vectors are random, drawn from seed.",
            .family = "relative",
            .keywords = "SAM, Segment Anything, MViT, ViTDet, rel_pos_h, picture, image",
            .formula = "rel_h[i, j] = table[floor(i * max(keys/queries, 1) + (keys-1 - j) * "
                       "max(queries/keys, 1))], with rel_pos_h as the table of 2*max(queries, "
                       "keys)-1 rows, interpolated linearly if it has another number; rel_w "
                       "alike; added to the score: q . rel_h[qh, kh] + q . rel_w[qw, kw]",
            .convention =
                "get_rel_pos of the authors' code and of SAM, query minus key; the query's "
                "factor is left to the caller",
            .reference = "arXiv:2112.01526, equation 5; arXiv:2304.02643",
            .example = "height=2&dim=4",
            .revision = 1,
            PE_LIST(parameter, PARAMETERS),
            PE_LIST(tensor, TENSORS),
        },
    PE_HOOKS(decomposed),
    PE_LIST(application, APPLICATIONS),
    .errors = PE_ERRORS_OF_SUMS,
};
