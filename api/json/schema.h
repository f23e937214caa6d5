/* The description of a parameter as JSON, for /v1/schemes, /v1/info and the OpenAPI document.
 */
#ifndef API_SCHEMA_H
#define API_SCHEMA_H

#include "api.h"

#include <jansson.h>

/* The JSON value of a parameter's text, which is written as in a query. */
json_t *api_parameter_value(const pe_parameter *parameter, const char *text);

/* Whether every request must give the parameter, whatever else it gives. */
bool api_is_required(const pe_parameter *parameter);

/* The names that other libraries have for a scheme or parameter. */
json_t *api_list_aliases(const char *name);

/* A parameter as /v1/schemes and /v1/info describe it. */
json_t *api_describe_parameter(const pe_parameter *parameter);

/* The JSON Schema of a parameter, for the OpenAPI document. */
json_t *api_parameter_schema(const pe_parameter *parameter);

#endif
