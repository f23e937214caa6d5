/* The text of a config.json as JSON. Python's json module writes NaN and Infinity, which JSON
 * does not have: Mamba's files hold them. */
#include "models/config_text.h"

#include "http/arguments.h"
#include "json/document.h"
#include "json/measure.h"

#include <stdlib.h>
#include <string.h>

/* The bytes of NaN, Infinity or -Infinity that `text` begins with; 0 for anything else. */
static size_t foreign_number(const char *text, size_t left)
{
    static const char *const WORDS[] = {"-Infinity", "Infinity", "NaN"};
    for (size_t i = 0; i < sizeof WORDS / sizeof *WORDS; i++)
        if (left >= strlen(WORDS[i]) && memcmp(text, WORDS[i], strlen(WORDS[i])) == 0)
            return strlen(WORDS[i]);
    return 0;
}

/* A copy of the text, from malloc, with null for numbers that JSON does not have. NULL without
 * memory. */
static char *without_foreign_numbers(const char *text, size_t size, size_t *ret_size)
{
    char *copy = malloc(2 * size + 1), *to = copy;
    bool quoted = false;
    for (size_t at = 0; copy && at < size;) {
        size_t foreign = quoted ? 0 : foreign_number(text + at, size - at);
        if (foreign) {
            memcpy(to, "null", 4);
            to += 4;
            at += foreign;
            continue;
        }
        if (quoted && text[at] == '\\' && at + 1 < size)
            *to++ = text[at++];
        else if (text[at] == '"')
            quoted = !quoted;
        *to++ = text[at++];
    }
    if (copy)
        *to = '\0';
    *ret_size = copy ? (size_t)(to - copy) : 0;
    return copy;
}

/* What a config nests and names. */
typedef struct shape {
    size_t deepest, keys, longest_key;
} shape;

static void measure_value(json_t *value, size_t depth, shape *found)
{
    const char *key;
    json_t *member;
    size_t index;
    if (depth > found->deepest && (json_is_object(value) || json_is_array(value)))
        found->deepest = depth;
    json_array_foreach(value, index, member)
    {
        measure_value(member, depth + 1, found);
    }
    json_object_foreach(value, key, member)
    {
        found->keys++;
        found->longest_key =
            strlen(key) > found->longest_key ? strlen(key) : found->longest_key;
        measure_value(member, depth + 1, found);
    }
}

/* Whether a config keeps its limits; else there is a problem. */
static bool is_moderate(json_t *config, pe_error *reterr)
{
    shape found = {0};
    measure_value(config, 1, &found);
    if (found.deepest > API_CONFIG_DEPTH)
        pe_error_add(reterr, PE_MALFORMED, "body", "", "nested at most %d levels deep",
                     API_CONFIG_DEPTH);
    if (found.keys > API_CONFIG_KEYS)
        pe_error_add(reterr, PE_TOO_LARGE, "body", "",
                     "a config.json of at most %d keys; it has %zu", API_CONFIG_KEYS,
                     found.keys);
    if (found.longest_key > API_CONFIG_KEY_BYTES)
        pe_error_add(reterr, PE_TOO_LARGE, "body", "",
                     "a config.json whose keys have at most %d bytes; one has %zu",
                     API_CONFIG_KEY_BYTES, found.longest_key);
    return reterr->count == 0;
}

#define ONE_OBJECT "one JSON object, a config.json"
#define YAML                                                                                   \
    "; python3 -c 'import json, sys, yaml; print(json.dumps(yaml.safe_load(sys.stdin)))' "     \
    "makes one of YAML"

/* Bytes for each byte of a config: its copy, and what a plan says of its keys. */
#define CONFIG_COPIES 16

json_t *api_config_read(const char *text, size_t size, pe_error *reterr)
{
    text = text ? text : "";
    const size_t mark = api_document_mark(text, size);
    text += mark;
    size -= mark;
    if (size > API_CONFIG_BYTES) {
        pe_error_add(reterr, PE_TOO_LARGE, "body", "", "a config.json of at most %zu bytes",
                     API_CONFIG_BYTES);
        return NULL;
    }
    const api_json_measure found = api_json_count(text, size);
    if (!api_json_reserve(&found, size, CONFIG_COPIES, reterr))
        return NULL;
    size_t length;
    char *copy = without_foreign_numbers(text, size, &length);
    if (!copy) {
        pe_error_add(reterr, PE_NO_MEMORY, "", "", "memory for the body");
        return NULL;
    }
    const char *what = copy[strspn(copy, " \t\r\n")] == '{' ? ONE_OBJECT : ONE_OBJECT YAML;
    json_t *config = api_json_parse(copy, length, what, reterr);
    free(copy);
    if (config && !json_is_object(config))
        pe_error_add(reterr, PE_MALFORMED, "body", "", ONE_OBJECT);
    else if (config && is_moderate(config, reterr))
        return config;
    json_decref(config);
    return NULL;
}
