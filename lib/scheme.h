/* What a scheme is made of: for the files in schemes/ and the code that runs them.
 *
 * A scheme file ends in one constant `const pe_scheme pe_scheme_NAME`, and one line in
 * schemes/schemes.def registers it. */
#ifndef PE_SCHEME_H
#define PE_SCHEME_H

#include "posenc.h"

/* The values of one request, by parameter name. Asking for a name that the scheme does not
 * have, or for the value of an absent parameter, is a programming error. */
typedef struct pe_values {
    const pe_scheme *scheme;
    const pe_value *items;
} pe_values;

const pe_value *pe_value_of(const pe_values *values, const char *name);
bool pe_is_present(const pe_values *values, const char *name);
int64_t pe_integer(const pe_values *values, const char *name);
double pe_real(const pe_values *values, const char *name);
bool pe_flag(const pe_values *values, const char *name);
int pe_choice(const pe_values *values, const char *name); /* index into the choices */
pe_dtype pe_requested_dtype(const pe_values *values);

/* The tensors of a request. */
#define PE_PLAN_TENSORS 4
typedef struct pe_plan {
    pe_tensor tensors[PE_PLAN_TENSORS];
    uint64_t row_elements[PE_PLAN_TENSORS]; /* of one row, as windows count them */
    size_t count;
} pe_plan;

/* Add a tensor; the first one is primary. Sizes may be anything: limits are checked afterwards.
 * A row is one index of the first axis; where that may be large, the scheme sets row_elements
 * to something smaller that divides the tensor, since a stream holds at least one row. */
void pe_plan_add(pe_plan *plan, const char *name, pe_dtype dtype, size_t rank,
                 const uint64_t *shape);

/* The rows of a planned tensor. */
uint64_t pe_plan_rows(const pe_plan *plan, size_t tensor);

/* Check that values up to `magnitude` fit the requested dtype; `parameter` is what made them so
 * large. */
void pe_check_magnitude(const pe_values *values, const char *parameter, double magnitude,
                        pe_error *reterr);

/* Rows [first, first + rows) of a tensor, where a row is plan->row_elements of its elements. */
typedef struct pe_window {
    size_t tensor;
    uint64_t first, rows;
} pe_window;

struct pe_scheme {
    pe_scheme_info info;

    /* Check rules between parameters and add the tensors. Adds problems to reterr, and then
     * what it planned is ignored. Allocates nothing. */
    void (*plan)(const pe_values *values, pe_plan *ret_plan, pe_error *reterr);

    /* Compute what every row needs, such as frequencies. NULL where there is nothing. `values`
     * outlive the state. Returns NULL if memory ran out. */
    void *(*prepare)(const pe_values *values, const pe_plan *plan);

    /* Write a window of a tensor. Cannot fail; any window has the bits of the same slice of the
     * whole. */
    void (*fill)(const pe_values *values, const pe_plan *plan, const void *state,
                 pe_window window, void *dst);

    /* Free a state; NULL where `free` does. */
    void (*release)(void *state);

    /* State and rows stay within a few dozen MB whatever the parameters, so that a table of any
     * size can be made block by block. */
    bool streamable;
};

/* Shorthands of the scheme files. */
#define PE_COUNT(array)       (sizeof(array) / sizeof(array)[0])
#define PE_LIST(field, array) .field##s = (array), .field##_count = PE_COUNT(array)

#endif
