/* JSON for a person to read. */
#include "bytes/text.h"
#include "posenc.h"
#include "json/document.h"

#include <stdlib.h>
#include <string.h>

#define LINE_WIDTH 100
static void add_indent(api_text *text, size_t depth)
{
    api_text_add(text, "\n%*s", (int)(2 * depth), "");
}

/* Add a string, number or constant; reals as the shortest text of their double. */
static void add_scalar(api_text *text, const json_t *value)
{
    char number[PE_PRINT_MAX];
    char *dumped = json_is_number(value) ? NULL : json_dumps(value, JSON_ENCODE_ANY);
    if (json_is_real(value))
        api_text_put(text, number, pe_print_number(number, json_real_value(value)));
    else if (json_is_integer(value))
        api_text_add(text, "%lld", (long long)json_integer_value(value));
    else if (dumped)
        api_text_put(text, dumped, strlen(dumped));
    else
        text->failed = true;
    free(dumped);
}

static void add_name(api_text *text, const char *name)
{
    json_t *string = json_string(name);
    add_scalar(text, string);
    api_text_add(text, ": ");
    json_decref(string);
}

/* Add a value in one line; once that is too long, the rest of it does not matter, so that each
 * value costs a line and no more, however deep it stands. */
static void add_line(api_text *text, json_t *value)
{
    const char *key;
    json_t *item;
    size_t index,
        left = json_is_array(value) ? json_array_size(value) : json_object_size(value);
    if (json_is_array(value)) {
        api_text_add(text, "[");
        json_array_foreach(value, index, item)
        {
            if (text->size > LINE_WIDTH)
                return;
            add_line(text, item);
            api_text_add(text, --left > 0 ? ", " : "");
        }
        api_text_add(text, "]");
    } else if (json_is_object(value)) {
        api_text_add(text, "{");
        json_object_foreach(value, key, item)
        {
            if (text->size > LINE_WIDTH)
                return;
            add_name(text, key);
            add_line(text, item);
            api_text_add(text, --left > 0 ? ", " : "");
        }
        api_text_add(text, "}");
    } else {
        add_scalar(text, value);
    }
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
        if (text->size - line > LINE_WIDTH - 20) {
            line = text->size;
            add_indent(text, depth + 1);
        }
        add_scalar(text, json_array_get(list, i));
        api_text_add(text, i + 1 < json_array_size(list) ? ", " : "");
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
        add_indent(text, depth + 1);
        size_t indented = text->size;
        add_name(text, key);
        add_value(text, value, depth + 1, text->size - indented);
        api_text_add(text, "%s", --left > 0 ? "," : "");
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
    api_text line = {0};
    bool nested = json_is_object(value) || json_is_array(value);
    add_line(&line, value);
    if (line.failed)
        text->failed = true;
    else if (!nested || line.size + used + 2 * depth < LINE_WIDTH)
        api_text_put(text, line.data, line.size);
    else if (is_list_of_scalars(value))
        add_filled(text, value, depth);
    else if (json_is_array(value))
        add_items(text, value, depth);
    else
        add_members(text, value, depth);
    api_text_done(&line);
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
