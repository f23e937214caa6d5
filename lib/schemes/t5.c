/* T5's relative position bias: a learned number for each head and bucket of distances. */
#include "../buckets.h"
#include "../gather.h"

#include <stdio.h>
#include <stdlib.h>

static const pe_parameter PARAMETERS[] = {
    PE_RELATIVE_PARAMETERS,
    {PE_HEADS_PARAMETER, .required = true, .stored = "table", .stored_axis = 1,
     .help = "number of heads"},
    {.name = "num_buckets",
     .type = PE_INTEGER,
     .stored = "table",
     .stored_axis = 0,
     .default_text = "32",
     .minimum = 2,
     .maximum = PE_BUCKETS_MAX,
     .unit = "buckets",
     .help = "rows of the table; a multiple of 2 where bidirectional"},
    {.name = "max_distance",
     .type = PE_INTEGER,
     .default_text = "128",
     .minimum = 2,
     .maximum = PE_DISTANCE_MAX,
     .unit = "positions",
     .help = "distances from here on share the last bucket"},
    {.name = "bidirectional",
     .type = PE_BOOLEAN,
     .default_text = "true",
     .help = "half of the buckets are for keys after the query; false, for decoders: these "
             "have bucket 0"},
    PE_TRAINED_PARAMETERS("table [num_buckets, heads]"),
};

static const pe_tensor_help TENSORS[] = {
    {"bias", "[heads, queries, keys] or [heads, queries+keys-1]",
     "what is added to the attention scores"},
    {"bucket", "[queries, keys] or [queries+keys-1]", "row of the table"},
    {"distance", "[queries+keys-1]", "key minus query; only with form=compact"},
};

/* Buckets of one direction. */
static uint32_t one_way(const pe_values *values)
{
    uint32_t buckets = (uint32_t)pe_integer(values, "num_buckets");
    return pe_flag(values, "bidirectional") ? buckets / 2 : buckets;
}

static void check_buckets(const pe_values *values, pe_error *reterr)
{
    char given[32];
    int64_t buckets = pe_integer(values, "num_buckets");
    int64_t max_distance = pe_integer(values, "max_distance");
    uint32_t exact = one_way(values) / 2;
    if (pe_flag(values, "bidirectional") && (buckets % 2 != 0 || buckets < 4)) {
        snprintf(given, sizeof given, "%lld", (long long)buckets);
        pe_error_add(reterr, PE_OUT_OF_RANGE, "num_buckets", given,
                     "an even number from 4 on, half of it for either direction; or "
                     "bidirectional=false");
    } else if (max_distance <= exact) {
        snprintf(given, sizeof given, "%lld", (long long)max_distance);
        pe_error_add(reterr, PE_OUT_OF_RANGE, "max_distance", given,
                     "above %u: the first %u distances have buckets of their own", exact,
                     exact);
    }
}

static void plan(const pe_values *values, pe_plan *ret_plan, pe_error *reterr)
{
    if (!pe_trained_check(values, "table", 2, (const uint64_t[]){0, 0}, reterr))
        return;
    pe_relative relative = pe_relative_read(values, reterr);
    uint64_t heads = (uint64_t)pe_integer(values, "heads");
    check_buckets(values, reterr);
    pe_relative_add(ret_plan, &relative, "bias", pe_requested_dtype(values), heads, 0);
    pe_relative_add(ret_plan, &relative, "bucket", PE_I32, 0, 0);
    pe_relative_add_distance(ret_plan, &relative);
    ret_plan->held =
        pe_gather_bytes(values, (uint64_t)pe_integer(values, "num_buckets"), heads);
}

typedef struct t5 {
    pe_gather gather;
    pe_toeplitz bias, bucket;
    bool bidirectional;
    uint32_t exact, steps;
    uint32_t starts[PE_BUCKETS_MAX];
} t5;

static size_t bucket_of(const pe_gather *gather, int64_t distance)
{
    const t5 *state = gather->of;
    int64_t n = -distance; /* query minus key */
    size_t bucket = 0;
    if (state->bidirectional && n < 0) {
        bucket = state->exact + state->steps;
        n = -n;
    }
    if (n < state->exact)
        return bucket + (size_t)(n < 0 ? 0 : n);
    size_t low = 0, high = state->steps; /* the last bucket that begins at or before n */
    while (high - low > 1) {
        size_t middle = (low + high) / 2;
        if (state->starts[middle] <= n)
            low = middle;
        else
            high = middle;
    }
    return bucket + state->exact + low;
}

static void release(void *of)
{
    t5 *state = of;
    if (state) {
        pe_toeplitz_done(&state->bias);
        pe_toeplitz_done(&state->bucket);
        pe_gather_done(&state->gather);
    }
    free(state);
}

static void *prepare(const pe_values *values, const pe_plan *plan, const pe_runner *runner,
                     pe_error *reterr)
{
    (void)runner;
    t5 *state = calloc(1, sizeof *state);
    if (!state)
        return NULL;
    size_t heads = (size_t)pe_integer(values, "heads");
    pe_relative relative = pe_relative_read(values, reterr);
    state->bidirectional = pe_flag(values, "bidirectional");
    state->exact = one_way(values) / 2;
    state->steps = one_way(values) - state->exact;
    pe_buckets_t5(state->exact, (uint32_t)pe_integer(values, "max_distance"), state->steps,
                  state->starts);
    if (!pe_gather_init(&state->gather, values, "table",
                        (size_t)pe_integer(values, "num_buckets"), heads, &PE_RELATIVE_RECIPE,
                        (dd){1, 0}, reterr))
        goto fail;
    state->gather.row_of = bucket_of;
    state->gather.of = state;
    if (pe_toeplitz_init(&state->bias, &relative, &plan->tensors[0], heads, pe_gather_write,
                         &state->gather) &&
        pe_toeplitz_init(&state->bucket, &relative, &plan->tensors[1], 1, pe_gather_write_rows,
                         &state->gather))
        return state;
fail:
    release(state);
    return NULL;
}

static void fill(const pe_values *values, const pe_plan *plan, const void *of, pe_window window,
                 void *dst)
{
    (void)values, (void)plan;
    const t5 *state = of;
    if (window.tensor < 2)
        pe_toeplitz_fill(window.tensor == 0 ? &state->bias : &state->bucket, window, dst);
    else
        pe_relative_fill_distance(&state->bias.relative, window, dst);
}

const pe_scheme pe_scheme_t5 = {
    .info =
        {
            .name = "t5",
            .title = "T5 relative position bias",
            .summary = "A learned bias of the attention scores for each head and bucket of "
                       "distances, which grow logarithmically.",
            .family = "relative",
            .formula = "bias[h, i, j] = table[bucket(i - j), h]; a distance n has its own "
                       "bucket below max_exact, then max_exact + floor(ln(n/max_exact) / "
                       "ln(max_distance/max_exact) * (buckets - max_exact)), at most the last",
            .convention =
                "Mesh TensorFlow's and Hugging Face's T5, heads first; buckets are of "
                "query minus key, the tensor distance is key minus query",
            .reference = "arXiv:1910.10683, section 2.1",
            .example = "length=4&heads=8",
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
