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

typedef struct pe_bias {
    pe_bias_function *function;
    const void *source; /* of the function */
    pe_relative relative;
    pe_dtype dtype;
    bool causal;
    double masked; /* the entry of keys after the query, if causal */
    pe_toeplitz toeplitz;
} pe_bias;

/* Prepare to fill `tensor`, which pe_relative_add planned with width 0. The caller has set
 * function and source, which must stay where they are, as the pe_bias itself must, and `masked`
 * and `causal`. False if memory ran out or the runner cancelled it; then there is nothing to
 * free. */
bool pe_bias_init(pe_bias *bias, const pe_tensor *tensor, size_t heads, double element_price,
                  pe_pace *pace);
void pe_bias_done(pe_bias *bias);

/* How many distances, from 0 to the farthest, a scheme with `mask` keeps values of; 0 if there
 * are more than 2^20. */
uint64_t pe_bias_kept(const pe_values *values);

#endif
