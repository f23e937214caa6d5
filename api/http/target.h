/* The target of a GET for the tensors that a request's arguments ask for. */
#ifndef API_TARGET_H
#define API_TARGET_H

#include "call.h"
#include "http/arguments.h"

/* The target "/v1/encodings/…", from malloc. NULL if it is longer than the server takes, or
 * without memory, which is added to `error`. */
char *api_target_write(const api_call *call, const pe_scheme *scheme,
                       const api_arguments *arguments, pe_error *error);

#endif
