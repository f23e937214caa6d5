/* T5's relative position bias: a learned number for each head and each bucket of distances. */
#include "kernels/by_size.h"
#include "numerics/buckets.h"
#include "numerics/dtype.h"
#include "relative/relative.h"
#include "trained/bias_table.h"

#include <string.h>

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
    PE_BIAS_TENSOR,
    {"bucket", "[queries, keys] or [queries+keys-1]", "the row of the table"},
    PE_DISTANCE_TENSOR,
};

#define BIAS_PRICE    12
#define BUCKETS_PRICE 2e5

typedef struct t5 {
    pe_toeplitz bias, bucket;
    pe_weights weights;
    uint32_t num_buckets, max_distance;
    bool bidirectional;

    /* prepared */
    unsigned char *table; /* [num_buckets, heads] */
    pe_t5_buckets buckets;
} t5;

static void check_buckets(const pe_values *values, const t5 *state, pe_error *reterr)
{
    const bool both = state->bidirectional;
    const uint32_t buckets = state->num_buckets, exact = (both ? buckets / 2 : buckets) / 2;
    if (both && (buckets % 2 != 0 || buckets < 4))
        pe_refuse_value(
            values, "num_buckets", reterr,
            "an even number, at least 4, with bidirectional=true, which gives half of "
            "the buckets to each direction");
    else if (state->max_distance <= exact)
        pe_refuse_value(values, "max_distance", reterr,
                        "above %u, since the first %u distances have buckets of their own",
                        exact, exact);
}

static void read(const pe_values *values, void *ret_state, pe_plan *plan, pe_error *reterr)
{
    t5 *state = ret_state;
    const pe_weights *weights = &state->weights;
    state->weights = pe_weights_read(values);
    state->num_buckets = (uint32_t)pe_get_integer(values, "num_buckets");
    state->max_distance = (uint32_t)pe_get_integer(values, "max_distance");
    state->bidirectional = pe_get_flag(values, "bidirectional");
    if (!pe_trained_check(weights, "table", 2, (const uint64_t[]){0, 0}, reterr))
        return;
    pe_relative relative = pe_relative_read(values, reterr);
    uint64_t heads = (uint64_t)pe_get_integer(values, "heads");
    check_buckets(values, state, reterr);
    state->bias =
        pe_relative_add(plan, &relative, "bias", weights->dtype, heads, 0, BIAS_PRICE);
    state->bucket = pe_relative_add(plan, &relative, "bucket", PE_I32, 0, 0, BIAS_PRICE);
    pe_relative_add_distance(plan, &relative);
    plan->held = pe_bias_table_bytes(weights, state->num_buckets, heads);
    plan->price += BUCKETS_PRICE + pe_bias_table_price(weights, state->num_buckets, heads);
}

/* Write the buckets of consecutive distances. */
static void write_buckets(const void *context, size_t head, int64_t first, uint64_t count,
                          void *dst)
{
    (void)head;
    const t5 *state = context;
    int32_t *to = dst;
    for (uint64_t t = 0; t < count; t++)
        to[t] = (int32_t)pe_t5_bucket(&state->buckets, first + (int64_t)t);
}

/* Look up elements of `size` bytes, a constant after inlining: that of row rows[t] each time.
 */
static inline __attribute__((always_inline)) void gather_elements(const t5 *state, size_t head,
                                                                  const int32_t *rows,
                                                                  size_t count, size_t size,
                                                                  unsigned char *dst)
{
    const unsigned char *column = state->table + head * size;
    for (size_t t = 0; t < count; t++)
        memcpy(dst + t * size, column + (size_t)rows[t] * state->bias.heads * size, size);
}

/* Write a head's biases at consecutive distances. */
static void write_biases(const void *context, size_t head, int64_t first, uint64_t count,
                         void *dst)
{
    enum { PART = 256 };
    const t5 *state = context;
    const size_t size = pe_dtype_size(state->weights.dtype);
    const int32_t *kept = (const int32_t *)(const void *)state->bucket.table;
    unsigned char *to = dst;
    int32_t numbers[PART];
    for (uint64_t part; count > 0; count -= part, first += (int64_t)part, to += part * size) {
        part = count < PART ? count : PART;
        if (!kept)
            write_buckets(state, head, first, part, numbers);
        const int32_t *rows =
            kept ? kept + (first - pe_relative_first(&state->bucket.relative)) : numbers;
        PE_BY_SIZE(size, gather_elements(state, head, rows, (size_t)part, SIZE, to))
    }
}

static bool prepare(void *context, pe_pace *pace)
{
    t5 *state = context;
    pe_t5_buckets_init(&state->buckets, state->num_buckets, state->max_distance,
                       state->bidirectional);
    state->table =
        pe_bias_table(&state->weights, state->num_buckets, state->bias.heads, (dd){1, 0}, pace);
    return state->table && pe_toeplitz_init(&state->bucket, write_buckets, state, pace) &&
           pe_toeplitz_init(&state->bias, write_biases, state, pace);
}

static void fill(const void *context, pe_window window, void *dst)
{
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
            .summary = "A learned bias of the attention scores for each head and each bucket"
                       " of distances; buckets grow logarithmically. Without a set, the "
                       "biases are random, drawn from seed.",
            .family = "relative",
            .keywords =
                "buckets, relative_attention_bias, mT5, Flan, UL2, LongT5, MPNet, log buckets",
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
    PE_HOOKS(t5),
    PE_APPLIES(PE_BIAS("bias")),
};
