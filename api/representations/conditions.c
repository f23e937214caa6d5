/* Conditional requests and range requests (RFC 9110, sections 13 and 14). */
#include "http/ranges.h"
#include "replies/problem.h"
#include "replies/reply.h"
#include "representations/representation.h"

uint64_t api_representation_length(const api_representation *representation)
{
    return representation->coding == API_IDENTITY && representation->format->length
               ? representation->format->length(&representation->selection)
               : API_LENGTH_UNKNOWN;
}

bool api_representation_is_decided(const api_representation *representation,
                                   api_reply **ret_reply)
{
    const char *match = api_call_header(representation->call, API_HEADER_IF_MATCH);
    const char *none_match = api_call_header(representation->call, API_HEADER_IF_NONE_MATCH);
    api_etag etag;
    if (representation->post || (!match && !none_match))
        return false;
    api_representation_etag(representation, &etag);
    if (match && !api_tag_is_listed(etag.text, match, true)) {
        *ret_reply = api_problem_of_if_match(&etag);
        return true;
    }
    if (!none_match || !api_etag_matches(&etag, none_match))
        return false;
    *ret_reply = api_reply_new(304);
    api_reply_set_length(*ret_reply, api_representation_length(representation));
    api_representation_add_cache_fields(representation, &etag, *ret_reply);
    return true;
}

/* Whether If-Range lets the request's Range count; without If-Range it does. */
static bool if_range_holds(const api_representation *representation)
{
    const char *if_range = api_call_header(representation->call, API_HEADER_IF_RANGE);
    api_etag etag;
    if (!if_range)
        return true;
    api_representation_etag(representation, &etag);
    return api_if_range_holds(if_range, &etag);
}

bool api_representation_read_range(api_representation *representation, api_reply **ret_reply)
{
    const api_call *call = representation->call;
    const char *range = api_call_header(call, API_HEADER_RANGE);
    if (!range || representation->post || call->head ||
        representation->format->measure != API_BYTES || !if_range_holds(representation))
        return true;
    uint64_t complete = api_representation_length(representation);
    *ret_reply = NULL;
    if (complete == API_LENGTH_UNKNOWN) /* out of memory */
        return false;
    switch (api_read_range(range, complete, &representation->range.first,
                           &representation->range.size)) {
    case API_RANGE_NONE:
        break;
    case API_RANGE_PART:
        representation->range.complete = complete;
        break;
    case API_RANGE_UNSATISFIABLE:
        *ret_reply = api_problem_of_range(complete);
        return false;
    }
    return true;
}
