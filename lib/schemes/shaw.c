/* Shaw's relative position representations: a vector for keys and one for values at each
 * clipped distance. */
#include "trained/trained.h"
#include "waves/distance_wave.h"

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

typedef struct shaw {
    struct shaw_table { /* keys, values */
        const struct shaw *state;
        pe_trained trained;
        pe_toeplitz toeplitz; /* where expanded */
    } tables[2];
    pe_toeplitz index; /* where compact */
    pe_dtype dtype;
    size_t dim, count; /* count: of the tables, 1 with keys_only, else 2 */
    int64_t low, high; /* of the difference */
    bool sinusoidal, compact;
    bool turned; /* whether the difference is query minus key, the negated distance */

    /* prepared */
    pe_distance_wave wave;
} shaw;

/* Check the rules of source=sinusoidal. */
static void check_source(const pe_values *values, const shaw *state, pe_error *reterr)
{
    if (!state->sinusoidal)
        return;
    if (pe_values_set(values))
        pe_refuse_value(values, "set", reterr,
                        "left out with source=sinusoidal, which has no trained tensors");
    if (state->dim % 2 != 0)
        pe_refuse_value(values, "dim", reterr, "an even number with source=sinusoidal");
}

static shaw read_state(const pe_values *values)
{
    shaw state = {
        .dtype = pe_requested_dtype(values),
        .dim = (size_t)pe_get_integer(values, "dim"),
        .count = pe_get_flag(values, "keys_only") ? 1 : 2,
        .high = pe_get_integer(values, "max_distance"),
        .sinusoidal = pe_get_choice(values, "source") == SINUSOIDAL,
        .turned = pe_is_present(values, "difference") &&
                  pe_get_choice(values, "difference") == QUERY_MINUS_KEY,
    };
    state.low = pe_is_present(values, "min_distance") ? pe_get_integer(values, "min_distance")
                                                      : -state.high;
    return state;
}

/* How many clipped distances there are. */
static uint64_t count_distances(const shaw *state)
{
    return (uint64_t)(state->high - state->low) + 1;
}

/* Plan the tensor `keys` or `values`. */
static void plan_table(shaw *state, size_t index, const pe_weights *weights,
                       const pe_relative *relative, pe_plan *plan)
{
    const char *name = TENSORS[index].name;
    const uint64_t distances = count_distances(state), shape[2] = {distances, state->dim};
    double price = state->sinusoidal ? 2 : pe_trained_price(weights, &pe_relative_distribution);
    struct shaw_table *table = &state->tables[index];
    if (relative->compact) {
        pe_plan_add(plan, name, state->dtype, 2, shape);
        pe_plan_price(plan, price);
    } else {
        table->toeplitz =
            pe_relative_add(plan, relative, name, state->dtype, 0, state->dim, price);
    }
    table->trained = pe_trained_find(weights, name, state->dim, &pe_relative_distribution);
    plan->price += pe_trained_check_price(weights, distances * state->dim);
}

static void read(const pe_values *values, void *ret_state, pe_plan *plan, pe_error *reterr)
{
    shaw *state = ret_state;
    *state = read_state(values);
    const pe_weights weights = pe_weights_read(values);
    const uint64_t distances = count_distances(state), shape[2] = {distances, state->dim};
    if (!pe_trained_check(&weights, "keys", 2, (const uint64_t[]){distances, 0}, reterr))
        return;
    pe_relative relative = pe_relative_read(values, reterr), matrix = relative;
    if (state->count == 2)
        pe_trained_check(&weights, "values", 2, shape, reterr);
    check_source(values, state, reterr);
    state->compact = relative.compact;
    pe_plan_settle(plan, "min_distance", (double)state->low);
    matrix.compact = false;
    for (size_t t = 0; t < state->count; t++)
        plan_table(state, t, &weights, &relative, plan);
    plan->price += PE_DISTANCE_COLUMN_PRICE * (double)state->dim;
    if (relative.compact) {
        state->index = pe_relative_add(plan, &matrix, "index", PE_I32, 0, 0, 4);
        pe_plan_price(plan, 4);
    }
}

/* Write rows of a learned table: from its first row on, or from its last one back. */
static void write_rows(const void *context, uint64_t row, uint64_t count, void *dst)
{
    const struct shaw_table *table = context;
    pe_trained_fill(&table->trained, table->state->dtype, row, count, dst);
}

static size_t vector_bytes(const shaw *state)
{
    return state->dim * pe_dtype_size(state->dtype);
}

static void write_rows_back(const void *context, uint64_t row, uint64_t count, void *dst)
{
    const struct shaw_table *table = context;
    const shaw *state = table->state;
    uint64_t last = count_distances(state) - 1;
    for (uint64_t r = 0; r < count; r++)
        write_rows(table, last - row - r, 1, (unsigned char *)dst + r * vector_bytes(state));
}

/* Write the vectors of a table at consecutive distances. */
static void write_vectors(const void *context, size_t head, int64_t first, uint64_t count,
                          void *dst)
{
    const struct shaw_table *table = context;
    const shaw *state = table->state;
    size_t bytes = vector_bytes(state);
    if (state->sinusoidal)
        pe_distance_wave_write(&state->wave, head, first, count, dst);
    else if (state->turned)
        pe_write_clipped(write_rows_back, table, -state->high, -state->low, bytes, first, count,
                         dst);
    else
        pe_write_clipped(write_rows, table, state->low, state->high, bytes, first, count, dst);
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
static bool prepare_wave(shaw *state, pe_pace *pace)
{
    int64_t low = state->low, high = state->high;
    bool turned = state->turned && !state->compact;
    return pe_distance_wave_init(&state->wave, state->dtype, state->dim, SINUSOID_BASE,
                                 PE_WAVE_INTERLEAVED, turned ? -high : low,
                                 turned ? -low : high, turned ? -1 : 1, pace);
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

/* Prepare the tensor `keys` (index 0) or `values` (1). False: memory ran out, or a problem was
 * added. */
static bool prepare_table(shaw *state, size_t index, pe_pace *pace)
{
    struct shaw_table *table = &state->tables[index];
    table->state = state;
    if (!state->sinusoidal)
        pe_trained_check_magnitude(pace, &table->trained, count_distances(state), 1,
                                   state->dtype);
    return pace->reterr->status == PE_OK &&
           (state->compact || pe_toeplitz_init(&table->toeplitz, write_vectors, table, pace));
}

static bool prepare(void *context, pe_pace *pace)
{
    shaw *state = context;
    bool good = !state->sinusoidal || prepare_wave(state, pace);
    if (good && state->compact)
        good = pe_toeplitz_init(&state->index, write_index, state, pace);
    for (size_t t = 0; good && t < state->count; t++)
        good = prepare_table(state, t, pace);
    return good;
}

static void fill(const void *context, pe_window window, void *dst)
{
    const shaw *state = context;
    if (window.tensor == state->count)
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
            .summary = "Vectors that are added to keys and values, one for each distance up "
                       "to a limit. Without a set, learned vectors are random, drawn from "
                       "seed.",
            .family = "relative",
            .keywords = "relative key, clipped distance, Music Transformer, BERT relative_key, "
                        "Conformer",
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
    PE_HOOKS(shaw),
    PE_LIST(application, APPLICATIONS),
    .errors = PE_ERRORS_OF_ANGLES,
};
