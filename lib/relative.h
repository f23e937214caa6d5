/* Relative schemes: queries against keys, and tensors that depend on their distance alone.
 *
 * Row r of a matrix is query i = offset + r, its columns are the keys j = 0 … keys-1; the
 * distance is key minus query, j - i. Distances run from -(offset + queries - 1) to
 * keys - 1 - offset; a row of the matrix is a run of `keys` consecutive ones, which begins one
 * distance later for each earlier query. So whatever depends on the distance alone is computed
 * once for each distance, and rows are copies of slices. */
#ifndef PE_RELATIVE_H
#define PE_RELATIVE_H

#include "scheme.h"

typedef struct pe_relative {
    uint64_t queries, keys;
    int64_t offset; /* position of the first query */
    bool compact;   /* one row for each distance instead of the matrix */
    bool by_key; /* what is computed depends on the key, which then stands for the distance */
} pe_relative;

/* The rows of a parameter table that relative schemes begin with; `keys_rule` is what a scheme
 * may add: designated initialisers of `length`. */
#define PE_RELATIVE_MAX 2147483648.0 /* 2^31: distances are i32 */
#define PE_LENGTH_PARAMETER                                                                    \
    .name = "length", .type = PE_INTEGER, .minimum = 1, .maximum = 1073741824, .unit = "keys"
#define PE_HEADS_PARAMETER                                                                     \
    .name = "heads", .type = PE_INTEGER, .minimum = 1, .maximum = 65536, .unit = "heads"
#define PE_QUERY_PARAMETERS                                                                    \
    {.name = "query_length",                                                                   \
     .type = PE_INTEGER,                                                                       \
     .default_of = "length",                                                                   \
     .minimum = 1,                                                                             \
     .maximum = 1073741824,                                                                    \
     .unit = "queries",                                                                        \
     .help = "number of queries"},                                                             \
    {                                                                                          \
        .name = "query_offset", .type = PE_INTEGER, .default_of = "length",                    \
        .default_less = "query_length", .minimum = -PE_RELATIVE_MAX,                           \
        .maximum = PE_RELATIVE_MAX, .unit = "positions",                                       \
        .help = "position of the first query; by default the queries are the last positions"   \
    }
#define PE_FORM_PARAMETER                                                                      \
    {                                                                                          \
        .name = "form", .type = PE_CHOICE, .default_text = "expanded", .choices = PE_FORMS,    \
        .help = "expanded: a matrix of queries and keys; compact: one row for each key-query " \
                "distance, with the distances"                                                 \
    }
#define PE_RELATIVE_PARAMETERS                                                                 \
    {PE_LENGTH_PARAMETER, .required = true, .help = "number of keys"}, PE_QUERY_PARAMETERS,    \
        PE_FORM_PARAMETER

extern const char *const PE_FORMS[]; /* "expanded", "compact" */

/* Read the parameters and check that every distance is an i32. */
pe_relative pe_relative_read(const pe_values *values, pe_error *reterr);

/* Check that every query is one of the keys; `reason` ends the rule's sentence. */
void pe_relative_check_queries(const pe_relative *relative, const char *reason,
                               pe_error *reterr);

/* How many distances there are, and the first (least) one. */
uint64_t pe_relative_distances(const pe_relative *relative);
int64_t pe_relative_first(const pe_relative *relative);

/* Add a tensor of `heads` (0: no such axis) matrices of vectors of `width` (0: of numbers):
 * [heads, queries, keys, width], or [heads, distances, width] where compact. Its rows are
 * single vectors or numbers. */
void pe_relative_add(pe_plan *plan, const pe_relative *relative, const char *name,
                     pe_dtype dtype, uint64_t heads, uint64_t width);

/* Where compact, add the tensor `distance`, i32. */
void pe_relative_add_distance(pe_plan *plan, const pe_relative *relative);

/* Writes the vectors (or numbers) of head `head` at the distances first, first + 1 …, in their
 * dtype. */
typedef void (*pe_write_distances)(const void *of, size_t head, int64_t first, uint64_t count,
                                   void *dst);

/* Writes `count` vectors of a table from row `row` on. */
typedef void (*pe_write_rows)(const void *of, uint64_t row, uint64_t count, void *dst);

/* Write the vectors at the distances first, first + 1 … of a table whose row r belongs to
 * distance low + r, and whose last row to `high`; distances beyond are clipped to these. */
void pe_write_clipped(pe_write_rows write, const void *of, int64_t low, int64_t high,
                      size_t vector_bytes, int64_t first, uint64_t count, void *dst);

/* What a tensor that pe_relative_add planned holds. */
typedef struct pe_toeplitz {
    pe_relative relative;
    size_t heads, vector_bytes;
    pe_write_distances write;
    const void *of;
    unsigned char *table; /* all distances of all heads, NULL where that is too much */
} pe_toeplitz;

/* Prepare to fill the tensor; `of` is passed to `write` and outlives it. False: out of memory,
 * nothing to free. */
bool pe_toeplitz_init(pe_toeplitz *ret_toeplitz, const pe_relative *relative,
                      const pe_tensor *tensor, size_t heads, pe_write_distances write,
                      const void *of);
void pe_toeplitz_done(pe_toeplitz *toeplitz);

/* Fill a window of it. */
void pe_toeplitz_fill(const pe_toeplitz *toeplitz, pe_window window, void *dst);

/* Fill a window of the tensor `distance`. */
void pe_relative_fill_distance(const pe_relative *relative, pe_window window, void *dst);

#endif
