/* The parts of the OpenAPI document that operations share: request headers, responses with
 * their headers, and the schemas of JSON answers. */
#ifndef API_CONTRACT_H
#define API_CONTRACT_H

#include "service.h"

#include <jansson.h>

/* {"$ref": "#/components/KIND/COMPONENT"} */
json_t *api_contract_reference(const char *kind, const char *component);

/* components/parameters: the request headers that matter somewhere. */
json_t *api_contract_parameters(void);

/* Append references to those that matter to a kind of route. */
void api_contract_add_parameters(json_t *parameters, api_kind kind);

/* components/responses */
json_t *api_contract_responses(void);

/* All responses of an operation; `schema` names that of a JSON answer, NULL if there is none.
 */
json_t *api_contract_responses_of(api_kind kind, const char *schema);

/* components/schemas */
json_t *api_contract_schemas(void);

/* An example of what a schema describes, NULL if there is none. */
json_t *api_contract_example(const char *schema);

#endif
