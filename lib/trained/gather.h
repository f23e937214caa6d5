/* Biases that are looked up in a trained table, which has one number for each row and head. */
#ifndef PE_GATHER_H
#define PE_GATHER_H

#include "numerics/dd.h"
#include "relative/relative.h"
#include "trained/trained.h"

typedef struct pe_gather {
    pe_dtype dtype;
    size_t rows, heads;
    unsigned char *table; /* [rows, heads], rounded to the dtype */
    /* The row of the table for a distance; set by the caller. */
    size_t (*row_of)(const struct pe_gather *gather, int64_t distance);
    const void *state; /* the caller's, for row_of */
    /* The rows for all distances from kept_first on, if the caller keeps them; else NULL. */
    const int32_t *kept;
    int64_t kept_first;
} pe_gather;

/* Read or draw the tensor `table` [rows, heads], multiply it by `factor` and round it to the
 * requested dtype once. False if memory ran out or a problem was added to the pace's error.
 */
bool pe_gather_init(pe_gather *ret_gather, const pe_weights *weights, size_t rows, size_t heads,
                    dd factor, pe_pace *pace);

/* Two functions for pe_write_distances; `source` is a pe_gather. The first writes a head's
 * biases at `count` consecutive distances. The second writes which rows of the table these come
 * from, as i32, and does not look at `head`. */
void pe_gather_write(const void *source, size_t head, int64_t first, uint64_t count, void *dst);
void pe_gather_write_rows(const void *source, size_t head, int64_t first, uint64_t count,
                          void *dst);

/* The price of pe_gather_init. */
double pe_gather_price(const pe_weights *weights, uint64_t rows, uint64_t heads);

/* The bytes of a table of these extents, for pe_plan.held. */
uint64_t pe_gather_bytes(const pe_weights *weights, uint64_t rows, uint64_t heads);

/* The distribution of most relative schemes: normal(0, 0.02). */
extern const pe_distribution pe_relative_distribution;

#endif
