/* Writing numbers that depend on the distance, a few dozen at a time. */
#include "relative/bias.h"

#include "kernels/by_size.h"
#include "kernels/intervals.h"
#include "numerics/dtype.h"

#include <string.h>

const char *const pe_masks[] = {"symmetric", "causal", NULL};

void pe_masked_write(pe_dtype dtype, double entry, uint64_t count, void *dst)
{
    double entries[PE_BIAS_PART];
    unsigned char *to = dst;
    for (size_t i = 0; i < PE_BIAS_PART; i++)
        entries[i] = entry;
    for (size_t part; count > 0; count -= part, to += part * pe_dtype_size(dtype)) {
        part = count < PE_BIAS_PART ? (size_t)count : PE_BIAS_PART;
        pe_round_row(dtype, entries, part, to);
    }
}

/* Consecutive distances of a head. */
typedef struct bias_run {
    const pe_bias *bias;
    size_t head;
    uint64_t distance;
} bias_run;

/* A pe_settle for the entries of a bias_run. */
static void settle_entry(const void *context, size_t i, void *dst)
{
    const bias_run *own = context;
    own->bias->function(own->bias->source, own->head, own->distance + i, dst);
}

/* Write the entries at `count` consecutive distances. */
static void write_growing(const pe_bias *bias, size_t head, uint64_t distance, uint64_t count,
                          unsigned char *to)
{
    const size_t size = pe_dtype_size(bias->dtype);
    bias_run own = {bias, head, distance};
    double low[PE_BIAS_PART], high[PE_BIAS_PART];
    if (!pe_dtype_is_short(bias->dtype)) {
        for (uint64_t i = 0; i < count; i++)
            settle_entry(&own, (size_t)i, to + i * size);
        return;
    }
    for (size_t part; count > 0; count -= part, own.distance += part, to += part * size) {
        part = count < PE_BIAS_PART ? (size_t)count : PE_BIAS_PART;
        bias->intervals(bias->source, head, own.distance, part, low, high);
        pe_round_intervals(bias->dtype, low, high, part, settle_entry, &own, to);
    }
}

/* Copy elements in reverse order. */
static void copy_reversed(const unsigned char *from, uint64_t count, size_t size,
                          unsigned char *restrict to)
{
    PE_BY_SIZE(size, for (uint64_t i = 0; i < count; i++)
                         memcpy(to + i * SIZE, from + (count - 1 - i) * SIZE, SIZE))
}

/* Write the entries at distances -farthest, 1 - farthest …, which are those of the magnitudes.
 */
static void write_falling(const pe_bias *bias, size_t head, uint64_t farthest, uint64_t count,
                          unsigned char *to)
{
    const size_t size = pe_dtype_size(bias->dtype);
    unsigned char part[PE_BIAS_PART * sizeof(dd)];
    for (size_t some; count > 0; count -= some, farthest -= some, to += some * size) {
        some = count < PE_BIAS_PART ? (size_t)count : PE_BIAS_PART;
        write_growing(bias, head, farthest - some + 1, some, part);
        copy_reversed(part, some, size, to);
    }
}

/* A pe_write_distances whose source is a pe_bias. An entry is computed once for both signs of
 * its distance. */
static void write_distances(const void *context, size_t head, int64_t first, uint64_t count,
                            void *dst)
{
    const pe_bias *bias = context;
    const size_t size = pe_dtype_size(bias->dtype);
    const uint64_t before = pe_count_distances(first, count, 0);
    const uint64_t seen = bias->causal ? pe_count_distances(first, count, 1) : count;
    const uint64_t after = seen - before;
    unsigned char *middle = (unsigned char *)dst + before * size;
    write_growing(bias, head, first < 0 ? 0 : (uint64_t)first, after, middle);
    pe_masked_write(bias->dtype, bias->masked, count - seen, middle + after * size);
    if (before == 0)
        return;
    uint64_t mirrored = after > 0 ? after - 1 : 0; /* distances 1, 2 … have been written */
    if (mirrored > before)
        mirrored = before;
    copy_reversed(middle + size, mirrored, size, middle - mirrored * size);
    write_falling(bias, head, (uint64_t)-first, before - mirrored, dst);
}

void pe_bias_add(pe_plan *plan, const pe_relative *relative, const char *name, pe_dtype dtype,
                 uint64_t heads, double entry_price, pe_bias *ret_bias)
{
    ret_bias->toeplitz = pe_relative_add(plan, relative, name, dtype, heads, 0, entry_price);
    ret_bias->dtype = dtype;
}

bool pe_bias_init(pe_bias *bias, pe_bias_function *function, pe_bias_intervals *intervals,
                  const void *source, pe_pace *pace)
{
    bias->function = function;
    bias->intervals = intervals;
    bias->source = source;
    return pe_toeplitz_init(&bias->toeplitz, write_distances, bias, pace);
}

#define KEPT_MAX ((uint64_t)1 << 20)

uint64_t pe_bias_kept(const pe_relative *relative, bool causal)
{
    uint64_t count = pe_relative_farthest(relative, causal) + 1;
    return count <= KEPT_MAX ? count : 0;
}
