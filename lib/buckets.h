/* Logarithmic buckets of distances, decided in integers: double logarithms misplace distances
 * that lie on a boundary. */
#ifndef PE_BUCKETS_H
#define PE_BUCKETS_H

#include <stdbool.h>
#include <stdint.h>

#define PE_BUCKETS_MAX  1024    /* of either scheme */
#define PE_DISTANCE_MAX 1048576 /* where the last bucket may begin */

/* Compare a^p with b^t · c^(p-t), 0 <= t <= p <= PE_BUCKETS_MAX, all bases at most 2^21:
 * negative, 0 or positive. */
int pe_compare_powers(uint32_t a, uint32_t b, uint32_t c, unsigned p, unsigned t);

/* T5 (arXiv:1910.10683; Mesh TensorFlow's _relative_position_bucket): distances 0 … exact-1
 * have buckets of their own; bucket exact + t, t < steps, begins at the least n with
 * (n/exact)^steps >= (max/exact)^t. ret_starts[t] is that n, for t = 0 … steps-1.
 * 1 <= exact < max. */
void pe_buckets_t5(uint32_t exact, uint32_t max, unsigned steps, uint32_t *ret_starts);

/* DeBERTa (arXiv:2006.03654; make_log_bucket_position): a magnitude a > mid has bucket
 * mid + t, where t is the least with (a/mid)^(mid-1) <= (last/mid)^t. ret_ends[t] is the
 * greatest a of bucket mid + t, for t = 0 … mid-1. 1 <= mid < last. */
void pe_buckets_deberta(uint32_t mid, uint32_t last, uint32_t *ret_ends);

#endif
