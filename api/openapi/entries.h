/* What an operation may be given: parameters of its query, or members of its JSON body. Of the
 * parameters with one name the first is a component of the OpenAPI document, which all
 * operations with an equal one refer to; the others and members of bodies are written out, so
 * that no component needs a number. */
#ifndef API_ENTRIES_H
#define API_ENTRIES_H

#include "posenc.h"

#include <jansson.h>

typedef struct api_entry {
    const char *name, *help;
    json_t *schema;  /* taken over */
    json_t *example; /* taken over; NULL: none */
    bool required;
} api_entry;

/* Adds an entry to a list: parameters of a query to an array, members of a body to an object.
 */
typedef void api_entry_adder(json_t *document, json_t *list, const api_entry *entry);

api_entry_adder api_add_query_parameter;

/* A member is described by the parameter of its name in the query of the same path. One that is
 * not required may be null, which counts as not given. */
api_entry_adder api_add_member;

/* Add a row of a table of parameters; its old name, too, as deprecated: none of the two is
 * required then, since either will do. `example` is taken over. */
void api_add_row(api_entry_adder *add, json_t *document, json_t *list, const pe_parameter *row,
                 json_t *example);

/* Add `format`, and the options of formats; the help of each one lists the formats that take
 * it.
 */
void api_add_format_options(api_entry_adder *add, json_t *document, json_t *list);

#endif
