/* Paths that nothing answers: which one may have been meant. */
#include "path_suggestion.h"

#include "http/arguments.h"

#include <stdio.h>
#include <string.h>

#define SEGMENTS_MAX 6
#define LONGEST      200 /* bytes of a path that is looked at */

/* The segments of a path, without empty ones. */
typedef struct segments {
    char text[LONGEST + 1];
    const char *items[SEGMENTS_MAX];
    size_t count;
} segments;

/* False if the path is longer than any that is served. */
static bool split_path(const char *path, segments *ret)
{
    const size_t length = strcspn(path, "?");
    ret->count = 0;
    if (length > LONGEST)
        return false;
    memcpy(ret->text, path, length);
    ret->text[length] = '\0';
    for (char *next, *item = ret->text; item; item = next) {
        next = strchr(item, '/');
        if (next)
            *next++ = '\0';
        if (*item == '\0')
            continue;
        if (ret->count == SEGMENTS_MAX)
            return false;
        ret->items[ret->count++] = item;
    }
    return ret->count > 0;
}

/* What other services have at these paths, and where it is here. */
static const struct {
    const char *path, *here;
} ELSEWHERE[] = {
    {"v1", "/openapi.json"},
    {"v1/encodings", "/v1/schemes"},
    {"v1/compare", "/v1/schemes"},
    {"healthz", "/health/live"},
    {"livez", "/health/live"},
    {"ping", "/health/live"},
    {"readyz", "/health/ready"},
    {"version", "/v1/info"},
    {"v1/version", "/v1/info"},
    {"status", "/v1/info"},
    {"swagger", "/docs"},
    {"redoc", "/docs"},
    {"swagger.json", "/openapi.json"},
    {"openapi", "/openapi.json"},
    {"openapi.yaml", "/openapi.json"},
};

/* Where a path of other services is here; NULL if it is none. */
static const char *find_elsewhere(const segments *given)
{
    char path[LONGEST + 1] = "";
    for (size_t i = 0, used = 0; i < given->count && used < sizeof path; i++)
        used += (size_t)snprintf(path + used, sizeof path - used, "%s%s", i ? "/" : "",
                                 given->items[i]);
    for (size_t i = 0; i < sizeof ELSEWHERE / sizeof *ELSEWHERE; i++)
        if (strcmp(path, ELSEWHERE[i].path) == 0)
            return ELSEWHERE[i].here;
    return NULL;
}

#define UNLIKE 100

/* How many segments differ: a pattern may begin with a version that was left out, and end with
 * a word that was. UNLIKE where another path is meant. `ret_first` is how many segments of the
 * pattern come before those that were given. */
static int count_slips(const segments *given, const segments *pattern, size_t *ret_first)
{
    const bool is_longer = pattern->count == given->count + 1;
    *ret_first = is_longer && strcmp(given->items[0], pattern->items[0]) != 0;
    if (pattern->count != given->count && !is_longer)
        return UNLIKE;
    if (*ret_first && strcmp(pattern->items[0], "v1") != 0)
        return UNLIKE;
    if (is_longer && !*ret_first && *pattern->items[pattern->count - 1] == '{')
        return UNLIKE;
    int slips = is_longer, known = 0;
    for (size_t i = 0; i < given->count; i++) {
        const char *literal = pattern->items[*ret_first + i];
        if (*literal == '{')
            continue;
        bool equal = strcmp(given->items[i], literal) == 0;
        if (!equal && !pe_find_nearest_name(given->items[i], &literal, 1))
            return UNLIKE;
        known += strcmp(literal, "v1") != 0;
        slips += !equal;
    }
    return known > 0 && slips <= 2 ? slips : UNLIKE;
}

bool api_suggest_path(const api_route *routes, size_t count, const char *target, char *dst,
                      size_t size)
{
    segments given, pattern, best;
    size_t best_first = 0;
    int least = UNLIKE;
    if (!split_path(target, &given) || !api_is_utf8(target, strlen(target)))
        return false;
    const char *here = find_elsewhere(&given);
    if (here)
        return (size_t)snprintf(dst, size, "%s", here) < size;
    for (size_t i = 0; i < count; i++) {
        size_t first;
        if (!split_path(routes[i].pattern, &pattern))
            continue;
        int slips = count_slips(&given, &pattern, &first);
        if (slips >= least)
            continue;
        least = slips;
        best_first = first;
        split_path(routes[i].pattern, &best);
    }
    if (least == UNLIKE)
        return false;
    size_t used = 0;
    for (size_t i = 0; i < best.count && used < size; i++)
        used += (size_t)snprintf(dst + used, size - used, "/%s",
                                 *best.items[i] == '{' ? given.items[i - best_first]
                                                       : best.items[i]);
    return used < size;
}
