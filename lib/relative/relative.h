/* Relative schemes: matrices of queries and keys whose entries depend on their distance alone.
 *
 * Row r of a matrix belongs to query i = offset + r, column j to key j = 0 … keys-1. The
 * distance is key minus query, j - i. Distances run from -(offset + queries - 1) to keys - 1 -
 * offset. A row of the matrix has `keys` consecutive distances, and each row begins one
 * distance before the row above it. So an entry is computed once per distance, and rows are
 * copies of slices of one run of distances. */
#ifndef PE_RELATIVE_H
#define PE_RELATIVE_H

#include "scheme.h"

typedef struct pe_relative {
    uint64_t queries, keys;
    int64_t offset; /* position of the first query */
    bool compact;   /* one row per distance instead of the matrix */
    bool by_key;    /* entries depend on the key instead of the distance: each key counts as a
                     * distance, and all rows are alike */
} pe_relative;

/* The rows of a parameter table that relative schemes begin with. PE_LENGTH_PARAMETER and
 * PE_HEADS_PARAMETER are designated initialisers, to which a scheme adds its own. */
#define PE_RELATIVE_MAX 2147483648.0 /* 2^31: distances are i32 */
#define PE_LENGTH_PARAMETER                                                                    \
    .name = "length", .type = PE_INTEGER, .minimum = 1, .maximum = 1073741824, .unit = "keys", \
    .counts_rows = true
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
        .name = "form", .type = PE_CHOICE, .default_text = "expanded", .choices = pe_forms,    \
        .help = "expanded: a matrix of queries and keys; compact: one row for each key-query " \
                "distance, with the distances"                                                 \
    }
#define PE_RELATIVE_PARAMETERS                                                                 \
    {PE_LENGTH_PARAMETER, .required = true, .help = "number of keys"}, PE_QUERY_PARAMETERS,    \
        PE_FORM_PARAMETER

/* Rows of the tensors that several schemes have. */
#define PE_BIAS_TENSOR                                                                         \
    {                                                                                          \
        "bias", "[heads, queries, keys] or [heads, queries+keys-1]",                           \
            "is added to the attention scores"                                                 \
    }
#define PE_DISTANCE_TENSOR                                                                     \
    {                                                                                          \
        "distance", "[queries+keys-1]", "key minus query; only with form=compact"              \
    }

extern const char *const pe_forms[]; /* "expanded", "compact" */

/* Read the parameters and check that every distance is an i32. */
pe_relative pe_relative_read(const pe_values *values, pe_error *reterr);

/* Check that every query is one of the keys. `reason` is appended to the message. */
void pe_relative_check_queries(const pe_relative *relative, const char *reason,
                               pe_error *reterr);

/* The number of distances, and the least one. */
uint64_t pe_relative_distances(const pe_relative *relative);
int64_t pe_relative_first(const pe_relative *relative);

/* The largest magnitude of a distance; only of those up to 0 if `causal`. */
uint64_t pe_relative_farthest(const pe_relative *relative, bool causal);

/* How many of `count` consecutive distances from `first` on are below `limit`. */
uint64_t pe_count_distances(int64_t first, uint64_t count, int64_t limit);

/* A function that writes the vectors (or numbers) of a head at `count` consecutive distances,
 * in their dtype. `source` is whatever it computes them from. */
typedef void (*pe_write_distances)(const void *source, size_t head, int64_t first,
                                   uint64_t count, void *dst);

/* A tensor whose entries, or vectors, depend on head and distance. */
typedef struct pe_toeplitz {
    pe_relative relative;
    size_t heads, vector_bytes;
    double vector_price; /* of what `write` writes */
    bool kept;           /* the vectors at all distances are */

    /* set by pe_toeplitz_init */
    pe_write_distances write;
    const void *source;
    unsigned char *table; /* if kept: [heads, distances] vectors */
} pe_toeplitz;

/* Plan a tensor [heads, queries, keys, width], or [heads, distances, width] if compact, and
 * what it costs if an element of a vector has this price. With heads or width 0 it lacks that
 * axis. A row in the sense of pe_plan_rows is one vector of `width`, or one number. */
pe_toeplitz pe_relative_add(pe_plan *plan, const pe_relative *relative, const char *name,
                            pe_dtype dtype, uint64_t heads, uint64_t width,
                            double element_price);

/* Plan the i32 tensor `distance`, if compact. */
void pe_relative_add_distance(pe_plan *plan, const pe_relative *relative);

/* A function that writes `count` consecutive rows of a table. */
typedef void (*pe_write_rows)(const void *source, uint64_t row, uint64_t count, void *dst);

/* Write the vectors at `count` consecutive distances from a table whose row r belongs to
 * distance low + r. Distances below `low` get its first row, distances above `high` the row of
 * `high`. */
void pe_write_clipped(pe_write_rows write, const void *source, int64_t low, int64_t high,
                      size_t vector_bytes, int64_t first, uint64_t count, void *dst);

/* Prepare to fill a tensor that was planned. `source` is passed to `write` and must live as
 * long as the pe_toeplitz. False if memory ran out or the runner cancelled it. */
bool pe_toeplitz_init(pe_toeplitz *toeplitz, pe_write_distances write, const void *source,
                      pe_pace *pace);

/* Fill a window of the tensor. */
void pe_toeplitz_fill(const pe_toeplitz *toeplitz, pe_window window, void *dst);

/* Fill a window of the tensor `distance`. */
void pe_relative_fill_distance(const pe_relative *relative, pe_window window, void *dst);

/* Fill a window of the tensor 0, a pe_toeplitz that a scheme's state begins with, or of
 * `distance`. */
void pe_relative_fill(const void *state, pe_window window, void *dst);

#endif
