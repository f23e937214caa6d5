/* Lists of names and patterns. A name costs one look-up however many are listed, and a pattern
 * one pass over the name, so that a long list and a file of many tensors do not multiply. */
#include "files/name_patterns.h"

#include "files/set_header.h"

#include <stdlib.h>
#include <string.h>

/* Add an item of the list. False: a problem was added. */
static bool add_name(api_names *names, const char *item, const char *option, pe_error *reterr)
{
    if (*item == ' ' || (*item && item[strlen(item) - 1] == ' ')) {
        pe_error_add(reterr, PE_OUT_OF_RANGE, option, item,
                     "names joined by commas, without blanks beside them");
        return false;
    }
    if (!strchr(item, '*')) {
        if (!*item || json_object_set_new_nocheck(names->exact, item, json_true()) == 0)
            return true;
        pe_error_add(reterr, PE_NO_MEMORY, "", "", "memory for the names");
        return false;
    }
    if (names->pattern_count < API_NAME_PATTERNS_MAX) {
        names->end_sizes[names->pattern_count] =
            strrchr(item, '*') == item ? strlen(item) - 1 : 0;
        names->patterns[names->pattern_count++] = item;
        return true;
    }
    pe_error_add(reterr, PE_OUT_OF_RANGE, option, item,
                 "a list with at most %d patterns, and any number of names without *",
                 API_NAME_PATTERNS_MAX);
    return false;
}

bool api_names_read(const char *list, const char *option, api_names *ret_names,
                    pe_error *reterr)
{
    *ret_names = (api_names){.text = strdup(list), .exact = json_object()};
    if (!ret_names->text || !ret_names->exact) {
        pe_error_add(reterr, PE_NO_MEMORY, "", "", "memory for the names");
        return false;
    }
    for (char *rest = ret_names->text, *item; (item = strsep(&rest, ","));)
        if (!add_name(ret_names, item, option, reterr))
            return false;
    return true;
}

void api_names_done(api_names *names)
{
    free(names->text);
    json_decref(names->exact);
}

/* Whether a name fits a pattern that has a star. */
static bool matches_pattern(const char *name, const char *pattern)
{
    const char *end = name + strlen(name);
    size_t size = strcspn(pattern, "*");
    if (strncmp(name, pattern, size) != 0)
        return false;
    while (true) { /* a star and the text up to the next one, which is looked for */
        name += size;
        pattern += size;
        pattern += strspn(pattern, "*");
        size = strcspn(pattern, "*");
        if (pattern[size] == '\0')
            return (size_t)(end - name) >= size && memcmp(end - size, pattern, size) == 0;
        name = memmem(name, (size_t)(end - name), pattern, size);
        if (!name)
            return false;
    }
}

bool api_names_have(const api_names *names, const char *name)
{
    const size_t size = strlen(name);
    bool found =
        json_object_size(names->exact) > 0 && json_object_get(names->exact, name) != NULL;
    for (size_t i = 0; i < names->pattern_count && !found; i++) {
        const char *pattern = names->patterns[i];
        const size_t end = names->end_sizes[i];
        found = end > 0 ? size >= end && name[size - end] == pattern[1] &&
                              memcmp(name + size - end, pattern + 1, end) == 0
                        : matches_pattern(name, pattern);
    }
    return found;
}

/* How many letters two names share at their beginnings and at their ends. */
static size_t count_shared(const char *one, size_t one_size, const char *other,
                           size_t other_size)
{
    const size_t least = one_size < other_size ? one_size : other_size;
    size_t first = 0, last = 0;
    while (first < least && one[first] == other[first])
        first++;
    while (last < least - first && one[one_size - 1 - last] == other[other_size - 1 - last])
        last++;
    return first + last;
}

const char *api_names_nearest(const api_names *names, const json_t *header)
{
    const char *first = names->text + strspn(names->text, "*"), *name, *nearest = NULL;
    const size_t size = strcspn(first, ",");
    size_t most = 0;
    json_t *value;
    json_object_foreach((json_t *)(uintptr_t)header, name, value)
    {
        const bool is_tensor = strcmp(name, API_SET_METADATA) != 0;
        const size_t shared = is_tensor ? count_shared(name, strlen(name), first, size) : 0;
        nearest = shared > most ? name : nearest;
        most = shared > most ? shared : most;
    }
    return nearest;
}
