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
    pe_plan plan;
    uint64_t bytes;
    char *key;
    size_t key_length;
    uint64_t key_hash;
};

/* Fill in the key; false if memory ran out. */
bool pe_request_write_key(pe_request *request);

/* Ask the runner, which may be NULL, whether to begin; and tell it the end, whatever it
 * answered. */
bool pe_request_begin(const pe_request *request, const pe_runner *runner, pe_error *reterr);
void pe_request_end(const pe_request *request, const pe_runner *runner);

/* Run the scheme's preparation, if it has one; if not, the state is NULL. */
pe_status pe_request_prepare(const pe_request *request, const pe_runner *runner,
                             void **ret_state, pe_error *reterr);

/* Free a state of pe_request_prepare. */
void pe_request_release(const pe_request *request, void *state);

#endif
