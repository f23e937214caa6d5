/* Paths that nothing answers: which one may have been meant. */
#include "path_suggestion.h"

#include "http/arguments.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#define LONGEST 200 /* bytes of a path that is looked at */

/* The path behind its first slashes and its version, "v1/". */
static const char *skip_version(const char *path)
{
    path += strspn(path, "/");
    if (path[0] == 'v' && isdigit((unsigned char)path[1]) && path[2] == '/')
        path += 2;
    return path + strspn(path, "/");
}

/* Whether a word is the first one of a pattern, or a slip of it. */
static bool matches_first_word(const char *word, const char *pattern)
{
    char known[LONGEST + 1];
    const char *name = known;
    snprintf(known, sizeof known, "%.*s", (int)strcspn(pattern, "/"), pattern);
    return strcmp(word, known) == 0 || pe_find_nearest_name(word, &name, 1);
}

/* Whether a pattern has the place for the rest of a path: a {…}, the same word, or, where there
 * is no rest, any word. */
static bool has_rest(const char *pattern, const char *rest)
{
    const char *own = pattern + strcspn(pattern, "/");
    own += *own == '/';
    return *own == '{' ? *rest : !*rest || strcmp(own, rest) == 0;
}

bool api_suggest_path(const api_route *routes, size_t count, const char *target, char *dst,
                      size_t size)
{
    char path[LONGEST + 1], word[LONGEST + 1];
    const size_t whole = strcspn(target, "?");
    size_t length = whole;
    if (whole > LONGEST || !api_is_utf8(target, strlen(target)))
        return false;
    while (length > 0 && target[length - 1] == '/')
        length--;
    snprintf(path, sizeof path, "%.*s", (int)length, target);
    const char *given = skip_version(path), *rest = given + strcspn(given, "/");
    snprintf(word, sizeof word, "%.*s", (int)(rest - given), given);
    rest += *rest == '/';
    for (size_t i = 0; i < count && *word; i++) {
        const char *pattern = routes[i].pattern, *own = skip_version(pattern);
        if (!has_rest(own, rest) || !matches_first_word(word, own))
            continue;
        const int literal = (int)strcspn(pattern, "{");
        snprintf(dst, size, "%.*s%s", literal, pattern, pattern[literal] ? rest : "");
        return strlen(dst) != whole || memcmp(target, dst, whole) != 0;
    }
    return false;
}
