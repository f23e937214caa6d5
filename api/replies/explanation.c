/* Writing explanations. */
#include "replies/explanation.h"

#include "replies/identity.h"

#include <stdio.h>
#include <string.h>

void api_explained_query(const api_arguments *arguments, char dst[PE_IDENTITY_QUERY_MAX])
{
    size_t used = 0;
    dst[0] = '\0';
    for (size_t i = 0; i < arguments->count; i++) {
        const pe_argument *item = &arguments->items[i];
        const bool own = strcmp(item->name, "tensor") != 0 && strcmp(item->name, "dtype") != 0;
        if (own && used < PE_IDENTITY_QUERY_MAX)
            used +=
                (size_t)snprintf(dst + used, PE_IDENTITY_QUERY_MAX - used, "%s%s=%s",
                                 used > 0 ? "&" : "", item->name, item->text ? item->text : "");
    }
    if (used >= PE_IDENTITY_QUERY_MAX)
        dst[0] = '\0';
}

/* The parameters that differ: their values, null of those that are left out. */
static json_t *describe_changes(const pe_explanation *explanation)
{
    json_t *changes = json_object();
    for (size_t i = 0; i < explanation->change_count; i++) {
        const pe_change *change = &explanation->changes[i];
        json_object_set_new(changes, change->name,
                            change->value[0] ? json_string(change->value) : json_null());
    }
    return changes;
}

json_t *api_explanation_document(const pe_explanation *explanation, const pe_scheme *scheme,
                                 const pe_view *view)
{
    json_t *document =
        json_pack("{s:s, s:s, s:o}", "sentence", explanation->sentence, "kind",
                  explanation->kind, "parameters", describe_changes(explanation));
    if (explanation->query[0])
        json_object_set_new(
            document, "request",
            api_table_request(scheme, explanation->query, explanation->tensor, view));
    if (explanation->factor != 1)
        json_object_set_new(document, "factor", json_real(explanation->factor));
    if (explanation->rows > 0)
        json_object_set_new(document, "rows",
                            json_pack("{s:I, s:I}", "first", (json_int_t)explanation->first_row,
                                      "count", (json_int_t)explanation->rows));
    json_object_set_new(document, "entries", json_integer((json_int_t)explanation->entries));
    json_object_set_new(document, "differing",
                        json_integer((json_int_t)explanation->differing));
    json_object_set_new(document, "max_abs", json_real(explanation->max_abs));
    json_object_set_new(document, "tried", json_integer((json_int_t)explanation->tried));
    return document;
}
