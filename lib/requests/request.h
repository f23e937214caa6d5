/* What a request consists of, for the code that computes its tensors. */
#ifndef PE_REQUEST_H
#define PE_REQUEST_H

#include "requests/parameters.h"

#include <stdatomic.h>

struct pe_request {
    atomic_uint references;
    pe_request *base; /* whose values these are, but for the dtype; NULL: its own */
    pe_values values;
    const pe_preset *preset; /* NULL: none */
    /* value_count values: of the scheme's own parameters, then of the common ones */
    pe_owned_value *owned;
    pe_value *items; /* copies of these, as pe_values wants them */
    size_t value_count;
    void *settings; /* the scheme's state as it was read from the values */
    pe_plan plan;
    unsigned chosen; /* the tensors that are computed, a bit for each */
    char *key;
    size_t key_length;
    uint64_t key_hash;
};

/* Whether the tensor is computed. */
bool pe_request_is_chosen(const pe_request *request, size_t tensor);

/* Fill in the key; false if memory ran out. */
bool pe_request_write_key(pe_request *request);

/* Let the scheme read the values and plan the tensors. */
void pe_request_plan(pe_request *request, pe_error *reterr);

/* Ask the runner, which may be NULL, whether to begin; and tell it the end, whatever it
 * answered. */
bool pe_request_begin(const pe_request *request, const pe_runner *runner, pe_error *reterr);
void pe_request_end(const pe_request *request, const pe_runner *runner);

/* Complete a copy of the scheme's state, for pe_kept_free; NULL if there is nothing to prepare.
 */
pe_status pe_request_prepare(const pe_request *request, const pe_runner *runner,
                             void **ret_state, pe_error *reterr);

/* Write a window of a tensor with a state of pe_request_prepare. */
void pe_request_fill(const pe_request *request, const void *state, pe_window window, void *dst);

/* The price of one row out of pe_tensor.rows. */
double pe_row_price(const pe_request *request, size_t tensor);

/* The pace of computing a request. */
pe_pace pe_pace_init(const pe_request *request, const pe_runner *runner, pe_error *reterr);

#endif
