/* DeBERTa: indices of relative positions for disentangled attention, and the table that they
 * point into. */
#include "numerics/buckets.h"
#include "relative/relative.h"
#include "trained/trained.h"

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
    PE_DISTANCE_TENSOR,
};
enum tensor { C2P, P2C, RELATIVE, TABLE, DISTANCE };

#define INDEX_PRICE   12
#define BUCKETS_PRICE 2e5

typedef struct deberta {
    pe_toeplitz indices[TABLE];
    pe_trained table;
    pe_dtype dtype;
    int64_t position_buckets, farthest;
    int64_t span; /* half of the rows of the table */
    bool paper, clamp;

    /* prepared */
    pe_deberta_buckets buckets;
} deberta;

static void check_buckets(const pe_values *values, const deberta *state, pe_error *reterr)
{
    int64_t buckets = state->position_buckets;
    if (buckets == 1)
        pe_refuse_value(values, "position_buckets", reterr, "at least 2, or -1 for no buckets");
    else if (buckets > 0 && state->farthest - 1 <= buckets / 2)
        pe_refuse_value(
            values, "max_relative_positions", reterr,
            "at least %lld, since the first %lld distances have buckets of their own",
            (long long)(buckets / 2 + 2), (long long)(buckets / 2));
}

static void read(const pe_values *values, void *ret_state, pe_plan *plan, pe_error *reterr)
{
    deberta *state = ret_state;
    const pe_weights weights = pe_weights_read(values);
    *state = (deberta){.dtype = weights.dtype,
                       .position_buckets = pe_get_integer(values, "position_buckets"),
                       .farthest = pe_get_integer(values, "max_relative_positions"),
                       .paper = pe_get_choice(values, "p2c") == PAPER,
                       .clamp = pe_get_choice(values, "beyond") == CLAMP};
    state->span = state->position_buckets > 0 ? state->position_buckets : state->farthest;
    uint64_t shape[2] = {2 * (uint64_t)state->span, 0};
    if (!pe_trained_check(&weights, "table", 2, shape, reterr))
        return;
    pe_relative relative = pe_relative_read(values, reterr);
    check_buckets(values, state, reterr);
    for (size_t i = 0; i < TABLE; i++)
        state->indices[i] =
            pe_relative_add(plan, &relative, TENSORS[i].name, PE_I32, 0, 0, INDEX_PRICE);
    shape[1] = (uint64_t)pe_get_integer(values, "dim");
    state->table = pe_trained_find(&weights, "table", shape[1], &pe_relative_distribution);
    pe_plan_add(plan, "table", weights.dtype, 2, shape);
    pe_plan_price(plan, pe_trained_price(&weights, &pe_relative_distribution));
    pe_relative_add_distance(plan, &relative);
    plan->price += BUCKETS_PRICE + pe_trained_check_price(&weights, shape[0] * shape[1]);
}

static int64_t find_bucket(const deberta *state, int64_t relative)
{
    return pe_deberta_bucket(&state->buckets, relative);
}

/* The row of the table for a bucket. */
static int64_t find_index(const deberta *state, int64_t bucket)
{
    int64_t span = state->span, index = bucket + span;
    return index < 0 ? 0 : index > 2 * span - 1 ? 2 * span - 1 : index;
}

static void write_indices(const deberta *state, int sign, int64_t first, uint64_t count,
                          int32_t *dst)
{
    for (uint64_t t = 0; t < count; t++)
        dst[t] = (int32_t)find_index(state, find_bucket(state, sign * (first + (int64_t)t)));
}

static void write_c2p(const void *context, size_t head, int64_t first, uint64_t count,
                      void *dst)
{
    (void)head;
    write_indices(context, -1, first, count, dst);
}

static void write_p2c(const void *context, size_t head, int64_t first, uint64_t count,
                      void *dst)
{
    const deberta *state = context;
    (void)head;
    write_indices(state, state->paper ? 1 : -1, first, count, dst);
}

static void write_relative(const void *context, size_t head, int64_t first, uint64_t count,
                           void *dst)
{
    (void)head;
    for (uint64_t t = 0; t < count; t++)
        ((int32_t *)dst)[t] = (int32_t)find_bucket(context, -(first + (int64_t)t));
}

static bool prepare(void *context, pe_pace *pace)
{
    static const pe_write_distances writers[] = {write_c2p, write_p2c, write_relative};
    deberta *state = context;
    pe_deberta_buckets_init(&state->buckets, state->position_buckets, state->farthest,
                            state->clamp);
    pe_trained_check_magnitude(pace, &state->table, 2 * (uint64_t)state->span, 1, state->dtype);
    bool good = pace->reterr->status == PE_OK;
    for (size_t i = 0; good && i < TABLE; i++)
        good = pe_toeplitz_init(&state->indices[i], writers[i], state, pace);
    return good;
}

static void fill(const void *context, pe_window window, void *dst)
{
    const deberta *state = context;
    if (window.tensor < TABLE)
        pe_toeplitz_fill(&state->indices[window.tensor], window, dst);
    else if (window.tensor == TABLE)
        pe_trained_fill(&state->table, state->dtype, window.first, window.rows, dst);
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
            .summary = "Indices of relative positions for disentangled attention, and the "
                       "table that they point into. Without a set, the table is random, "
                       "drawn from seed.",
            .family = "relative",
            .keywords = "disentangled attention, log buckets, DeBERTa-v2, DeBERTa-v3",
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
    PE_HOOKS(deberta),
    PE_LIST(application, APPLICATIONS),
};
