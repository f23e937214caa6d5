/* Matrices [heads, queries, keys] of numbers that depend on the head and the magnitude of the
 * distance alone, and masks of the keys after a query. */
#ifndef PE_BIAS_H
#define PE_BIAS_H

#include "relative/relative.h"

/* The row of a parameter table that says which keys a query sees. */
extern const char *const pe_masks[]; /* "symmetric", "causal" */
typedef enum pe_mask { PE_SYMMETRIC, PE_CAUSAL } pe_mask;
#define PE_MASK_PARAMETER                                                                      \
    {                                                                                          \
        .name = "mask", .type = PE_CHOICE, .default_text = "symmetric", .choices = pe_masks,   \
        .help = "symmetric: keys after the query have the bias of keys as far before it; "     \
                "causal: their bias is -inf"                                                   \
    }

/* Write a masked entry `count` times. */
void pe_masked_write(pe_dtype dtype, double entry, uint64_t count, void *dst);

/* Write the entry of a head at a distance of this magnitude, rounded once. */
typedef void pe_bias_function(const void *source, size_t head, uint64_t distance, void *dst);

/* Compute an interval around each of a head's entries at `count` consecutive distances, at most
 * PE_BIAS_PART: from ret_low to ret_high, which are finite. */
typedef void pe_bias_intervals(const void *source, size_t head, uint64_t distance, size_t count,
                               double *ret_low, double *ret_high);

#define PE_BIAS_PART 64

typedef struct pe_bias {
    pe_toeplitz toeplitz;
    pe_dtype dtype;
    bool causal;
    double masked; /* the entry of keys after the query, if causal */

    /* set by pe_bias_init */
    pe_bias_function *function;
    pe_bias_intervals *intervals;
    const void *source; /* of the function */
} pe_bias;

/* Plan the tensor [heads, queries, keys], and what it costs if an entry has this price. The
 * caller sets causal and masked. */
void pe_bias_add(pe_plan *plan, const pe_relative *relative, const char *name, pe_dtype dtype,
                 uint64_t heads, double entry_price, pe_bias *ret_bias);

/* Prepare to fill the tensor. Entries of short dtypes are rounded from `intervals`; `function`
 * gives all others, and those whose interval has ends that round differently. The source must
 * stay where it is, as the pe_bias itself must. False if memory ran out or the runner cancelled
 * it. */
bool pe_bias_init(pe_bias *bias, pe_bias_function *function, pe_bias_intervals *intervals,
                  const void *source, pe_pace *pace);

/* How many distances, from 0 to the farthest, a scheme keeps values of; 0 if there are more
 * than 2^20. */
uint64_t pe_bias_kept(const pe_relative *relative, bool causal);

#endif
