/* Logarithmic buckets of distances. Integers decide the boundaries, since logarithms in double
 * put some distances on the wrong side. */
#ifndef PE_BUCKETS_H
#define PE_BUCKETS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PE_BUCKETS_MAX  1024    /* buckets of either scheme */
#define PE_DISTANCE_MAX 1048576 /* the largest distance at which a last bucket may begin */

/* Whether a^p is less than (-1), equal to (0) or greater than (1) b^t · c^(p-t), for
 * 0 <= t <= p <= PE_BUCKETS_MAX and bases of at most 2^21. */
int pe_compare_powers(uint32_t a, uint32_t b, uint32_t c, unsigned p, unsigned t);

/* T5 (arXiv:1910.10683; Mesh TensorFlow's _relative_position_bucket): each distance
 * 0 … exact-1 has a bucket of its own; bucket exact + t, t < steps, begins at the least n with
 * (n/exact)^steps >= (max/exact)^t. ret_starts[t] receives that n, for t = 0 … steps-1.
 * 1 <= exact < max. */
void pe_buckets_t5(uint32_t exact, uint32_t max, unsigned steps, uint32_t *ret_starts);

/* The buckets of all distances. */
typedef struct pe_t5_buckets {
    bool bidirectional;              /* half of the buckets are for keys after the query */
    uint32_t exact, steps;           /* buckets of one distance, and logarithmic buckets */
    uint32_t starts[PE_BUCKETS_MAX]; /* the first distance of each logarithmic bucket */
} pe_t5_buckets;

/* Find the starts of `buckets` buckets, half of which are for each direction if bidirectional.
 */
void pe_t5_buckets_init(pe_t5_buckets *ret_buckets, uint32_t buckets, uint32_t max_distance,
                        bool bidirectional);

/* The bucket of key minus query. */
size_t pe_t5_bucket(const pe_t5_buckets *buckets, int64_t distance);

/* DeBERTa (arXiv:2006.03654; make_log_bucket_position): a magnitude a > mid has bucket
 * mid + t, where t is the least with (a/mid)^(mid-1) <= (last/mid)^t. ret_ends[t] receives
 * the greatest a of bucket mid + t, for t = 0 … mid-1. 1 <= mid < last. */
void pe_buckets_deberta(uint32_t mid, uint32_t last, uint32_t *ret_ends);

/* The same t for a magnitude beyond the last bucket, where it is at least mid unless mid is 1:
 * last < a < 2^32. Logarithms of 256 bits decide; quotients within 2^-150 of an integer count
 * as that integer. */
int64_t pe_bucket_deberta_beyond(uint32_t mid, uint32_t last, uint32_t a);

/* The buckets of all relative positions. */
typedef struct pe_deberta_buckets {
    int64_t mid;  /* distances up to this one have buckets of their own; 0: no buckets */
    int64_t last; /* the largest distance of the last bucket */
    bool clamp;   /* larger distances count as that one */
    uint32_t ends[PE_BUCKETS_MAX]; /* the last distance of each logarithmic bucket */
} pe_deberta_buckets;

/* Find the ends of `buckets` buckets of either sign, none for 0 and below, of which the last
 * begins before max_relative_positions. */
void pe_deberta_buckets_init(pe_deberta_buckets *ret_buckets, int64_t buckets,
                             int64_t max_relative_positions, bool clamp);

/* The bucket of a relative position, query minus key. */
int64_t pe_deberta_bucket(const pe_deberta_buckets *buckets, int64_t relative);

#endif
