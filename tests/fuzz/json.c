/* JSON bodies. The input is a line with a scheme and then the body. A body that is legal has
 * the key of the query that says the same, and of the same object written otherwise; only kinds
 * ("4" for 4) make a query legal whose body is not. */
#include "support/fuzz.h"

#include "arguments.h"

#include <jansson.h>
#include <string.h>

/* The key of the arguments as a query; NULL if it is refused. */
static char *query_key(const pe_scheme *scheme, const api_arguments *arguments)
{
    api_arguments again;
    pe_error error;
    char *key = NULL, *query = fuzz_encode_query(arguments->items, arguments->count);
    pe_error_init(&error);
    api_arguments_from_query(query, &again, &error);
    if (error.status == PE_OK)
        key = fuzz_key(scheme, again.items, again.count, &error);
    api_arguments_done(&again);
    free(query);
    return key;
}

/* The key of the body's object, sorted, indented and in ASCII. */
static char *rewritten_key(const pe_scheme *scheme, const char *body, size_t size)
{
    api_arguments arguments;
    pe_error error;
    json_t *object = json_loadb(body, size, JSON_DECODE_INT_AS_REAL, NULL);
    fuzz_check(object, "jansson refuses what was read");
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
        else if (scheme)
            check_request(scheme, &arguments, body, rest);
        api_arguments_done(&arguments);
    } else {
        fuzz_check_error(&error);
    }
    free(body);
    free(name);
    return 0;
}
