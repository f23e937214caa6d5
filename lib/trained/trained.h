/* Trained tensors: read from the request's set, or drawn at random from its seed. */
#ifndef PE_TRAINED_H
#define PE_TRAINED_H

#include "numerics/rng.h"
#include "scheme.h"

/* The distributions of random tensors, in the order of pe_initialisers. The scale of the xavier
 * ones depends on the tensor's fans: a matrix [out, in] has fan_in `in` and fan_out `out`. */
typedef enum pe_initialiser {
    PE_NORMAL,
    PE_UNIFORM,
    PE_XAVIER_UNIFORM,
    PE_XAVIER_NORMAL,
    PE_TRUNC_NORMAL,
    PE_ZEROS,
} pe_initialiser;

/* The names of the initialisers, for a parameter table; NULL-terminated. */
extern const char *const pe_initialisers[];

/* The row `dim` of a parameter table where it is the second axis of a tensor that may be
 * stored: designated initialisers, to which a scheme adds the help. */
#define PE_TRAINED_DIM(tensor)                                                                 \
    .name = "dim", .type = PE_INTEGER, .required = true, .stored = (tensor), .stored_axis = 1, \
    .minimum = 1, .maximum = PE_DIM_MAX, .unit = "columns"

/* Where the trained tensors of a request come from, and what they are rounded to. */
typedef struct pe_weights {
    const pe_set *set;    /* NULL: they are drawn from the seed */
    const char *set_name; /* NULL if there is none */
    uint64_t seed;
    pe_dtype dtype;
} pe_weights;

/* Read the parameters of PE_TRAINED_PARAMETERS, and the dtype. */
pe_weights pe_weights_read(const pe_values *values);

/* How a random tensor is drawn. */
typedef struct pe_distribution {
    pe_initialiser initialiser;
    double std;    /* standard deviation, not for xavier_… and zeros */
    uint64_t fans; /* fan_in + fan_out, for xavier_… */
} pe_distribution;

/* That of most relative schemes: normal(0, 0.02). */
extern const pe_distribution pe_relative_distribution;

/* The largest magnitude that can be drawn. */
double pe_distribution_magnitude(const pe_distribution *distribution);

/* One tensor as rows of `columns` elements; a vector is one row. Stored rows are read; all
 * other rows are drawn: every row of a seeded tensor, and rows past the end of a stored one. */
typedef struct pe_trained {
    const pe_set_tensor *stored; /* borrowed from the set; NULL if seeded */
    uint64_t stored_rows, columns;
    pe_generator generator;
    pe_initialiser initialiser;
    double scale;
} pe_trained;

/* If the request names a set, check that it has a real tensor of this name with `rank`
 * axes, none of them empty, and with the extents of `shape` that are not 0. If not, add a
 * problem of the parameter `set` and return false. */
bool pe_trained_check(const pe_weights *weights, const char *name, size_t rank,
                      const uint64_t *shape, pe_error *reterr);

/* Check that every element of rows 0 … `last` has a 64-bit index, which its random number is
 * drawn by. If not, add a problem of `parameter` and return false. */
bool pe_trained_check_index(const char *parameter, double last, uint64_t columns,
                            pe_error *reterr);

/* The request's tensor `name` with `columns` columns; pe_trained_check has accepted it. */
pe_trained pe_trained_find(const pe_weights *weights, const char *name, uint64_t columns,
                           const pe_distribution *distribution);

/* Read or draw columns [first, first + count) of a row, in double. */
void pe_trained_row(const pe_trained *trained, uint64_t row, uint64_t first, size_t count,
                    double *ret_elements);

/* Whether the dtype can hold every finite value of the stored tensor's dtype. True for a seeded
 * tensor. */
bool pe_trained_fits(const pe_trained *trained, pe_dtype dtype);

/* The largest magnitude in a stored row; 0 for a row that is not stored. */
double pe_trained_row_magnitude(const pe_trained *trained, uint64_t row);

/* Write rows [first, first + rows), each element rounded to the dtype once. */
void pe_trained_fill(const pe_trained *trained, pe_dtype dtype, uint64_t first, uint64_t rows,
                     void *dst);

/* Check that all elements of the tensor's first `rows` rows, stored or drawn, fit the dtype
 * after multiplication by `factor`. */
void pe_trained_check_magnitude(pe_pace *pace, const pe_trained *trained, uint64_t rows,
                                double factor, pe_dtype dtype);

/* Check that no number of a stored tensor's first `rows` rows is beyond ±PE_TRAINED_LARGEST, so
 * that products of two or three of them neither overflow nor lose bits. False: a problem was
 * added, or the runner cancelled it. */
#define PE_TRAINED_LARGEST 1e30
bool pe_trained_check_largest(pe_pace *pace, const pe_trained *trained, const char *name,
                              uint64_t rows);

/* The price of reading or drawing an element, and of checking the magnitude of so many. */
double pe_trained_price(const pe_weights *weights, const pe_distribution *distribution);
double pe_trained_check_price(const pe_weights *weights, uint64_t elements);

#endif
