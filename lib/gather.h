/* Biases that are gathered from a trained table: one number for each head and row. */
#ifndef PE_GATHER_H
#define PE_GATHER_H

#include "dd.h"
#include "relative.h"
#include "trained.h"

typedef struct pe_gather {
    pe_dtype dtype;
    size_t rows, heads;
    unsigned char *table; /* [rows, heads], rounded */
    /* The row of the table for a distance. */
    size_t (*row_of)(const struct pe_gather *gather, int64_t distance);
    const void *of; /* for row_of */
} pe_gather;

/* Take the tensor `name` [rows, heads], times `factor` (hi 1 and lo 0: as it is), rounded to
 * the requested dtype once. False: out of memory, or a problem was added to reterr; nothing to
 * free. */
bool pe_gather_init(pe_gather *ret_gather, const pe_values *values, const char *name,
                    size_t rows, size_t heads, const pe_recipe *recipe, dd factor,
                    pe_error *reterr);
void pe_gather_done(pe_gather *gather);

/* A pe_write_distances: `of` is a pe_gather. */
void pe_gather_write(const void *of, size_t head, int64_t first, uint64_t count, void *dst);

/* The same for a row number: a tensor i32. */
void pe_gather_write_rows(const void *of, size_t head, int64_t first, uint64_t count,
                          void *dst);

/* The bytes that a table of these extents holds, for pe_plan.held. */
uint64_t pe_gather_bytes(const pe_values *values, uint64_t rows, uint64_t heads);

/* What most relative schemes draw from: normal(0, 0.02). */
extern const pe_recipe PE_RELATIVE_RECIPE;

#endif
