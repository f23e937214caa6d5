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

/* Whether a request of the representation has a header; a POST has no conditions and ranges. */
static const char *find_header(const api_representation *representation, api_header header)
{
    return representation->post ? NULL : api_call_header(representation->call, header);
}

bool api_representation_is_decided(const api_representation *representation,
                                   api_reply **ret_reply)
{
    if (!find_header(representation, API_HEADER_IF_MATCH) &&
        !find_header(representation, API_HEADER_IF_NONE_MATCH))
        return false;
    const api_etag etag = api_representation_etag(representation);
    switch (api_judge_conditions(representation->call, etag.text)) {
    case API_CONDITIONS_HOLD:
        return false;
    case API_IF_MATCH_FAILS:
        *ret_reply = api_problem_of_if_match(etag.text);
        return true;
    case API_IF_NONE_MATCH_FAILS:
        break;
    }
    *ret_reply = api_representation_not_modified(representation, &etag);
    return true;
}

/* Whether If-Range lets the request's Range count; without If-Range it does. */
static bool if_range_holds(const api_representation *representation)
{
    const char *if_range = find_header(representation, API_HEADER_IF_RANGE);
    if (!if_range)
        return true;
    const api_etag etag = api_representation_etag(representation);
    return api_if_range_holds(if_range, &etag);
}

bool api_representation_read_range(api_representation *representation, api_reply **ret_reply)
{
    const char *range = find_header(representation, API_HEADER_RANGE);
    if (!range || representation->call->head || representation->format->measure != API_BYTES ||
        !if_range_holds(representation))
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
