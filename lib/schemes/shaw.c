/* Shaw's relative position representations: a vector for keys and one for values at each
 * clipped distance. */
#include "numerics/dtype.h"
#include "trained/gather.h"
#include "waves/distance_wave.h"

#include <stdio.h>
#include <stdlib.h>

#define SINUSOID_BASE 10000

static const char *const SOURCES[] = {"learned", "sinusoidal", NULL};
enum source { LEARNED, SINUSOIDAL };

static const char *const DIFFERENCES[] = {"key_minus_query", "query_minus_key", NULL};
enum difference { KEY_MINUS_QUERY, QUERY_MINUS_KEY };

static const pe_parameter PARAMETERS[] = {
    PE_RELATIVE_PARAMETERS,
    {PE_TRAINED_DIM("keys"),
     .help = "number of columns of a vector; an even number with source=sinusoidal"},
    {.name = "max_distance",
     .type = PE_INTEGER,
     .default_text = "16",
     .minimum = 0,
     .maximum = PE_RELATIVE_MAX,
     .unit = "positions",
     .help = "larger distances are clipped to it"},
    {.name = "min_distance",
     .type = PE_INTEGER,
     .minimum = -PE_RELATIVE_MAX,
     .maximum = 0,
     .unit = "positions",
     .help = "smaller distances are clipped to it; by default -max_distance"},
    {.name = "source",
     .type = PE_CHOICE,
     .default_text = "learned",
     .choices = SOURCES,
     .help = "learned: two tables; sinusoidal: sines and cosines of the clipped distance, "
             "interleaved, with base 10000"},
    {.name = "difference",
     .type = PE_CHOICE,
     .choices = DIFFERENCES,
     .help =
         "what is clipped and counts the rows of the tables; by default key_minus_query, as "
         "in the paper"},
    {.name = "keys_only",
     .type = PE_BOOLEAN,
     .help = "true: nothing is added to the values; by default something is"},
    PE_TRAINED_PARAMETERS("keys and values [max_distance-min_distance+1, dim]; with "
                          "keys_only=true only keys"),
};

static const pe_preset PRESETS[] = {
    {"wav2vec2_bert",
     "Wav2Vec2-BERT and SeamlessM4T v2: 64 keys to the left, 8 to the right, keys alone",
     {"min_distance", "-64", "max_distance", "8", "keys_only", "true", NULL}},
    {"speecht5",
     "the encoder of SpeechT5: 320 rows by query minus key, keys alone",
     {"min_distance", "-160", "max_distance", "159", "difference", "query_minus_key",
      "keys_only", "true", NULL}},
};

static const pe_tensor_help TENSORS[] = {
    {"keys", "[queries, keys, dim] or [distances, dim]", "is added to the keys"},
    {"values", "[queries, keys, dim] or [distances, dim]", "is added to the values"},
    {"index", "[queries, keys]",
     "clip(j - i, min_distance, max_distance) - min_distance, the row of both tables; only "
     "with "
     "form=compact"},
};

static bool is_keys_only(const pe_values *values)
{
    return pe_is_present(values, "keys_only") && pe_flag(values, "keys_only");
}

/* Whether tables are indexed by query minus key. */
static bool is_turned(const pe_values *values)
{
    return pe_is_present(values, "difference") &&
           pe_choice(values, "difference") == QUERY_MINUS_KEY;
}

/* The least clipped distance. */
static int64_t lowest(const pe_values *values)
{
    return pe_is_present(values, "min_distance") ? pe_integer(values, "min_distance")
                                                 : -pe_integer(values, "max_distance");
}

/* How many clipped distances there are. */
static uint64_t distances_of(const pe_values *values)
{
    return (uint64_t)(pe_integer(values, "max_distance") - lowest(values)) + 1;
}

/* Check the rules of source=sinusoidal. */
static void check_source(const pe_values *values, pe_error *reterr)
{
    char given[32];
    if (pe_choice(values, "source") != SINUSOIDAL)
        return;
    snprintf(given, sizeof given, "%lld", (long long)pe_integer(values, "dim"));
    if (pe_values_set(values))
        pe_error_add(reterr, PE_OUT_OF_RANGE, "parameters",
                     pe_value_of(values, "parameters")->text,
                     "left out with source=sinusoidal, which has no trained tensors");
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
    size_t tables = is_keys_only(values) ? 1 : 2;
    if (tables == 2)
        pe_trained_check(values, "values", 2, table, reterr);
    check_source(values, reterr);
    matrix.compact = false;
    for (size_t t = 0; t < tables; t++)
        if (relative.compact)
            pe_plan_add(ret_plan, TENSORS[t].name, dtype, 2, table);
        else
            pe_relative_add(ret_plan, &relative, TENSORS[t].name, dtype, 0, dim);
    if (relative.compact)
        pe_relative_add(ret_plan, &matrix, "index", PE_I32, 0, 0);
}

typedef struct shaw {
    int64_t low, high; /* of the difference */
    size_t dim;
    pe_dtype dtype;
    bool sinusoidal, compact;
    bool turned; /* whether the difference is query minus key, the negated distance */
    pe_distance_wave wave;
    pe_toeplitz index;
    struct shaw_table { /* keys, values */
        const struct shaw *state;
        pe_trained trained;
        pe_toeplitz toeplitz;
    } tables[2];
} shaw;

/* Write rows of a learned table: from its first row on, or from its last one back. */
static void write_rows(const void *context, uint64_t row, uint64_t count, void *dst)
{
    const struct shaw_table *table = context;
    pe_trained_fill(&table->trained, table->state->dtype, row, count, dst);
}

static void write_rows_back(const void *context, uint64_t row, uint64_t count, void *dst)
{
    const struct shaw_table *table = context;
    const shaw *state = table->state;
    uint64_t last = (uint64_t)(state->high - state->low);
    size_t vector_bytes = state->dim * pe_dtype_size(state->dtype);
    for (uint64_t r = 0; r < count; r++)
        write_rows(table, last - row - r, 1, (unsigned char *)dst + r * vector_bytes);
}

/* Write the vectors of a table at consecutive distances. */
static void write_vectors(const void *context, size_t head, int64_t first, uint64_t count,
                          void *dst)
{
    const struct shaw_table *table = context;
    const shaw *state = table->state;
    size_t vector_bytes = state->dim * pe_dtype_size(state->dtype);
    if (state->sinusoidal)
        pe_distance_wave_write(&state->wave, head, first, count, dst);
    else if (state->turned)
        pe_write_clipped(write_rows_back, table, -state->high, -state->low, vector_bytes, first,
                         count, dst);
    else
        pe_write_clipped(write_rows, table, state->low, state->high, vector_bytes, first, count,
                         dst);
}

/* Write rows of a table in its own order. */
static void write_table(const struct shaw_table *table, pe_window window, void *dst)
{
    const shaw *state = table->state;
    if (state->sinusoidal) /* the wave of a compact form goes by the difference */
        pe_distance_wave_write(&state->wave, 0, state->low + (int64_t)window.first, window.rows,
                               dst);
    else
        write_rows(table, window.first, window.rows, dst);
}

/* Prepare the sinusoids of all differences. False if memory ran out. */
static bool prepare_wave(shaw *state)
{
    bool turned = state->turned && !state->compact;
    return pe_distance_wave_init(&state->wave, state->dtype, state->dim, SINUSOID_BASE,
                                 PE_WAVE_INTERLEAVED, turned ? -state->high : state->low,
                                 turned ? -state->low : state->high, turned ? -1 : 1);
}

/* Write the rows of the tables that belong to consecutive distances. */
static void write_index(const void *context, size_t head, int64_t first, uint64_t count,
                        void *dst)
{
    (void)head;
    const shaw *state = context;
    int32_t *to = dst;
    for (uint64_t t = 0; t < count; t++) {
        int64_t difference = first + (int64_t)t;
        difference = state->turned ? -difference : difference;
        difference = difference < state->low ? state->low : difference;
        difference = difference > state->high ? state->high : difference;
        to[t] = (int32_t)(difference - state->low);
    }
}

static void release(void *context)
{
    shaw *state = context;
    if (state) {
        pe_distance_wave_done(&state->wave);
        pe_toeplitz_done(&state->index);
        for (size_t i = 0; i < 2; i++)
            pe_toeplitz_done(&state->tables[i].toeplitz);
    }
    free(state);
}

/* The price of an element of a vector. */
static double vector_price(const pe_values *values)
{
    return pe_choice(values, "source") == SINUSOIDAL
               ? 2
               : pe_trained_price(values, &pe_relative_recipe);
}

static double price(const pe_values *values, const pe_plan *plan)
{
    uint64_t dim = (uint64_t)pe_integer(values, "dim");
    double tables = is_keys_only(values) ? 1 : 2;
    double sum =
        30 * (double)dim + tables * pe_trained_check_price(values, distances_of(values) * dim);
    if (pe_choice(values, "form") == 0)
        sum += tables * pe_toeplitz_price(values, &plan->tensors[0], 1, vector_price(values));
    return sum;
}

static double element_price(const pe_values *values, const pe_plan *plan, size_t tensor)
{
    if (plan->tensors[tensor].dtype == PE_I32)
        return 4;
    return pe_toeplitz_element_price(values, &plan->tensors[tensor], 1, vector_price(values));
}

/* Prepare the tensor `keys` (index 0) or `values` (1). False: memory ran out, or a problem was
 * added. */
static bool prepare_table(shaw *state, size_t index, const pe_values *values,
                          const pe_plan *plan, const pe_relative *relative, pe_pace *pace)
{
    struct shaw_table *table = &state->tables[index];
    const char *name = plan->tensors[index].name;
    table->state = state;
    if (!state->sinusoidal) {
        table->trained = pe_trained_of(values, name, state->dim, &pe_relative_recipe);
        pe_trained_check_magnitude(pace, &table->trained, &pe_relative_recipe,
                                   distances_of(values), 1);
    }
    return pace->reterr->status == PE_OK &&
           (state->compact ||
            pe_toeplitz_init(&table->toeplitz, relative, &plan->tensors[index], 1,
                             write_vectors, table, vector_price(values), pace));
}

static void *prepare(const pe_values *values, const pe_plan *plan, const pe_runner *runner,
                     pe_error *reterr)
{
    pe_pace pace = pe_pace_of(values, plan, runner, reterr);
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
    state->turned = is_turned(values);
    if (state->sinusoidal && !prepare_wave(state))
        goto fail;
    if (state->compact &&
        !pe_toeplitz_init(&state->index, &matrix, &plan->tensors[plan->count - 1], 1,
                          write_index, state, 4, &pace))
        goto fail;
    if (prepare_table(state, 0, values, plan, &relative, &pace) &&
        (is_keys_only(values) || prepare_table(state, 1, values, plan, &relative, &pace)))
        return state;
fail:
    release(state);
    return NULL;
}

static void fill(const pe_values *values, const pe_plan *plan, const void *context,
                 pe_window window, void *dst)
{
    (void)values;
    const shaw *state = context;
    if (plan->tensors[window.tensor].dtype == PE_I32)
        pe_toeplitz_fill(&state->index, window, dst);
    else if (state->compact)
        write_table(&state->tables[window.tensor], window, dst);
    else
        pe_toeplitz_fill(&state->tables[window.tensor].toeplitz, window, dst);
}

static const pe_application APPLICATIONS[] = {
    {.kind = PE_APPLY_CONTRACT,
     .input = "query",
     .axes = "queries,dim",
     .result = "key_scores",
     .result_axes = "queries,keys",
     .tensors = {"keys"},
     .entry_axes = "queries,keys,dim",
     .formula = "key_scores[i, j] = query[i] . keys[i, j]"},
    {.kind = PE_APPLY_COMBINE,
     .input = "weights",
     .axes = "queries,keys",
     .result = "value_sums",
     .result_axes = "queries,dim",
     .tensors = {"values"},
     .entry_axes = "queries,keys,dim",
     .formula = "value_sums[i] = sum of weights[i, j] * values[i, j] over j"},
};

const pe_scheme pe_scheme_shaw = {
    .info =
        {
            .name = "shaw",
            .title = "Shaw's relative position representations",
            .summary = "Vectors that are added to keys and values, one for each distance up to "
                       "a limit. Learned vectors are random, drawn from seed, until parameters "
                       "names an uploaded set.",
            .family = "relative",
            .formula = "keys[i, j] = keys_table[clip(j - i, min, max) - min], values likewise",
            .convention = "distance is key minus query, as in the paper; with "
                          "difference=query_minus_key the tables are indexed by i - j",
            .reference = "arXiv:1803.02155, section 3.2",
            .example = "length=4&dim=8",
            .revision = 2,
            PE_LIST(parameter, PARAMETERS),
            PE_LIST(preset, PRESETS),
            PE_LIST(tensor, TENSORS),
        },
    .plan = plan,
    .prepare = prepare,
    .fill = fill,
    .release = release,
    .price = price,
    .element_price = element_price,
    .applications = APPLICATIONS,
    .application_count = PE_COUNT(APPLICATIONS),
    .streamable = true,
};
