/* Entity tags: hashing, matching and preconditions. */
#include "http/etag.h"

#include "bytes/digest.h"

#include <string.h>

void api_etag_compute(api_etag *ret_etag, const api_segment *pieces, size_t count)
{
    unsigned char digest[16];
    api_sha256_pieces(pieces, count, sizeof digest, digest);
    ret_etag->text[0] = '"';
    api_write_hex(digest, sizeof digest, ret_etag->text + 1);
    ret_etag->text[33] = '"';
    ret_etag->text[34] = '\0';
}

bool api_tag_is_listed(const char *tag, const char *list, bool strong)
{
    const char *at = list + strspn(list, " \t");
    size_t length = strlen(tag);
    if (at[0] == '*' && at[1 + strspn(at + 1, " \t")] == '\0')
        return true;
    for (; (at = strchr(at, '"')); at++) {
        const char *end = strchr(at + 1, '"');
        if (!end)
            return false;
        bool weak = at - list >= 2 && memcmp(at - 2, "W/", 2) == 0;
        if ((size_t)(end - at) + 1 == length && memcmp(at, tag, length) == 0 &&
            !(strong && weak))
            return true;
        at = end;
    }
    return false;
}

api_conditions api_judge_conditions(const api_call *call, const char *tag)
{
    const char *match = api_call_header(call, API_HEADER_IF_MATCH);
    const char *none_match = api_call_header(call, API_HEADER_IF_NONE_MATCH);
    if (match && (!tag || !api_tag_is_listed(tag, match, true)))
        return API_IF_MATCH_FAILS;
    if (none_match && tag && api_tag_is_listed(tag, none_match, false))
        return API_IF_NONE_MATCH_FAILS;
    return API_CONDITIONS_HOLD;
}
