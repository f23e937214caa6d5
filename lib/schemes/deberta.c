/* DeBERTa: indices of relative positions for disentangled attention, and the table that they
 * point into. */
#include "numerics/buckets.h"
#include "trained/gather.h"

#include <stdio.h>
#include <stdlib.h>

static const char *const READINGS[] = {"code", "paper", NULL};
enum reading { CODE, PAPER };
static const char *const BEYONDS[] = {"clamp", "continue", NULL};
enum beyond { CLAMP, CONTINUE };

static const pe_parameter PARAMETERS[] = {
    PE_RELATIVE_PARAMETERS,
    {PE_TRAINED_DIM("table"), .help = "number of columns of the table"},
    {.name = "position_buckets",
     .type = PE_INTEGER,
     .default_text = "-1",
     .minimum = -1,
     .maximum = PE_BUCKETS_MAX,
     .unit = "buckets",
     .help =
         "number of buckets of either sign: distances up to half of it have a bucket of their "
         "own, larger ones share logarithmic buckets; -1 or 0: no buckets"},
    {.name = "max_relative_positions",
     .type = PE_INTEGER,
     .default_text = "512",
     .minimum = 1,
     .maximum = PE_DISTANCE_MAX,
     .unit = "positions",
     .help = "M: the last bucket begins before M; without buckets the table has a row for each "
             "distance up to M"},
    {.name = "beyond",
     .type = PE_CHOICE,
     .default_text = "clamp",
     .choices = BEYONDS,
     .help = "buckets of distances of M and more; clamp: that of M-1, as in Microsoft's "
             "DeBERTa (row 1 of the table for negative ones); continue: further logarithmic "
             "ones, as in Hugging Face's transformers (row 0)"},
    {.name = "p2c",
     .type = PE_CHOICE,
     .default_text = "code",
     .choices = READINGS,
     .help = "position-to-content index; code: the same as content-to-position; paper: that of "
             "the opposite distance"},
    PE_TRAINED_PARAMETERS("table [2*span, dim]"),
};

static const pe_tensor_help TENSORS[] = {
    {"c2p_index", "[queries, keys] or [queries+keys-1]",
     "clip(relative_position + span, 0, 2*span-1), the row of the table for content to "
     "position"},
    {"p2c_index", "[queries, keys] or [queries+keys-1]",
     "the row of the table for position to content"},
    {"relative_position", "[queries, keys] or [queries+keys-1]",
     "query minus key, or its bucket if there are buckets"},
    {"table", "[2*span, dim]", "span is position_buckets, or max_relative_positions"},
    {"distance", "[queries+keys-1]", "key minus query; only with form=compact"},
};
enum tensor { C2P, P2C, RELATIVE, TABLE, DISTANCE };

/* Half of the rows of the table. */
static int64_t span_of(const pe_values *values)
{
    int64_t buckets = pe_integer(values, "position_buckets");
    return buckets > 0 ? buckets : pe_integer(values, "max_relative_positions");
}

static void check_buckets(const pe_values *values, pe_error *reterr)
{
    char given[32];
    int64_t buckets = pe_integer(values, "position_buckets");
    int64_t max = pe_integer(values, "max_relative_positions");
    if (buckets == 1) {
        pe_error_add(reterr, PE_OUT_OF_RANGE, "position_buckets", "1",
                     "at least 2, or -1 for no buckets");
    } else if (buckets > 0 && max - 1 <= buckets / 2) {
        snprintf(given, sizeof given, "%lld", (long long)max);
        pe_error_add(reterr, PE_OUT_OF_RANGE, "max_relative_positions", given,
                     "at least %lld, since the first %lld distances have buckets of their own",
                     (long long)(buckets / 2 + 2), (long long)(buckets / 2));
    }
}

static void plan(const pe_values *values, pe_plan *ret_plan, pe_error *reterr)
{
    uint64_t rows = 2 * (uint64_t)span_of(values);
    const uint64_t shape[2] = {rows, 0};
    if (!pe_trained_check(values, "table", 2, shape, reterr))
        return;
    pe_relative relative = pe_relative_read(values, reterr);
    check_buckets(values, reterr);
    pe_relative_add(ret_plan, &relative, "c2p_index", PE_I32, 0, 0);
    pe_relative_add(ret_plan, &relative, "p2c_index", PE_I32, 0, 0);
    pe_relative_add(ret_plan, &relative, "relative_position", PE_I32, 0, 0);
    pe_plan_add(ret_plan, "table", pe_requested_dtype(values), 2,
                (uint64_t[]){rows, (uint64_t)pe_integer(values, "dim")});
    pe_relative_add_distance(ret_plan, &relative);
}

typedef struct deberta {
    pe_toeplitz indices[3];
    pe_trained table;
    pe_deberta_buckets buckets;
    int64_t span;
    bool paper;
} deberta;

static int64_t bucket_of(const deberta *state, int64_t relative)
{
    return pe_deberta_bucket(&state->buckets, relative);
}

/* The row of the table for a bucket. */
static int64_t index_of(const deberta *state, int64_t bucket)
{
    int64_t index = bucket + state->span;
    return index < 0 ? 0 : index > 2 * state->span - 1 ? 2 * state->span - 1 : index;
}

static void write_c2p(const void *context, size_t head, int64_t first, uint64_t count,
                      void *dst)
{
    (void)head;
    for (uint64_t t = 0; t < count; t++)
        ((int32_t *)dst)[t] =
            (int32_t)index_of(context, bucket_of(context, -(first + (int64_t)t)));
}

static void write_p2c(const void *context, size_t head, int64_t first, uint64_t count,
                      void *dst)
{
    const deberta *state = context;
    if (!state->paper) {
        write_c2p(context, head, first, count, dst);
        return;
    }
    for (uint64_t t = 0; t < count; t++)
        ((int32_t *)dst)[t] =
            (int32_t)index_of(context, bucket_of(context, first + (int64_t)t));
}

static void write_relative(const void *context, size_t head, int64_t first, uint64_t count,
                           void *dst)
{
    (void)head;
    for (uint64_t t = 0; t < count; t++)
        ((int32_t *)dst)[t] = (int32_t)bucket_of(context, -(first + (int64_t)t));
}

#define INDEX_PRICE   12
#define BUCKETS_PRICE 2e5

static double price(const pe_values *values, const pe_plan *plan)
{
    double sum = BUCKETS_PRICE + pe_trained_check_price(values, plan->tensors[TABLE].elements);
    for (size_t i = 0; i < TABLE; i++)
        sum += pe_toeplitz_price(values, &plan->tensors[i], 1, INDEX_PRICE);
    return sum;
}

static double element_price(const pe_values *values, const pe_plan *plan, size_t tensor)
{
    if (tensor == TABLE)
        return pe_trained_price(values, &pe_relative_recipe);
    if (tensor > TABLE)
        return 2;
    return pe_toeplitz_element_price(values, &plan->tensors[tensor], 1, INDEX_PRICE);
}

static void release(void *context)
{
    deberta *state = context;
    for (size_t i = 0; state && i < 3; i++)
        pe_toeplitz_done(&state->indices[i]);
    free(state);
}

static void *prepare(const pe_values *values, const pe_plan *plan, const pe_runner *runner,
                     pe_error *reterr)
{
    static const pe_write_distances writers[] = {write_c2p, write_p2c, write_relative};
    pe_pace pace = pe_pace_of(values, plan, runner, reterr);
    deberta *state = calloc(1, sizeof *state);
    if (!state)
        return NULL;
    pe_relative relative = pe_relative_read(values, reterr);
    int64_t buckets = pe_integer(values, "position_buckets");
    state->span = span_of(values);
    state->paper = pe_choice(values, "p2c") == PAPER;
    pe_deberta_buckets_init(&state->buckets, buckets,
                            pe_integer(values, "max_relative_positions"),
                            pe_choice(values, "beyond") == CLAMP);
    state->table =
        pe_trained_of(values, "table", plan->tensors[TABLE].shape[1], &pe_relative_recipe);
    pe_trained_check_magnitude(&pace, &state->table, &pe_relative_recipe,
                               plan->tensors[TABLE].shape[0], 1);
    bool ready = reterr->status == PE_OK;
    for (size_t i = 0; ready && i < 3; i++)
        ready = pe_toeplitz_init(&state->indices[i], &relative, &plan->tensors[i], 1,
                                 writers[i], state, INDEX_PRICE, &pace);
    if (ready)
        return state;
    release(state);
    return NULL;
}

static void fill(const pe_values *values, const pe_plan *plan, const void *context,
                 pe_window window, void *dst)
{
    (void)values;
    const deberta *state = context;
    if (window.tensor < TABLE)
        pe_toeplitz_fill(&state->indices[window.tensor], window, dst);
    else if (window.tensor == TABLE)
        pe_trained_fill(&state->table, plan->tensors[TABLE].dtype, window.first, window.rows,
                        dst);
    else
        pe_relative_fill_distance(&state->indices[0].relative, window, dst);
}

static const pe_application APPLICATIONS[] = {
    {.kind = PE_APPLY_GATHER,
     .input = "query",
     .axes = "queries,dim",
     .result = "content_to_position",
     .result_axes = "queries,keys",
     .tensors = {"table", "c2p_index"},
     .entry_axes = "queries,keys",
     .formula = "content_to_position[i, j] = query[i] . table[c2p_index[i, j]]"},
    {.kind = PE_APPLY_GATHER,
     .input = "key",
     .axes = "keys,dim",
     .result = "position_to_content",
     .result_axes = "keys,queries",
     .tensors = {"table", "p2c_index"},
     .entry_axes = "keys,queries",
     .formula = "position_to_content[j, i] = key[j] . table[p2c_index[i, j]]"},
};

const pe_scheme pe_scheme_deberta = {
    .info =
        {
            .name = "deberta",
            .title = "DeBERTa's relative positions",
            .summary =
                "Indices of relative positions for disentangled attention, and the table "
                "that they point into. The table is random, drawn from seed, until "
                "parameters names an uploaded set.",
            .family = "relative",
            .formula =
                "c2p_index[i, j] = clip(bucket(i - j) + span, 0, 2*span-1); a distance d "
                "above mid = position_buckets/2 has bucket mid + ceil(ln(a/mid) / "
                "ln((M-1)/mid) * (mid-1)), a = min(d, M-1), or a = d with beyond=continue",
            .convention = "Microsoft's DeBERTa v2 and v3, with beyond=continue Hugging Face's: "
                          "relative positions are query minus key, the tensor distance is key "
                          "minus query",
            .reference = "arXiv:2006.03654, section 3.1",
            .example = "length=4&dim=8&max_relative_positions=16",
            .revision = 1,
            PE_LIST(parameter, PARAMETERS),
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
