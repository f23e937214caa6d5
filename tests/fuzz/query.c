/* Query strings. The input is "scheme?query", as at the end of a path. The key of a legal
 * query, read as a query, must be legal and have the same key. So must the query with its
 * parameters in another order, in another encoding, and with its numbers written in another
 * way. */
#include "support/fuzz.h"

#include "http/arguments.h"

#include <string.h>

static void check_items(const api_arguments *arguments, const pe_error *error)
{
    fuzz_check(arguments->count <= API_ARGUMENTS_MAX, "%zu arguments", arguments->count);
    for (size_t i = 0; i < arguments->count; i++) {
        const pe_argument *item = &arguments->items[i];
        fuzz_check(item->name[0] && api_is_utf8(item->name, strlen(item->name)), "a name");
        fuzz_check(item->text || error->status == PE_MALFORMED, "%s without a text",
                   item->name);
        fuzz_check(!item->text ||
                       (item->text[0] && api_is_utf8(item->text, strlen(item->text))),
                   "the text of %s", item->name);
    }
}

/* Check that a query reads the same when every byte of it is percent-encoded. */
static void check_encoding(const api_arguments *arguments)
{
    api_arguments again;
    pe_error error;
    char *query = fuzz_encode_query(arguments->items, arguments->count);
    pe_error_init(&error);
    api_arguments_from_query(query, &again, &error);
    fuzz_check(error.status == PE_OK && again.count == arguments->count, "%s", query);
    for (size_t i = 0; i < again.count; i++) {
        fuzz_check(strcmp(again.items[i].name, arguments->items[i].name) == 0, "%s", query);
        fuzz_check(strcmp(again.items[i].text, arguments->items[i].text) == 0, "%s", query);
    }
    api_arguments_done(&again);
    free(query);
}

/* Make a query of a key, "scheme@revision&name=value…". A key names a set with its
 * digest, which is left out. To be freed. */
static char *query_of_key(const char *key)
{
    const char *start = strchr(key, '&'), *digest;
    char *query = fuzz_copy(start ? start + 1 : "", start ? strlen(start + 1) : 0);
    char *stored = strstr(query, "set=set:");
    if (stored) {
        digest = stored + strlen("set=set");
        const char *rest = digest + strcspn(digest, "&");
        memmove(stored + strlen("set=set"), rest, strlen(rest) + 1);
    }
    return query;
}

/* Check that a key, read as a query, has itself as its key. */
static void check_fixpoint(const pe_scheme *scheme, const char *key)
{
    api_arguments arguments;
    pe_error error;
    char *query = query_of_key(key);
    pe_error_init(&error);
    api_arguments_from_query(query, &arguments, &error);
    fuzz_check(error.status == PE_OK, "the key %s as a query", key);
    char *again = fuzz_key(scheme, arguments.items, arguments.count, &error);
    fuzz_check(again, "the key %s as a query: %s: %s", key, error.problems[0].parameter,
               error.problems[0].allowed);
    fuzz_check(strcmp(again, key) == 0, "the key %s becomes %s", key, again);
    free(again);
    api_arguments_done(&arguments);
    free(query);
}

/* Check that the arguments have the same key in another order: rotated so that `first` comes
 * first, or reversed if `first` is 0. */
static void check_order(const pe_scheme *scheme, const api_arguments *arguments, size_t first,
                        const char *key)
{
    pe_argument moved[API_ARGUMENTS_MAX];
    pe_error error;
    size_t count = arguments->count;
    for (size_t i = 0; i < count; i++)
        moved[i] = arguments->items[first ? (first + i) % count : count - 1 - i];
    char *other = fuzz_key(scheme, moved, count, &error);
    fuzz_check(!key == !other, "another order is %slegal: %s", key ? "il" : "",
               error.count ? error.problems[0].allowed : "");
    fuzz_check(!key || strcmp(key, other) == 0, "another order has the key %s, not %s", other,
               key);
    free(other);
}

/* Write a number in another way, 4 as 4e0 and -0 as 0e0; copy other texts. To be freed. */
static char *respell(const char *text)
{
    size_t size = strlen(text);
    if (size > 400 || !fuzz_fits("-?(0|[1-9][0-9]*)(\\.[0-9]+)?", text, size))
        return fuzz_copy(text, size);
    text += *text == '-' && strtod(text, NULL) == 0;
    char *spelling = malloc(size + 3);
    fuzz_check(spelling, "memory");
    sprintf(spelling, "%se0", text);
    return spelling;
}

/* Check that the arguments have the same key with their numbers written in another way. */
static void check_spelling(const pe_scheme *scheme, const api_arguments *arguments,
                           const char *key)
{
    pe_argument respelt[API_ARGUMENTS_MAX];
    pe_error error;
    for (size_t i = 0; i < arguments->count; i++) {
        respelt[i] = arguments->items[i];
        respelt[i].text = respell(respelt[i].text);
    }
    char *other = fuzz_key(scheme, respelt, arguments->count, &error);
    fuzz_check(other && strcmp(key, other) == 0, "with other spellings %s, not %s", other, key);
    for (size_t i = 0; i < arguments->count; i++)
        free((void *)(uintptr_t)respelt[i].text);
    free(other);
}

static void check_request(const pe_scheme *scheme, const api_arguments *arguments, bool whole)
{
    pe_error error;
    char *key = fuzz_key(scheme, arguments->items, arguments->count, &error);
    if (!key)
        fuzz_check(!whole || error.count, "a refusal without a reason");
    if (!key && error.count)
        fuzz_check_error(&error);
    if (key) {
        check_fixpoint(scheme, key);
        check_spelling(scheme, arguments, key);
    }
    for (size_t first = 0; first < arguments->count && first < 3; first++)
        check_order(scheme, arguments, first, key);
    free(key);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    api_arguments arguments;
    pe_error error;
    char *text = fuzz_copy(data, size), *query = strchr(text, '?');
    if (query)
        *query++ = '\0';
    const pe_scheme *scheme = fuzz_scheme(text);
    pe_error_init(&error);
    api_arguments_from_query(query, &arguments, &error);
    check_items(&arguments, &error);
    if (error.status != PE_OK)
        fuzz_check_error(&error);
    else
        check_encoding(&arguments);
    if (scheme)
        check_request(scheme, &arguments, error.status == PE_OK);
    api_arguments_done(&arguments);
    free(text);
    return 0;
}
