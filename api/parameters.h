/* A request's parameters after defaulting, as text for the formats. */
#ifndef API_PARAMETERS_H
#define API_PARAMETERS_H

#include "api.h"
#include "text.h"

/* Append the value of parameter `index` as JSON: a number, true, false, a string, an array, or
 * null where absent. Lists over 1024 items are a string, "sha256:…" of their doubles. */
void api_parameter_append_json(api_text *text, const pe_request *request, size_t index);

#endif
