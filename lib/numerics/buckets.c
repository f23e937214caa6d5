/* Bucket boundaries by comparing powers of integers. */
#include "numerics/buckets.h"

#include "numerics/fixed.h"
#include "numerics/limbs.h"

#include <math.h>

#define LIMBS (PE_BUCKETS_MAX * 21 / 64 + 1) /* a power is at most 2^(21 PE_BUCKETS_MAX) */

/* A natural number, least significant limb first. */
typedef struct natural {
    uint64_t limbs[LIMBS];
    size_t count;
} natural;

static void multiply_natural(natural *number, uint32_t factor)
{
    uint64_t carry = pe_limbs_mul_small(number->limbs, number->count, factor);
    if (carry)
        number->limbs[number->count++] = carry;
}

static int compare_naturals(const natural *a, const natural *b)
{
    if (a->count != b->count)
        return a->count < b->count ? -1 : 1;
    return pe_limbs_compare(a->limbs, b->limbs, a->count);
}

/* Whether a^p is less than (-1), equal to (0) or greater than (1) b^t · c^(p-t), for
 * 0 <= t <= p <= PE_BUCKETS_MAX and bases of at most 2^21. */
static int compare_powers(uint32_t a, uint32_t b, uint32_t c, unsigned p, unsigned t)
{
    natural left = {.limbs = {1}, .count = 1}, right = {.limbs = {1}, .count = 1};
    for (unsigned i = 0; i < p; i++) {
        multiply_natural(&left, a);
        multiply_natural(&right, i < t ? b : c);
    }
    return compare_naturals(&left, &right);
}

/* The least n in (low, high] with n^p >= b^t · c^(p-t), which must hold for n = high and not
 * for n = low. The search begins at the n that double logarithms give, and takes steps of
 * doubling length from there until the interval is small enough to halve. */
static uint32_t least_power(uint32_t b, uint32_t c, unsigned p, unsigned t, uint32_t low,
                            uint32_t high)
{
    double guess = c * exp(log((double)b / c) * t / p);
    uint32_t probe = guess >= high ? high - 1 : guess <= low + 1 ? low + 1 : (uint32_t)guess;
    for (uint32_t reach = 1; high - low > 1; reach *= 2) {
        if (compare_powers(probe, b, c, p, t) >= 0) {
            high = probe;
            probe = probe - low > reach ? probe - reach : low + (probe - low) / 2;
        } else {
            low = probe;
            probe = high - probe > reach ? probe + reach : probe + (high - probe) / 2;
        }
    }
    return high;
}

/* T5 (arXiv:1910.10683; Mesh TensorFlow's _relative_position_bucket): each distance
 * 0 … exact-1 has a bucket of its own; bucket exact + t, t < steps, begins at the least n with
 * (n/exact)^steps >= (max/exact)^t. ret_starts[t] receives that n, for t = 0 … steps-1.
 * 1 <= exact < max. */
static void find_starts(uint32_t exact, uint32_t max, unsigned steps, uint32_t *ret_starts)
{
    ret_starts[0] = exact;
    for (unsigned t = 1; t < steps; t++)
        ret_starts[t] = least_power(max, exact, steps, t, exact, max);
}

void pe_t5_buckets_init(pe_t5_buckets *ret_buckets, uint32_t buckets, uint32_t max_distance,
                        bool bidirectional)
{
    uint32_t one_way = bidirectional ? buckets / 2 : buckets;
    ret_buckets->bidirectional = bidirectional;
    ret_buckets->exact = one_way / 2;
    ret_buckets->steps = one_way - ret_buckets->exact;
    find_starts(ret_buckets->exact, max_distance, ret_buckets->steps, ret_buckets->starts);
}

size_t pe_t5_bucket(const pe_t5_buckets *buckets, int64_t distance)
{
    int64_t n = -distance; /* query minus key */
    size_t bucket = 0;
    if (buckets->bidirectional && n < 0) {
        bucket = buckets->exact + buckets->steps;
        n = -n;
    }
    if (n < buckets->exact)
        return bucket + (size_t)(n < 0 ? 0 : n);
    size_t low = 0,
           high = buckets->steps; /* search for the last bucket that begins at or before n */
    while (high - low > 1) {
        size_t middle = (low + high) / 2;
        if (buckets->starts[middle] <= n)
            low = middle;
        else
            high = middle;
    }
    return bucket + buckets->exact + low;
}

/* DeBERTa (arXiv:2006.03654; make_log_bucket_position): a magnitude a > mid has bucket
 * mid + t, where t is the least with (a/mid)^(mid-1) <= (last/mid)^t. ret_ends[t] receives
 * the greatest a of bucket mid + t, for t = 0 … mid-1. 1 <= mid < last. */
static void find_ends(uint32_t mid, uint32_t last, uint32_t *ret_ends)
{
    unsigned power = mid - 1;
    ret_ends[0] = mid;
    for (unsigned t = 1; t < mid; t++) {
        /* the least a above the bucket has a^power > last^t mid^(power-t) */
        uint32_t least = least_power(last, mid, power, t, mid, last);
        bool equal = compare_powers(least, last, mid, power, t) == 0;
        ret_ends[t] = equal ? least : least - 1;
    }
}

/* The sign of (mid-1)·log(a/mid) - t·log(last/mid); 0 if they are equal but for the error. */
static int compare_steps(uint32_t mid, uint32_t last, uint32_t a, int64_t t)
{
    static const pe_fixed tiny = {0, {{0, 1ULL << 42, 0, 0}}}; /* 2^-150 */
    pe_fixed base = pe_fixed_log2(mid);
    pe_fixed left = pe_fixed_mul_integer(pe_fixed_sub(pe_fixed_log2(a), base), mid - 1);
    pe_fixed right = pe_fixed_mul_integer(pe_fixed_sub(pe_fixed_log2(last), base), t);
    if (pe_fixed_compare(left, pe_fixed_add(right, tiny)) > 0)
        return 1;
    return pe_fixed_compare(pe_fixed_add(left, tiny), right) < 0 ? -1 : 0;
}

/* The same t for a magnitude beyond the last bucket, where it is at least mid unless mid is 1:
 * last < a < 2^32. Logarithms of 256 bits decide; quotients within 2^-150 of an integer count
 * as that integer. */
static int64_t find_far_bucket(uint32_t mid, uint32_t last, uint32_t a)
{
    const double error_bound = 1e-6; /* far above the error of double logarithms */
    double steps = log((double)a / mid) / log((double)last / mid) * (mid - 1);
    double nearest = rint(steps);
    if (fabs(steps - nearest) > error_bound)
        return (int64_t)ceil(steps);
    return (int64_t)nearest + (compare_steps(mid, last, a, (int64_t)nearest) > 0);
}

void pe_deberta_buckets_init(pe_deberta_buckets *ret_buckets, int64_t buckets,
                             int64_t max_relative_positions, bool clamp)
{
    ret_buckets->mid = buckets > 0 ? buckets / 2 : 0;
    ret_buckets->last = max_relative_positions - 1;
    ret_buckets->clamp = clamp;
    if (buckets > 0)
        find_ends((uint32_t)ret_buckets->mid, (uint32_t)ret_buckets->last, ret_buckets->ends);
}

int64_t pe_deberta_bucket(const pe_deberta_buckets *buckets, int64_t relative)
{
    int64_t magnitude = relative < 0 ? -relative : relative;
    if (buckets->mid == 0 || magnitude <= buckets->mid)
        return relative;
    if (magnitude > buckets->last && !buckets->clamp) {
        int64_t bucket =
            buckets->mid + find_far_bucket((uint32_t)buckets->mid, (uint32_t)buckets->last,
                                           (uint32_t)magnitude);
        return relative < 0 ? -bucket : bucket;
    }
    if (magnitude > buckets->last)
        magnitude = buckets->last;
    /* search for the first logarithmic bucket that ends at or after the magnitude */
    int64_t low = 0, high = buckets->mid - 1;
    while (low < high) {
        int64_t middle = (low + high) / 2;
        if (buckets->ends[middle] >= magnitude)
            high = middle;
        else
            low = middle + 1;
    }
    return relative < 0 ? -(buckets->mid + low) : buckets->mid + low;
}
