/* JSON bodies. The input is a line with a scheme, and then the body. A legal body must have the
 * same key as the query with the same values, and as the same object written in another way. A
 * body that is refused may be legal as a query only if a value is of the wrong kind, such as
 * "4" instead of 4. */
#include "support/fuzz.h"

#include "http/arguments.h"

#include <jansson.h>
#include <string.h>

/* The key of the arguments as a query, without nulls; NULL if it is refused. */
static char *query_key(const pe_scheme *scheme, const api_arguments *arguments)
{
    pe_argument given[API_ARGUMENTS_MAX];
    size_t count = 0;
    for (size_t i = 0; i < arguments->count; i++)
        if (arguments->items[i].kind != PE_KIND_NULL)
            given[count++] = arguments->items[i];
    api_arguments again;
    pe_error error;
    char *key = NULL, *query = fuzz_encode_query(given, count);
    pe_error_init(&error);
    api_arguments_from_query(query, &again, &error);
    if (error.status == PE_OK)
        key = fuzz_key(scheme, again.items, again.count, &error);
    api_arguments_done(&again);
    free(query);
    return key;
}

static json_t *read_object(const char *body, size_t size)
{
    json_t *object =
        json_loadb(body, size, JSON_REJECT_DUPLICATES | JSON_DECODE_INT_AS_REAL, NULL);
    fuzz_check(json_is_object(object), "jansson refuses what was read");
    return object;
}

/* Whether an argument's text has the value of a JSON value. */
static bool is_said(const json_t *value, const char *text)
{
    if (json_is_null(value))
        return *text == '\0';
    if (json_is_string(value))
        return strcmp(text, json_string_value(value)) == 0;
    if (json_is_boolean(value))
        return strcmp(text, json_is_true(value) ? "true" : "false") == 0;
    if (json_is_number(value))
        return strtod(text, NULL) == json_number_value(value);
    for (size_t i = 0; i < json_array_size(value); i++) {
        if (!is_said(json_array_get(value, i), text))
            return false;
        text += strcspn(text, ",");
        if ((*text == ',') != (i + 1 < json_array_size(value)))
            return false;
        text += *text == ',';
    }
    return json_is_array(value);
}

static void check_values(const api_arguments *arguments, const char *body, size_t size)
{
    json_t *object = read_object(body, size);
    fuzz_check(json_object_size(object) == arguments->count, "%zu members", arguments->count);
    for (size_t i = 0; i < arguments->count; i++) {
        const pe_argument *item = &arguments->items[i];
        fuzz_check(is_said(json_object_get(object, item->name), item->text), "%s is %s",
                   item->name, item->text);
    }
    json_decref(object);
}

/* The key of the body's object when it is written sorted, indented and in ASCII. */
static char *rewritten_key(const pe_scheme *scheme, const char *body, size_t size)
{
    api_arguments arguments;
    pe_error error;
    json_t *object = read_object(body, size);
    char *text = json_dumps(object, JSON_ENSURE_ASCII | JSON_SORT_KEYS | JSON_INDENT(3));
    json_decref(object);
    pe_error_init(&error);
    fuzz_check(text && api_arguments_from_json(text, strlen(text), &arguments, &error), "%s",
               text);
    char *key = fuzz_key(scheme, arguments.items, arguments.count, &error);
    api_arguments_done(&arguments);
    free(text);
    return key;
}

static void check_items(const api_arguments *arguments, const pe_error *error)
{
    fuzz_check(arguments->count <= API_ARGUMENTS_MAX, "%zu arguments", arguments->count);
    for (size_t i = 0; i < arguments->count; i++) {
        const pe_argument *item = &arguments->items[i];
        bool unread = !item->text;
        fuzz_check(unread == (item->kind == PE_KIND_ANY), "the kind of %s", item->name);
        fuzz_check(!unread || error->status == PE_MALFORMED, "%s is unread", item->name);
        fuzz_check(api_is_utf8(item->name, strlen(item->name)), "a name");
        for (size_t j = 0; j < i; j++)
            fuzz_check(strcmp(item->name, arguments->items[j].name) != 0, "%s twice",
                       item->name);
    }
}

static void check_request(const pe_scheme *scheme, const api_arguments *arguments,
                          const char *body, size_t size)
{
    pe_error error;
    char *key = fuzz_key(scheme, arguments->items, arguments->count, &error);
    char *of_query = query_key(scheme, arguments);
    if (key) {
        char *rewritten = rewritten_key(scheme, body, size);
        fuzz_check(of_query && strcmp(key, of_query) == 0, "as a query: %s, not %s", of_query,
                   key);
        fuzz_check(rewritten && strcmp(key, rewritten) == 0, "rewritten: %s, not %s", rewritten,
                   key);
        free(rewritten);
    } else {
        fuzz_check_error(&error);
        fuzz_check(!of_query || error.status == PE_MALFORMED, "legal as a query: %s", of_query);
    }
    free(of_query);
    free(key);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    api_arguments arguments;
    pe_error error;
    const uint8_t *end = size ? memchr(data, '\n', size) : NULL;
    size_t line = end ? (size_t)(end - data) : size, rest = end ? size - line - 1 : 0;
    char *name = fuzz_copy(data, line), *body = fuzz_exact(end ? end + 1 : NULL, rest);
    const pe_scheme *scheme = fuzz_scheme(name);
    pe_error_init(&error);
    if (api_arguments_from_json(body, rest, &arguments, &error)) {
        check_items(&arguments, &error);
        if (error.status != PE_OK)
            fuzz_check_error(&error);
        else
            check_values(&arguments, body, rest);
        if (error.status == PE_OK && scheme)
            check_request(scheme, &arguments, body, rest);
        api_arguments_done(&arguments);
    } else {
        fuzz_check_error(&error);
    }
    free(body);
    free(name);
    return 0;
}
