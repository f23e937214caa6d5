/* The OpenAPI document without its paths: the fixed part, fixed.json, finished with what the
 * program knows. It is an OpenAPI document but for this:
 *
 * - "headers" of a response lists names of "x-headers" and of "x-header-groups"; one with a
 *   question mark may be absent.
 * - "content" of a response is a name of "x-contents", or "formats" or "binary formats", which
 *   are those of the registry. "{schema}" is the schema of the operation.
 * - "x-examples" are those of schemas.
 * - "x-answers" are responses that each operation writes out, since they name its schema.
 * - A member "..." of a schema stands for the members of the schema that it names.
 *
 * The body of a table names JSON by a range of media types: generated clients
 * take application/json wherever it stands, and could send no bytes then.
 *
 * Members that begin with "x-" are parts for operations; what is served is without them. */
#ifndef API_CONTRACT_H
#define API_CONTRACT_H

#include "routes.h"

#include <jansson.h>

/* The document without paths. NULL, or less of it, without memory. */
json_t *api_contract_new(void);

/* Remove what the document has for operations alone. What only requests with Range are answered
 * moves to "x-responses" of operations: generated clients take every success for what a call
 * may return. */
void api_contract_finish(json_t *document);

/* A copy of a part of a section: that of a name in "x-bodies", for example. */
json_t *api_contract_part(const json_t *document, const char *section, const char *name);

/* Make a value, which is taken over, a component of a kind ("parameters", "headers") unless the
 * name has one. Returns a reference to it, or the value if the component is another one. */
json_t *api_contract_share(json_t *document, const char *kind, const char *name, json_t *value);

/* Append references to the request headers that a kind of route reads. */
void api_contract_add_parameters(json_t *parameters, api_kind kind);

/* The responses of an operation on a kind of route. `schema` names the schema of its JSON
 * document; NULL if it has none. */
json_t *api_contract_responses(json_t *document, api_kind kind, const char *schema);

#endif
