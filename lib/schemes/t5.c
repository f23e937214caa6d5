/* T5's relative position bias: a learned number for each head and each bucket of distances. */
#include "numerics/buckets.h"
#include "trained/gather.h"

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
     .help = "number of buckets, the rows of the table; an even number if bidirectional"},
    {.name = "max_distance",
     .type = PE_INTEGER,
     .default_text = "128",
     .minimum = 2,
     .maximum = PE_DISTANCE_MAX,
     .unit = "positions",
     .help = "all distances from this one on share the last bucket"},
    {.name = "bidirectional",
     .type = PE_BOOLEAN,
     .default_text = "true",
     .help =
         "true: half of the buckets are for keys after the query; false, for decoders: such "
         "keys have bucket 0"},
    PE_TRAINED_PARAMETERS("table [num_buckets, heads]"),
};

static const pe_tensor_help TENSORS[] = {
    {"bias", "[heads, queries, keys] or [heads, queries+keys-1]",
     "is added to the attention scores"},
    {"bucket", "[queries, keys] or [queries+keys-1]", "the row of the table"},
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
                     "an even number, at least 4, with bidirectional=true, which gives half of "
                     "the buckets to each direction");
    } else if (max_distance <= exact) {
        snprintf(given, sizeof given, "%lld", (long long)max_distance);
        pe_error_add(reterr, PE_OUT_OF_RANGE, "max_distance", given,
                     "above %u, since the first %u distances have buckets of their own", exact,
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
    pe_t5_buckets buckets;
} t5;

static size_t bucket_of(const pe_gather *gather, int64_t distance)
{
    const t5 *state = gather->state;
    return pe_t5_bucket(&state->buckets, distance);
}

#define BIAS_PRICE    12
#define BUCKETS_PRICE 2e5

static double price(const pe_values *values, const pe_plan *plan)
{
    uint64_t heads = (uint64_t)pe_integer(values, "heads");
    return BUCKETS_PRICE +
           pe_gather_price(values, (uint64_t)pe_integer(values, "num_buckets"), heads) +
           pe_toeplitz_price(values, &plan->tensors[0], heads, BIAS_PRICE) +
           pe_toeplitz_price(values, &plan->tensors[1], 1, BIAS_PRICE);
}

static double element_price(const pe_values *values, const pe_plan *plan, size_t tensor)
{
    size_t heads = tensor == 0 ? (size_t)pe_integer(values, "heads") : 1;
    return tensor == 2
               ? 2
               : pe_toeplitz_element_price(values, &plan->tensors[tensor], heads, BIAS_PRICE);
}

static void release(void *context)
{
    t5 *state = context;
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
    pe_pace pace = pe_pace_of(values, plan, runner, reterr);
    t5 *state = calloc(1, sizeof *state);
    if (!state)
        return NULL;
    size_t heads = (size_t)pe_integer(values, "heads");
    pe_relative relative = pe_relative_read(values, reterr);
    pe_t5_buckets_init(&state->buckets, (uint32_t)pe_integer(values, "num_buckets"),
                       (uint32_t)pe_integer(values, "max_distance"),
                       pe_flag(values, "bidirectional"));
    if (!pe_gather_init(&state->gather, &pace, "table",
                        (size_t)pe_integer(values, "num_buckets"), heads, &pe_relative_recipe,
                        (dd){1, 0}))
        goto fail;
    state->gather.row_of = bucket_of;
    state->gather.state = state;
    if (!pe_toeplitz_init(&state->bucket, &relative, &plan->tensors[1], 1, pe_gather_write_rows,
                          &state->gather, BIAS_PRICE, &pace))
        goto fail;
    state->gather.kept = (const int32_t *)(const void *)state->bucket.table;
    state->gather.kept_first = pe_relative_first(&relative);
    if (pe_toeplitz_init(&state->bias, &relative, &plan->tensors[0], heads, pe_gather_write,
                         &state->gather, BIAS_PRICE, &pace))
        return state;
fail:
    release(state);
    return NULL;
}

static void fill(const pe_values *values, const pe_plan *plan, const void *context,
                 pe_window window, void *dst)
{
    (void)values, (void)plan;
    const t5 *state = context;
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
            .summary =
                "A learned bias of the attention scores for each head and each bucket of "
                "distances; buckets grow logarithmically. The biases are random, drawn "
                "from seed, until parameters names an uploaded set.",
            .family = "relative",
            .formula =
                "bias[h, i, j] = table[bucket(i - j), h]; a distance n below max_exact has "
                "a bucket of its own, another has max_exact + floor(ln(n/max_exact) / "
                "ln(max_distance/max_exact) * (buckets - max_exact)), at most the last",
            .convention =
                "T5 as in Mesh TensorFlow and Hugging Face, heads first; buckets are for "
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
    .price = price,
    .element_price = element_price,
    PE_APPLIES(PE_BIAS("bias")),
    .streamable = true,
};
