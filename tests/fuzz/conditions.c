/* If-Match, If-None-Match and If-Range. The input is two lines: an entity tag without its
 * quotes, and the value of a header. If the value is well-formed, this file's own parser must
 * agree (RFC 9110, sections 8.8.3 and 13). In any case, a tag that matches strongly must match
 * weakly, and a value that matches must hold the tag or a star. */
#include "support/fuzz.h"

#include "http/etag.h"
#include "http/ranges.h"

#include <string.h>

#define TAG "(W/)?\"[]!#-Z\\\\^-~[]*\""
static const char OPAQUE[] = "[]!#-Z\\\\^-~[]*";
static const char ONE_TAG[] = TAG;
static const char LIST[] = "[ \t]*(" TAG ")?([ \t]*,[ \t]*(" TAG ")?)*[ \t]*";
static const char STAR[] = "[ \t]*\\*[ \t]*";

/* Whether a well-formed list matches the tag. */
static bool expected(const char *tag, const char *list, bool strong)
{
    if (fuzz_fits(STAR, list, strlen(list)))
        return true;
    size_t length = strlen(tag);
    for (const char *at = list; *at;) { /* from quote to quote, since tags may hold commas */
        bool weak = at[0] == 'W';
        at += weak ? 2 : 0;
        if (*at != '"') {
            at++;
            continue;
        }
        size_t size = strcspn(at + 1, "\"") + 2;
        if (size == length && strncmp(at, tag, size) == 0 && !(weak && strong))
            return true;
        at += size;
    }
    return false;
}

static void check_list(const char *tag, const char *list)
{
    bool strong = api_tag_is_listed(tag, list, true),
         weak = api_tag_is_listed(tag, list, false);
    fuzz_check(!strong || weak, "%s in %s strongly and not weakly", tag, list);
    fuzz_check(!weak || strstr(list, tag) || strchr(list, '*'), "%s in %s", tag, list);
    if (!fuzz_fits(LIST, list, strlen(list)) && !fuzz_fits(STAR, list, strlen(list)))
        return;
    fuzz_check(strong == expected(tag, list, true), "%s in %s strongly: %d", tag, list, strong);
    fuzz_check(weak == expected(tag, list, false), "%s in %s weakly: %d", tag, list, weak);
}

/* Check the value as an If-Range, if the tag fits into an api_etag. */
static void check_if_range(const char *tag, const char *value)
{
    api_etag etag;
    if (strlen(tag) >= sizeof etag.text)
        return;
    strcpy(etag.text, tag);
    bool holds = api_if_range_holds(value, &etag);
    fuzz_check(!holds || api_tag_is_listed(tag, value, true), "If-Range: %s, tag %s", value,
               tag);
    if (fuzz_fits(ONE_TAG, value, strlen(value)))
        fuzz_check(holds == (strcmp(tag, value) == 0), "If-Range: %s, tag %s: %d", value, tag,
                   holds);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char tag[200];
    if (size > 600)
        return 0;
    char *text = fuzz_copy(data, size), *at = text;
    const char *opaque = fuzz_line(&at), *line = fuzz_line(&at);
    char *value = fuzz_copy(line, strlen(line));
    if (!fuzz_fits(OPAQUE, opaque, strlen(opaque)) || strlen(opaque) > 100)
        opaque = "0123456789abcdef0123456789abcdef";
    snprintf(tag, sizeof tag, "\"%s\"", opaque);
    check_list(tag, value);
    check_if_range(tag, value);
    free(value);
    free(text);
    return 0;
}
