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

/* The request's stored set, NULL if it names none. */
const pe_set *pe_values_set(const pe_values *values);

/* The tensors of a request. */
#define PE_PLAN_TENSORS 6
typedef struct pe_plan {
    pe_tensor tensors[PE_PLAN_TENSORS];
    size_t count;
    uint64_t held; /* bytes that computing takes beside the tensors, where these are many */
} pe_plan;

/* Add a tensor; the first one is primary. Sizes may be anything: limits are checked afterwards.
 * A row is one index of the first axis. */
void pe_plan_add(pe_plan *plan, const char *name, pe_dtype dtype, size_t rank,
                 const uint64_t *shape);

/* Let the rows of the tensor added last be the indices of its first `axes` axes: where one of
 * the first axis's may be large, since a stream holds at least one row. */
void pe_plan_rows(pe_plan *plan, size_t axes);

/* Check that values up to `magnitude` fit the requested dtype; `parameter` is what made them so
 * large. */
void pe_check_magnitude(const pe_values *values, const char *parameter, double magnitude,
                        pe_error *reterr);

/* Rows [first, first + rows) of a tensor, out of pe_tensor.rows. */
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
     * outlive the state. `runner` is never NULL, its functions may be: see pe_may_go_on.
     * Returns NULL if memory ran out or a problem was added to reterr. */
    void *(*prepare)(const pe_values *values, const pe_plan *plan, const pe_runner *runner,
                     pe_error *reterr);

    /* Write a window of a tensor. Cannot fail; any window has the bits of the same slice of the
     * whole. Several threads may fill windows from one state. */
    void (*fill)(const pe_values *values, const pe_plan *plan, const void *state,
                 pe_window window, void *dst);

    /* Free a state; NULL where `free` does. */
    void (*release)(void *state);

    /* State and rows stay within a few dozen MB whatever the parameters, so that a table of any
     * size can be made block by block. */
    bool streamable;

    /* `prepare` may take seconds however small the tensors are. */
    bool takes_long;
};

/* Ask the runner whether to go on, with the share that is done: any number, which is taken as
 * one between 0 and 1. Adds PE_CANCELLED to reterr where not. */
bool pe_may_go_on(const pe_runner *runner, const pe_values *values, double done,
                  pe_error *reterr);

/* The rows of a parameter table for trained tensors: a stored set, or a seed. `tensors` says
 * which tensors the set has. */
#define PE_TRAINED_PARAMETERS(tensors)                                                         \
    {.name = "parameters",                                                                     \
     .type = PE_STORED,                                                                        \
     .help = "name of a stored set of trained tensors: " tensors},                             \
    {                                                                                          \
        .name = "seed", .type = PE_INTEGER, .unless = "parameters", .default_text = "0",       \
        .maximum = 9007199254740992.0, .help = "seed of the random tensors"                    \
    }

/* Shorthands of the scheme files. */
#define PE_COUNT(array)       (sizeof(array) / sizeof(array)[0])
#define PE_LIST(field, array) .field##s = (array), .field##_count = PE_COUNT(array)

#endif
