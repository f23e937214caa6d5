/* Trained tensors: from the request's stored set, or drawn from its seed by an initialiser. */
#ifndef PE_TRAINED_H
#define PE_TRAINED_H

#include "rng.h"
#include "scheme.h"

/* Initialisers, in the order of PE_INITIALISERS. A xavier scale comes from the tensor's fans: a
 * matrix [out, in] maps `in` inputs to `out` outputs. */
typedef enum pe_initialiser {
    PE_NORMAL,
    PE_UNIFORM,
    PE_XAVIER_UNIFORM,
    PE_XAVIER_NORMAL,
    PE_TRUNC_NORMAL,
    PE_ZEROS,
} pe_initialiser;

/* Their names, for a parameter table; NULL-terminated. */
extern const char *const PE_INITIALISERS[];

/* What rows of parameter tables say of `dim` where it is the second axis of a tensor that may
 * be stored; they add the help. */
#define PE_TRAINED_DIM(tensor)                                                                 \
    .name = "dim", .type = PE_INTEGER, .required = true, .stored = (tensor), .stored_axis = 1, \
    .minimum = 1, .maximum = PE_DIM_MAX, .unit = "columns"

/* How to make a tensor that is not stored. */
typedef struct pe_recipe {
    pe_initialiser initialiser;
    double std;    /* of all but xavier_… and zeros */
    uint64_t fans; /* fan_in + fan_out, of xavier_… */
} pe_recipe;

/* The largest magnitude that a recipe draws. */
double pe_recipe_magnitude(const pe_recipe *recipe);

/* One tensor as rows of `columns` elements; a vector is one row. Rows that are not stored are
 * drawn: all of a seeded tensor, and those past the end of a stored one. */
typedef struct pe_trained {
    const pe_set_tensor *stored; /* borrowed from the set; NULL: seeded */
    uint64_t stored_rows, columns;
    pe_generator generator;
    pe_initialiser initialiser;
    double scale;
} pe_trained;

/* Check in a plan that the request's stored set, if it names one, has a real tensor of this
 * name with `rank` axes of at least one element, and of the extents that are not 0 in `shape`.
 * Adds a problem that names `parameters`, and returns false, where not. */
bool pe_trained_check(const pe_values *values, const char *name, size_t rank,
                      const uint64_t *shape, pe_error *reterr);

/* Check that the elements of rows up to `last` have an index. */
bool pe_trained_check_index(const char *parameter, double last, uint64_t columns,
                            pe_error *reterr);

/* A tensor of `columns` columns that has passed its check. */
pe_trained pe_trained_of(const pe_values *values, const char *name, uint64_t columns,
                         const pe_recipe *recipe);

/* Columns [first, first + count) of a row, in double. */
void pe_trained_row(const pe_trained *trained, uint64_t row, uint64_t first, size_t count,
                    double *ret_elements);

/* Whether any element of the stored tensor, if there is one, fits the dtype. */
bool pe_trained_fits(const pe_trained *trained, pe_dtype dtype);

/* The largest magnitude in a stored row; 0 for one that is not stored. */
double pe_trained_row_magnitude(const pe_trained *trained, uint64_t row);

/* Write rows [first, first + rows), each element rounded to the dtype once. */
void pe_trained_fill(const pe_trained *trained, pe_dtype dtype, uint64_t first, uint64_t rows,
                     void *dst);

/* Check that the values of a stored tensor, times `factor`, fit the requested dtype, and so do
 * seeded ones. */
void pe_trained_check_magnitude(const pe_values *values, const pe_trained *trained,
                                const pe_recipe *recipe, uint64_t rows, double factor,
                                pe_error *reterr);

#endif
