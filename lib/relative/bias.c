/* Writing numbers that depend on the distance, a few dozen at a time. */
#include "relative/bias.h"

#include "numerics/dtype.h"

#define PART 64 /* numbers rounded at a time */

const char *const pe_masks[] = {"symmetric", "causal", NULL};

void pe_masked_write(pe_dtype dtype, double entry, uint64_t count, void *dst)
{
    double entries[PART];
    unsigned char *to = dst;
    for (size_t i = 0; i < PART; i++)
        entries[i] = entry;
    for (size_t part; count > 0; count -= part, to += part * pe_dtype_size(dtype)) {
        part = count < PART ? (size_t)count : PART;
        pe_round_row(dtype, entries, part, to);
    }
}

/* A pe_write_distances whose source is a pe_bias. */
static void write(const void *context, size_t head, int64_t first, uint64_t count, void *dst)
{
    const pe_bias *bias = context;
    size_t size = pe_dtype_size(bias->dtype);
    uint64_t seen = bias->causal ? pe_count_distances(first, count, 1) : count;
    unsigned char *to = dst;
    for (uint64_t done = 0; done < seen; done++, to += size) {
        int64_t distance = first + (int64_t)done;
        bias->function(bias->source, head, (uint64_t)(distance < 0 ? -distance : distance), to);
    }
    pe_masked_write(bias->dtype, bias->masked, count - seen, to);
}

void pe_bias_add(pe_plan *plan, const pe_relative *relative, const char *name, pe_dtype dtype,
                 uint64_t heads, double entry_price, pe_bias *ret_bias)
{
    ret_bias->toeplitz = pe_relative_add(plan, relative, name, dtype, heads, 0, entry_price);
    ret_bias->dtype = dtype;
}

bool pe_bias_init(pe_bias *bias, pe_bias_function *function, const void *source, pe_pace *pace)
{
    bias->function = function;
    bias->source = source;
    return pe_toeplitz_init(&bias->toeplitz, write, bias, pace);
}

void pe_bias_done(pe_bias *bias)
{
    pe_toeplitz_done(&bias->toeplitz);
}

#define KEPT_MAX ((uint64_t)1 << 20)

uint64_t pe_bias_kept(const pe_relative *relative, bool causal)
{
    uint64_t count = pe_relative_farthest(relative, causal) + 1;
    return count <= KEPT_MAX ? count : 0;
}
