/* Logarithmic buckets of distances. Integers decide the boundaries, since logarithms in double
 * put some distances on the wrong side. */
#ifndef PE_BUCKETS_H
#define PE_BUCKETS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PE_BUCKETS_MAX  1024    /* buckets of either scheme */
#define PE_DISTANCE_MAX 1048576 /* the largest distance at which a last bucket may begin */

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
