/* The inside of a request, for the code that computes it. */
#ifndef PE_REQUEST_H
#define PE_REQUEST_H

#include "params.h"

#include <stdatomic.h>

struct pe_request {
    atomic_uint references;
    pe_values values;
    pe_owned_value
        *owned;      /* value_count of them: the scheme's parameters, then the common ones */
    pe_value *items; /* the same without ownership, for pe_values */
    size_t value_count;
    pe_plan plan;
    uint64_t bytes;
    char *key;
    size_t key_length;
    uint64_t key_hash;
};

/* Fill in the key; false if memory ran out. */
bool pe_request_write_key(pe_request *request);

/* Fill in what was not given, by presets (NULL: none), defaults and the stored set; refuse what
 * is missing, excludes another or goes with another choice. */
void pe_request_apply_defaults(pe_request *request, const pe_preset *preset, const bool *given,
                               const pe_limits *limits, pe_error *reterr);

/* Run the scheme's preparation, if it has one; NULL may be a good state. */
pe_status pe_request_prepare(const pe_request *request, const pe_runner *runner,
                             void **ret_state, pe_error *reterr);
void pe_request_release(const pe_request *request, void *state);

#endif
