/* Shaw's relative position representations: vectors for keys and values by clipped distance. */
#include "../distance_wave.h"
#include "../dtype.h"
#include "../gather.h"

#include <stdio.h>
#include <stdlib.h>

#define SINUSOID_BASE 10000

static const char *const SOURCES[] = {"learned", "sinusoidal", NULL};
enum source { LEARNED, SINUSOIDAL };

static const pe_parameter PARAMETERS[] = {
    PE_RELATIVE_PARAMETERS,
    {PE_TRAINED_DIM("keys"), .help = "length of a vector; even with source=sinusoidal"},
    {.name = "max_distance",
     .type = PE_INTEGER,
     .default_text = "16",
     .minimum = 0,
     .maximum = PE_RELATIVE_MAX,
     .unit = "positions",
     .help = "distances above are clipped to it"},
    {.name = "min_distance",
     .type = PE_INTEGER,
     .minimum = -PE_RELATIVE_MAX,
     .maximum = 0,
     .unit = "positions",
     .help = "distances below are clipped to it; by default -max_distance"},
    {.name = "source",
     .type = PE_CHOICE,
     .default_text = "learned",
     .choices = SOURCES,
     .help = "learned: two tables; sinusoidal: sinusoids of the clipped distance, base 10000, "
             "sin and cos by turns"},
    PE_TRAINED_PARAMETERS("keys and values [max_distance-min_distance+1, dim]"),
};

static const pe_tensor_help TENSORS[] = {
    {"keys", "[queries, keys, dim] or [distances, dim]", "what is added to the keys"},
    {"values", "[queries, keys, dim] or [distances, dim]", "what is added to the values"},
    {"index", "[queries, keys]",
     "clip(j - i, min_distance, max_distance) - min_distance: row of both tables; only with "
     "form=compact"},
};

static int64_t lowest(const pe_values *values)
{
    return pe_is_present(values, "min_distance") ? pe_integer(values, "min_distance")
                                                 : -pe_integer(values, "max_distance");
}

static uint64_t distances_of(const pe_values *values)
{
    return (uint64_t)(pe_integer(values, "max_distance") - lowest(values)) + 1;
}

static void check_source(const pe_values *values, pe_error *reterr)
{
    char given[32];
    if (pe_choice(values, "source") != SINUSOIDAL)
        return;
    snprintf(given, sizeof given, "%lld", (long long)pe_integer(values, "dim"));
    if (pe_values_set(values))
        pe_error_add(reterr, PE_OUT_OF_RANGE, "parameters",
                     pe_value_of(values, "parameters")->text,
                     "nothing with source=sinusoidal, which has no trained tensors");
    if (pe_integer(values, "dim") % 2 != 0)
        pe_error_add(reterr, PE_OUT_OF_RANGE, "dim", given,
                     "an even number with source=sinusoidal");
}

static void plan(const pe_values *values, pe_plan *ret_plan, pe_error *reterr)
{
    const uint64_t shape[2] = {distances_of(values), 0};
    if (!pe_trained_check(values, "keys", 2, shape, reterr))
        return;
    pe_relative relative = pe_relative_read(values, reterr), matrix = relative;
    pe_dtype dtype = pe_requested_dtype(values);
    uint64_t dim = (uint64_t)pe_integer(values, "dim");
    const uint64_t table[2] = {shape[0], dim};
    pe_trained_check(values, "values", 2, table, reterr);
    check_source(values, reterr);
    if (relative.compact) {
        matrix.compact = false;
        pe_plan_add(ret_plan, "keys", dtype, 2, table);
        pe_plan_add(ret_plan, "values", dtype, 2, table);
        pe_relative_add(ret_plan, &matrix, "index", PE_I32, 0, 0);
        return;
    }
    pe_relative_add(ret_plan, &relative, "keys", dtype, 0, dim);
    pe_relative_add(ret_plan, &relative, "values", dtype, 0, dim);
}

typedef struct shaw {
    int64_t low, high;
    size_t dim;
    pe_dtype dtype;
    bool sinusoidal, compact;
    pe_distance_wave wave;
    pe_toeplitz index;
    struct shaw_table { /* keys, values */
        const struct shaw *of;
        pe_trained trained;
        pe_toeplitz toeplitz;
    } tables[2];
} shaw;

static void write_rows(const void *of, uint64_t row, uint64_t count, void *dst)
{
    const struct shaw_table *table = of;
    pe_trained_fill(&table->trained, table->of->dtype, row, count, dst);
}

static void write_vectors(const void *of, size_t head, int64_t first, uint64_t count, void *dst)
{
    const struct shaw_table *table = of;
    const shaw *state = table->of;
    if (state->sinusoidal)
        pe_distance_wave_write(&state->wave, head, first, count, dst);
    else
        pe_write_clipped(write_rows, table, state->low, state->high,
                         state->dim * pe_dtype_size(state->dtype), first, count, dst);
}

static void write_index(const void *of, size_t head, int64_t first, uint64_t count, void *dst)
{
    (void)head;
    const shaw *state = of;
    int32_t *to = dst;
    for (uint64_t t = 0; t < count; t++) {
        int64_t distance = first + (int64_t)t;
        distance = distance < state->low ? state->low : distance;
        distance = distance > state->high ? state->high : distance;
        to[t] = (int32_t)(distance - state->low);
    }
}

static void release(void *of)
{
    shaw *state = of;
    if (state) {
        pe_distance_wave_done(&state->wave);
        pe_toeplitz_done(&state->index);
        for (size_t i = 0; i < 2; i++)
            pe_toeplitz_done(&state->tables[i].toeplitz);
    }
    free(state);
}

static bool prepare_table(shaw *state, size_t index, const pe_values *values,
                          const pe_plan *plan, const pe_relative *relative, pe_error *reterr)
{
    struct shaw_table *table = &state->tables[index];
    const char *name = plan->tensors[index].name;
    table->of = state;
    if (!state->sinusoidal) {
        table->trained = pe_trained_of(values, name, state->dim, &PE_RELATIVE_RECIPE);
        pe_trained_check_magnitude(values, &table->trained, &PE_RELATIVE_RECIPE,
                                   distances_of(values), 1, reterr);
    }
    return reterr->status == PE_OK &&
           (state->compact || pe_toeplitz_init(&table->toeplitz, relative,
                                               &plan->tensors[index], 1, write_vectors, table));
}

static void *prepare(const pe_values *values, const pe_plan *plan, const pe_runner *runner,
                     pe_error *reterr)
{
    (void)runner;
    shaw *state = calloc(1, sizeof *state);
    if (!state)
        return NULL;
    pe_relative relative = pe_relative_read(values, reterr), matrix = relative;
    matrix.compact = false;
    state->low = lowest(values);
    state->high = pe_integer(values, "max_distance");
    state->dim = (size_t)pe_integer(values, "dim");
    state->dtype = pe_requested_dtype(values);
    state->sinusoidal = pe_choice(values, "source") == SINUSOIDAL;
    state->compact = relative.compact;
    if (state->sinusoidal &&
        !pe_distance_wave_init(&state->wave, state->dtype, state->dim, SINUSOID_BASE,
                               PE_WAVE_INTERLEAVED, state->low, state->high, 1))
        goto fail;
    if (state->compact &&
        !pe_toeplitz_init(&state->index, &matrix, &plan->tensors[2], 1, write_index, state))
        goto fail;
    if (prepare_table(state, 0, values, plan, &relative, reterr) &&
        prepare_table(state, 1, values, plan, &relative, reterr))
        return state;
fail:
    release(state);
    return NULL;
}

static void fill(const pe_values *values, const pe_plan *plan, const void *of, pe_window window,
                 void *dst)
{
    (void)values, (void)plan;
    const shaw *state = of;
    if (window.tensor == 2)
        pe_toeplitz_fill(&state->index, window, dst);
    else if (state->compact)
        write_vectors(&state->tables[window.tensor], 0, state->low + (int64_t)window.first,
                      window.rows, dst);
    else
        pe_toeplitz_fill(&state->tables[window.tensor].toeplitz, window, dst);
}

const pe_scheme pe_scheme_shaw = {
    .info =
        {
            .name = "shaw",
            .title = "Shaw's relative position representations",
            .summary = "Vectors that are added to keys and values, learned for each distance "
                       "up to a limit.",
            .family = "relative",
            .formula = "keys[i, j] = keys_table[clip(j - i, min, max) - min], values alike",
            .convention = "the paper's: distance is key minus query",
            .reference = "arXiv:1803.02155, section 3.2",
            .example = "length=4&dim=8",
            .revision = 1,
            PE_LIST(parameter, PARAMETERS),
            PE_LIST(tensor, TENSORS),
        },
    .plan = plan,
    .prepare = prepare,
    .fill = fill,
    .release = release,
    .streamable = true,
};
