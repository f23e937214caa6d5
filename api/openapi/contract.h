/* What the operations of the OpenAPI document share: request headers, responses with their
 * headers, and the schemas of JSON documents. */
#ifndef API_CONTRACT_H
#define API_CONTRACT_H

#include "routes.h"

#include <jansson.h>

/* A reference to a component: {"$ref": "#/components/KIND/COMPONENT"}. */
json_t *api_contract_reference(const char *kind, const char *component);

/* The object components/parameters: all request headers. */
json_t *api_contract_parameters(void);

/* Append references to the request headers that a kind of route reads. */
void api_contract_add_parameters(json_t *parameters, api_kind kind);

/* The object components/responses. */
json_t *api_contract_responses(void);

/* The responses of an operation on a kind of route. `schema` names the schema of its JSON
 * document; NULL if it has none. */
json_t *api_contract_responses_of(api_kind kind, const char *schema);

/* The object components/schemas. */
json_t *api_contract_schemas(void);

/* An example document for a schema; NULL if there is none. */
json_t *api_contract_example(const char *schema);

#endif
