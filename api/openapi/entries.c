/* Entries of the OpenAPI document: parameters and members of bodies, as shared components. */
#include "openapi/entries.h"

#include "formats/options.h"
#include "formats/registry.h"
#include "openapi/contract.h"
#include "json/schema.h"

#include <stdio.h>

void api_add_query_parameter(json_t *document, json_t *list, const api_entry *entry)
{
    json_t *parameter = json_pack("{s:s, s:s, s:s, s:O}", "name", entry->name, "in", "query",
                                  "description", entry->help, "schema", entry->schema);
    if (json_object_get(entry->schema,
                        "items")) { /* a list is one value with commas, also of one */
        json_object_set_new(entry->schema, "type", json_string("array"));
        json_object_set_new(parameter, "style", json_string("form"));
        json_object_set_new(parameter, "explode", json_false());
    }
    if (json_object_get(entry->schema, "deprecated"))
        json_object_set_new(parameter, "deprecated", json_true());
    if (entry->example)
        json_object_set_new(entry->schema, "examples", json_pack("[o]", entry->example));
    if (entry->required)
        json_object_set_new(parameter, "required", json_true());
    json_decref(entry->schema);
    char key[80]; /* no schema has such a name, so that all generated types differ */
    snprintf(key, sizeof key, "query_%s", entry->name);
    json_array_append_new(list, api_contract_share(document, "parameters", key, parameter));
}

void api_add_member(json_t *document, json_t *list, const api_entry *entry)
{
    (void)document; /* members are written out */
    json_t *choices = json_object_get(entry->schema, "enum");
    if (!entry->required) {
        json_t *type = json_object_get(entry->schema, "type");
        json_t *types = json_is_array(type) ? json_copy(type) : json_pack("[O]", type);
        json_array_append_new(types, json_string("null"));
        json_object_set_new(entry->schema, "type", types);
        if (choices)
            json_array_append_new(choices, json_null());
    }
    json_decref(entry->example); /* that of the body has it */
    json_object_set_new(list, entry->name, entry->schema);
}

void api_add_row(api_entry_adder *add, json_t *document, json_t *list, const pe_parameter *row,
                 json_t *example)
{
    char help[64];
    add(document, list,
        &(api_entry){row->name, row->help, api_parameter_schema(row), example,
                     api_is_required(row) && !row->old_name});
    if (!row->old_name)
        return;
    json_t *schema = api_parameter_schema(row);
    json_object_set_new(schema, "deprecated", json_true());
    snprintf(help, sizeof help, "the old name of %s", row->name);
    add(document, list, &(api_entry){row->old_name, help, schema, NULL, false});
}

void api_add_format_options(api_entry_adder *add, json_t *document, json_t *list)
{
    const pe_parameter *rows[API_OPTIONS_MAX];
    size_t count = api_option_rows(rows);
    json_t *formats = json_array();
    for (size_t i = 0; i < api_format_count(); i++)
        json_array_append_new(formats, json_string(api_format_names()[i]));
    add(document, list,
        &(api_entry){"format", "representation; beats Accept",
                     json_pack("{s:s, s:o}", "type", "string", "enum", formats), NULL, false});
    for (size_t i = 0; i < count; i++) {
        char help[256];
        size_t used = (size_t)snprintf(help, sizeof help, "%s; with", rows[i]->help);
        const char *separator = " format=";
        for (size_t f = 0; f < api_format_count() && used < sizeof help; f++) {
            if (!api_takes_option(api_format_get(f), rows[i]->name))
                continue;
            used += (size_t)snprintf(help + used, sizeof help - used, "%s%s", separator,
                                     api_format_get(f)->name);
            separator = ", ";
        }
        add(document, list,
            &(api_entry){rows[i]->name, help, api_parameter_schema(rows[i]), NULL, false});
    }
}
