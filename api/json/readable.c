/* JSON for a person to read. */
#include "text.h"
#include "json/document.h"

#include <stdlib.h>
#include <string.h>

#define LINE_WIDTH 100
#define DUMP_FLAGS (JSON_ENCODE_ANY | JSON_REAL_PRECISION(15))

static void add_indent(api_text *text, size_t depth)
{
    api_text_add(text, "\n%*s", (int)(2 * depth), "");
}

static bool is_list_of_scalars(const json_t *value)
{
    for (size_t i = 0; i < json_array_size(value); i++)
        if (!json_is_number(json_array_get(value, i)))
            return false;
    return json_is_array(value);
}

/* Add a list of numbers in as many lines as it needs. */
static void add_filled(api_text *text, const json_t *list, size_t depth)
{
    size_t line = text->size;
    api_text_add(text, "[");
    for (size_t i = 0; i < json_array_size(list); i++) {
        char *item = json_dumps(json_array_get(list, i), DUMP_FLAGS);
        if (text->size - line > LINE_WIDTH - 20) {
            line = text->size;
            add_indent(text, depth + 1);
        }
        api_text_add(text, "%s%s", item ? item : "", i + 1 < json_array_size(list) ? ", " : "");
        free(item);
    }
    api_text_add(text, "]");
}

static void add_value(api_text *text, json_t *value, size_t depth, size_t used);

static void add_members(api_text *text, json_t *object, size_t depth)
{
    const char *key;
    json_t *value;
    size_t left = json_object_size(object);
    api_text_add(text, "{");
    json_object_foreach(object, key, value)
    {
        json_t *name = json_string(key);
        char *quoted = json_dumps(name, DUMP_FLAGS);
        json_decref(name);
        add_indent(text, depth + 1);
        api_text_add(text, "%s: ", quoted ? quoted : "");
        add_value(text, value, depth + 1, quoted ? strlen(quoted) + 3 : 0);
        api_text_add(text, "%s", --left > 0 ? "," : "");
        free(quoted);
    }
    add_indent(text, depth);
    api_text_add(text, "}");
}

static void add_items(api_text *text, json_t *list, size_t depth)
{
    api_text_add(text, "[");
    for (size_t i = 0; i < json_array_size(list); i++) {
        add_indent(text, depth + 1);
        add_value(text, json_array_get(list, i), depth + 1, 0);
        api_text_add(text, "%s", i + 1 < json_array_size(list) ? "," : "");
    }
    add_indent(text, depth);
    api_text_add(text, "]");
}

/* Add a value; `used` columns of its line are taken besides the indent. */
static void add_value(api_text *text, json_t *value, size_t depth, size_t used)
{
    char *line = json_dumps(value, DUMP_FLAGS);
    bool nested = json_is_object(value) || json_is_array(value);
    if (!line)
        text->failed = true;
    else if (!nested || strlen(line) + used + 2 * depth < LINE_WIDTH)
        api_text_put(text, line, strlen(line));
    else if (is_list_of_scalars(value))
        add_filled(text, value, depth);
    else if (json_is_array(value))
        add_items(text, value, depth);
    else
        add_members(text, value, depth);
    free(line);
}

char *api_document_readable(json_t *document)
{
    api_text text = {0};
    if (document)
        add_value(&text, document, 0, 0);
    api_text_add(&text, "\n");
    bool failed = !document || api_document_failed();
    char *taken = api_text_take(&text);
    api_document_drop(document);
    if (failed) {
        free(taken);
        return NULL;
    }
    return taken;
}
