/* The values of a request's parameters as JSON text, for the formats. */
#ifndef API_PARAMETER_VALUES_H
#define API_PARAMETER_VALUES_H

#include "api.h"
#include "bytes/text.h"

/* Append the value of parameter `index`, after defaulting, as JSON; null if it is absent. A
 * list of more than 1024 items becomes a string, "sha256:…" of its items as doubles. */
void api_parameter_append_json(api_text *text, const pe_request *request, size_t index);

#endif
