/* What a request's headers ask for besides the form: conditions, and a part of the bytes. */
#include "encoding.h"
#include "problem.h"
#include "ranges.h"
#include "reply.h"

uint64_t api_encoding_length(const api_encoding *encoding)
{
    return encoding->coding == API_IDENTITY && encoding->format->length
               ? encoding->format->length(&encoding->selection)
               : API_LENGTH_UNKNOWN;
}

bool api_encoding_judge(const api_encoding *encoding, api_reply **ret_reply)
{
    const char *match = api_call_header(encoding->call, "If-Match");
    const char *none_match = api_call_header(encoding->call, "If-None-Match");
    api_etag etag;
    if (encoding->post || (!match && !none_match))
        return false;
    api_encoding_etag(encoding, &etag);
    if (match && !api_tag_is_listed(etag.text, match, true)) {
        *ret_reply = api_problem_of_if_match(&etag);
        return true;
    }
    if (!none_match || !api_etag_matches(&etag, none_match))
        return false;
    *ret_reply = api_reply_new(304);
    api_reply_set_length(*ret_reply, api_encoding_length(encoding));
    api_encoding_add_validators(encoding, &etag, *ret_reply);
    return true;
}

/* Whether the request's Range counts, as far as If-Range decides. */
static bool range_holds(const api_encoding *encoding)
{
    const char *if_range = api_call_header(encoding->call, "If-Range");
    api_etag etag;
    if (!if_range)
        return true;
    api_encoding_etag(encoding, &etag);
    return api_if_range_holds(if_range, &etag);
}

bool api_encoding_take_part(api_encoding *encoding, api_reply **ret_reply)
{
    const api_call *call = encoding->call;
    const char *range = api_call_header(call, "Range");
    if (!range || encoding->post || call->head || encoding->format->measure != API_BYTES ||
        !range_holds(encoding))
        return true;
    uint64_t whole = api_encoding_length(encoding);
    *ret_reply = NULL;
    if (whole == API_LENGTH_UNKNOWN) /* out of memory */
        return false;
    switch (api_read_range(range, whole, &encoding->part.first, &encoding->part.size)) {
    case API_RANGE_NONE:
        break;
    case API_RANGE_PART:
        encoding->part.whole = whole;
        break;
    case API_RANGE_UNSATISFIABLE:
        *ret_reply = api_problem_of_range(whole);
        return false;
    }
    return true;
}
