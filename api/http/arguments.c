/* Reading arguments: query strings and flat JSON objects, into names and texts. */
#include "http/arguments.h"

#include "bytes/text.h"
#include "json/document.h"
#include "json/measure.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const pe_argument *api_argument_find(const pe_argument *arguments, size_t count,
                                     const char *name)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(arguments[i].name, name) == 0)
            return &arguments[i];
    return NULL;
}

void api_arguments_add_names(api_arguments *arguments, const pe_parameter *rows, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        size_t at = 0;
        while (arguments->names[at] && strcmp(arguments->names[at], rows[i].name) != 0)
            at++;
        if (at + 1 < API_NAMES_MAX)
            arguments->names[at] = rows[i].name;
    }
}

pe_options *api_options_take(const pe_parameter *rows, size_t count, api_arguments *arguments,
                             pe_error *reterr)
{
    api_arguments_add_names(arguments, rows, count);
    return pe_options_take(rows, count, arguments->items, &arguments->count, reterr);
}

void api_arguments_done(api_arguments *arguments)
{
    free(arguments->text);
    arguments->text = NULL;
    arguments->count = 0;
}

/* The length of the UTF-8 sequence that `text` begins with, 0 if it begins with none. */
static size_t utf8_sequence(const unsigned char *text, size_t left)
{
    static const struct {
        unsigned char mask, lead, length; /* the first byte is `lead` under the mask */
        uint32_t least;                   /* the least code point of this length */
    } forms[] = {{0x80, 0x00, 1, 1},
                 {0xe0, 0xc0, 2, 0x80},
                 {0xf0, 0xe0, 3, 0x800},
                 {0xf8, 0xf0, 4, 0x10000}};
    for (size_t f = 0; f < 4; f++) {
        if ((text[0] & forms[f].mask) != forms[f].lead)
            continue;
        uint32_t point = text[0] & (unsigned char)~forms[f].mask;
        if (forms[f].length > left)
            return 0;
        for (size_t i = 1; i < forms[f].length; i++) {
            if ((text[i] & 0xc0) != 0x80)
                return 0;
            point = point << 6 | (text[i] & 0x3f);
        }
        bool surrogate = point >= 0xd800 && point <= 0xdfff;
        return point < forms[f].least || point > 0x10ffff || surrogate ? 0 : forms[f].length;
    }
    return 0;
}

bool api_is_utf8(const char *text, size_t size)
{
    for (size_t at = 0, step; at < size; at += step) {
        step = utf8_sequence((const unsigned char *)text + at, size - at);
        if (step == 0)
            return false;
    }
    return true;
}

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    if (c >= 'A' && c <= 'F')
        return c - 'A' + 10;
    return -1;
}

/* Percent-decode a NUL-terminated text in place. False if it is malformed, holds %00 or is not
 * UTF-8. */
static bool percent_decode(char *text)
{
    char *to = text;
    for (const char *from = text; *from; from++) {
        char c = *from == '+' ? ' ' : *from;
        if (c == '%') {
            int high = hex_digit(from[1]), low = high < 0 ? -1 : hex_digit(from[2]);
            if (low < 0 || (high | low) == 0)
                return false;
            c = (char)(high << 4 | low);
            from += 2;
        }
        *to++ = c;
    }
    *to = '\0';
    return api_is_utf8(text, (size_t)(to - text));
}

/* Add a value to the argument before it if that has the same name, as a list is written item by
 * item. `*end` is where the text of that argument ends; the text moves up to it. */
static bool join_repeated_argument(api_arguments *arguments, const char *name,
                                   const char *value, char **end)
{
    if (arguments->count == 0)
        return false;
    pe_argument *last = &arguments->items[arguments->count - 1];
    if (!last->text || strcmp(last->name, name) != 0)
        return false;
    const size_t length = strlen(value);
    *(*end)++ = ',';
    memmove(*end, value, length + 1);
    *end += length;
    last->repeated = true;
    return true;
}

/* Add one name=value pair of a query. A name without a readable value is an argument without
 * text, so that it counts as given. `*end` is where the last argument's text ends. */
static void add_pair(api_arguments *arguments, char *pair, char **end, pe_error *reterr)
{
    char *value = strchr(pair, '=');
    if (value)
        *value++ = '\0';
    if (!percent_decode(pair)) {
        pe_error_add(reterr, PE_MALFORMED, "query", "", "percent-encoded UTF-8 without %%00");
        return;
    }
    if (*pair == '\0') {
        pe_error_add(reterr, PE_MALFORMED, "query", "", "name=value pairs joined by single &");
        return;
    }
    if (!value || *value == '\0') {
        pe_error_add(reterr, PE_MALFORMED, pair, "", "followed by a value: %s=…", pair);
        value = NULL;
    } else if (!percent_decode(value)) {
        pe_error_add(reterr, PE_MALFORMED, pair, "", "percent-encoded UTF-8 without %%00");
        value = NULL;
    }
    if (value && join_repeated_argument(arguments, pair, value, end))
        return;
    if (arguments->count == API_ARGUMENTS_MAX) {
        pe_error_add(reterr, PE_MALFORMED, pair, "",
                     "left out: a request has at most %d parameters", API_ARGUMENTS_MAX);
        return;
    }
    if (value)
        *end = value + strlen(value);
    arguments->items[arguments->count++] = (pe_argument){.name = pair, .text = value};
}

bool api_query_next(const char **rest, api_query_pair *ret_pair)
{
    const char *text = *rest;
    if (!text || *text == '\0')
        return false;
    const size_t size = strcspn(text, "&");
    *ret_pair = (api_query_pair){text, size, strcspn(text, "=&")};
    *rest += size + (text[size] == '&');
    return true;
}

void api_arguments_from_query(const char *query, api_arguments *ret_arguments, pe_error *reterr)
{
    *ret_arguments = (api_arguments){.text = strdup(query ? query : "")};
    if (!ret_arguments->text) {
        pe_error_add(reterr, PE_NO_MEMORY, "", "", "memory for the query");
        return;
    }
    if (!query || *query == '\0')
        return;
    char *end = ret_arguments->text;
    for (char *next, *pair = ret_arguments->text; pair; pair = next) {
        next = strchr(pair, '&');
        if (next)
            *next++ = '\0';
        add_pair(ret_arguments, pair, &end, reterr);
        if (reterr->dropped) /* no more problems can be listed */
            return;
    }
}

/* ---- JSON ---- */

/* Append a JSON value as a query would write it, numbers as doubles. Returns its kind,
 * PE_KIND_ANY if the kind is not legal. */
static pe_kind append_value(api_text *text, const json_t *value)
{
    switch (json_typeof(value)) {
    case JSON_STRING:
        api_text_add(text, "%s", json_string_value(value));
        return PE_KIND_STRING;
    case JSON_TRUE:
        api_text_add(text, "true");
        return PE_KIND_BOOLEAN;
    case JSON_FALSE:
        api_text_add(text, "false");
        return PE_KIND_BOOLEAN;
    case JSON_INTEGER:
    case JSON_REAL:
        api_text_add_number(text, json_number_value(value));
        return PE_KIND_NUMBER;
    case JSON_ARRAY:
        for (size_t i = 0; i < json_array_size(value); i++) {
            if (i > 0)
                api_text_add(text, ",");
            if (append_value(text, json_array_get(value, i)) != PE_KIND_NUMBER)
                return PE_KIND_ANY;
        }
        return PE_KIND_LIST;
    case JSON_NULL:
        return PE_KIND_NULL;
    case JSON_OBJECT:
        return PE_KIND_ANY;
    }
    return PE_KIND_ANY;
}

/* Refuse a value whose kind is not legal, and show it. */
static void refuse_value(const char *name, const json_t *value, pe_error *reterr)
{
    const char *rule = "an array of numbers and of nothing else";
    if (json_is_object(value))
        rule = "left out; its members belong among the other parameters";
    else if (json_is_array(json_array_get(value, 0)))
        rule = json_array_size(value) == 1
                   ? "one array of numbers; it is nested once too deep, so give the inner array"
                   : "one array of numbers; it holds arrays, so give their numbers one after "
                     "the other";
    char *shown = json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT | JSON_REAL_PRECISION(15));
    pe_error_add(reterr, PE_MALFORMED, name, shown ? shown : "", "%s", rule);
    free(shown);
}

/* Write all members as "name\0value\0…", then point the items into the finished text. */
void api_arguments_from_object(const json_t *object, api_arguments *ret_arguments,
                               pe_error *reterr)
{
    api_arguments *arguments = ret_arguments;
    api_text text = {0};
    *arguments = (api_arguments){0};
    size_t names[API_ARGUMENTS_MAX], values[API_ARGUMENTS_MAX];
    bool legal[API_ARGUMENTS_MAX];
    const char *name;
    json_t *value;
    json_object_foreach((json_t *)(uintptr_t)object, name, value)
    {
        size_t i = arguments->count;
        if (i == API_ARGUMENTS_MAX) {
            pe_error_add(reterr, PE_MALFORMED, name, "",
                         "left out: a request has at most %d parameters", API_ARGUMENTS_MAX);
            break;
        }
        names[i] = text.size;
        api_text_add(&text, "%s%c", name, '\0');
        values[i] = text.size;
        arguments->items[i].kind = append_value(&text, value);
        api_text_add(&text, "%c", '\0');
        legal[i] = arguments->items[i].kind != PE_KIND_ANY;
        if (!legal[i])
            refuse_value(name, value, reterr);
        arguments->count++;
    }
    if (text.failed) {
        pe_error_add(reterr, PE_NO_MEMORY, "", "", "memory for the body");
        arguments->count = 0;
    }
    for (size_t i = 0; i < arguments->count; i++) {
        arguments->items[i].name = text.data + names[i];
        arguments->items[i].text = legal[i] ? text.data + values[i] : NULL;
    }
    arguments->text = text.data;
}

/* What is wrong with a text that is not JSON. */
static const char *syntax_fault(const json_error_t *problem)
{
    enum json_error_code code = json_error_code(problem);
    if (code == json_error_null_character || code == json_error_null_byte_in_key)
        return "\\u0000 is not allowed";
    return api_is_utf8(problem->text, strlen(problem->text)) ? problem->text : "not UTF-8";
}

/* Bytes for each byte of a body, besides the tree: the arguments as text, the values, the key.
 */
#define COPIES 16

/* Refuse a body of more values than a request can mean: they take many times its bytes. */
static bool has_few_values(const char *body, size_t size, pe_error *reterr)
{
    const api_json_measure found = api_json_count(body, size);
    char given[80];
    if (found.containers <= API_BODY_CONTAINERS && found.strings <= API_BODY_STRINGS)
        return api_json_reserve(&found, size, COPIES, reterr);
    snprintf(given, sizeof given, "%zu objects and arrays, %zu strings", found.containers,
             found.strings);
    pe_error_add(reterr, PE_MALFORMED, "body", given,
                 "one JSON object of at most %d objects and arrays and %d strings",
                 API_BODY_CONTAINERS, API_BODY_STRINGS);
    return false;
}

/* Refuse a body with a number that reading would change. */
static bool keeps_numbers(const char *body, size_t size, pe_error *reterr)
{
    api_rounded_number found;
    char name[64], given[100], nearest[PE_PRINT_MAX];
    if (!api_json_find_rounded(body, size, &found))
        return true;
    snprintf(name, sizeof name, "%.*s", (int)(found.name_size < 63 ? found.name_size : 63),
             found.name);
    snprintf(given, sizeof given, "%.*s", (int)(found.size < 99 ? found.size : 99), found.text);
    pe_print_number(nearest, found.number);
    pe_error_add(reterr, PE_OUT_OF_RANGE, api_is_utf8(name, strlen(name)) ? name : "body",
                 given, "a number that float64 keeps, such as %s", nearest);
    return false;
}

json_t *api_json_parse(const char *text, size_t size, const char *what, pe_error *reterr)
{
    json_error_t problem = {0};
    const size_t mark = api_document_mark(text, size);
    json_t *root = json_loadb(text + mark, size - mark,
                              JSON_REJECT_DUPLICATES | JSON_DECODE_INT_AS_REAL, &problem);
    if (!root && api_document_lacked_memory(&problem))
        pe_error_add(reterr, PE_NO_MEMORY, "", "", "memory for the body");
    else if (!root)
        pe_error_add(reterr, PE_MALFORMED, "body", "", "%s (line %d, column %d: %s)", what,
                     problem.line, problem.column, syntax_fault(&problem));
    return root;
}

json_t *api_object_from_json(const char *body, size_t size, pe_error *reterr)
{
    static const char ONE[] = "one JSON object";
    const char *text = body ? body : "";
    if (!has_few_values(text, size, reterr) || !keeps_numbers(text, size, reterr))
        return NULL;
    json_t *object = api_json_parse(text, size, ONE, reterr);
    if (!object || json_is_object(object))
        return object;
    pe_error_add(reterr, PE_MALFORMED, "body", "", ONE);
    json_decref(object);
    return NULL;
}

bool api_arguments_from_json(const char *body, size_t size, api_arguments *ret_arguments,
                             pe_error *reterr)
{
    json_t *object = api_object_from_json(body, size, reterr);
    *ret_arguments = (api_arguments){0};
    if (object)
        api_arguments_from_object(object, ret_arguments, reterr);
    json_decref(object);
    return object != NULL;
}
