/* Conditional requests and range requests (RFC 9110, sections 13 and 14). */
#include "http/ranges.h"
#include "replies/problem.h"
#include "replies/reply.h"
#include "representations/representation.h"

/* Whether a request asks for the entity tag. */
static bool has_conditions(const api_call *call)
{
    return api_call_header(call, API_HEADER_IF_MATCH) ||
           api_call_header(call, API_HEADER_IF_NONE_MATCH) ||
           api_call_header(call, API_HEADER_IF_RANGE);
}

bool api_representation_is_decided(api_representation *representation, api_reply **ret_reply)
{
    if (representation->post || !has_conditions(representation->call))
        return false;
    representation->etag = api_representation_tag(representation);
    switch (api_judge_conditions(representation->call, representation->etag.text)) {
    case API_CONDITIONS_HOLD:
        return false;
    case API_IF_MATCH_FAILS:
        *ret_reply = api_problem_of_if_match(representation->etag.text);
        return true;
    case API_IF_NONE_MATCH_FAILS:
        break;
    }
    *ret_reply = api_representation_not_modified(representation);
    return true;
}

bool api_representation_read_range(api_representation *representation, api_reply **ret_reply)
{
    const api_call *call = representation->call;
    const char *range = api_call_header(call, API_HEADER_RANGE);
    const char *if_range = api_call_header(call, API_HEADER_IF_RANGE);
    if (!range || representation->post || call->head ||
        representation->format->measure != API_BYTES ||
        (if_range && !api_if_range_holds(if_range, &representation->etag)))
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
