/* Parameters as JSON for documentation: /v1/schemes and OpenAPI. */
#ifndef API_SCHEMA_H
#define API_SCHEMA_H

#include "api.h"

#include <jansson.h>

/* "integer", "number", "boolean", "string" or "array": the JSON type of a parameter. */
const char *api_type_name(pe_type type);

/* A parameter's text, as a query holds it, as a JSON value. */
json_t *api_text_value(const pe_parameter *parameter, const char *text);

/* The default as a JSON value, null if there is none. */
json_t *api_default_value(const pe_parameter *parameter);

/* How the default is computed: "height * width", "length - query_length"; of a parameter whose
 * default is the value of others. */
json_t *api_default_of(const pe_parameter *parameter);

/* Whether every request must give the parameter, whatever else it gives. */
bool api_is_required(const pe_parameter *parameter);

/* Where a parameter depends on another one's choice, which choices it is legal with, and what
 * is required or defaulted then; NULL where it does not. */
json_t *api_cases_of(const pe_parameter *parameter);

/* Add what limits a value to an object: minimum, maximum, multiple_of, choices, what a stored
 * set has to do with it. */
void api_add_range(json_t *object, const pe_parameter *parameter);

/* A row of a table as /v1/schemes and /v1/info show it. */
json_t *api_describe_parameter(const pe_parameter *parameter);

/* The parameter's JSON Schema. */
json_t *api_schema_of(const pe_parameter *parameter);

#endif
