/* Answering with a representation: by the conditions and the range of the request (RFC 9110,
 * sections 13 and 14), else with the table, from the cache, computed, or streamed. */
#include "bytes/memory_budget.h"
#include "http/ranges.h"
#include "replies/problem.h"
#include "replies/reply.h"
#include "representations/representation.h"
#include "representations/shortcut.h"

/* ---- conditions and range ---- */

/* Whether a request asks for the entity tag. */
static bool has_conditions(const api_call *call)
{
    return api_call_header(call, API_HEADER_IF_MATCH) ||
           api_call_header(call, API_HEADER_IF_NONE_MATCH) ||
           api_call_header(call, API_HEADER_IF_RANGE);
}

/* Evaluate the preconditions of a request that would succeed. True if they decide the answer:
 * ret_reply is the 412 or 304 then, NULL without memory. */
static bool is_decided(api_representation *representation, api_reply **ret_reply)
{
    if (representation->post || !has_conditions(representation->call))
        return false;
    representation->etag = api_representation_tag(representation);
    const unsigned status =
        api_status_by_conditions(representation->call, representation->etag.text, ret_reply);
    if (status == 304)
        *ret_reply = api_representation_without_body(representation, status);
    return status != 200;
}

/* Read the Range of a GET. Ranges are served of binary formats alone: the length of text and
 * pictures shows only when they have been written. False if the range cannot be satisfied:
 * ret_reply is the 416 then, NULL without memory. */
static bool read_range(api_representation *representation, api_reply **ret_reply)
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

/* ---- replies from an entry ---- */

static void drop_reply(void *reply)
{
    api_reply_unref(reply);
}

/* What the reply to hits is built from. */
typedef struct hit_context {
    const api_representation *representation;
    api_body *body;
} hit_context;

/* Build the reply that all hits of a representation share. */
static bool build_hit_reply(pe_table *table, void *context, pe_attachment *ret_attachment)
{
    (void)table;
    const hit_context *hit = context;
    const api_host *host = hit->representation->call->service->host;
    api_reply *reply =
        api_representation_new_reply(hit->representation, "hit", api_body_ref(hit->body));
    size_t bytes = api_reply_footprint() + host->reply_overhead;
    *ret_attachment = (pe_attachment){reply, bytes, drop_reply};
    return reply != NULL;
}

/* The reply that all hits share, built if it is not attached to the entry yet. */
static api_reply *hit_reply(const api_representation *representation, pe_entry *entry)
{
    api_attachment_kind kind =
        representation->negotiated ? API_NEGOTIATED_HIT_REPLY : API_HIT_REPLY;
    api_reply *reply = api_representation_attachment(representation, entry, kind, NULL, NULL);
    if (!reply) {
        hit_context hit = {representation, api_representation_body(representation, entry)};
        if (hit.body)
            reply = api_representation_attachment(representation, entry, kind, build_hit_reply,
                                                  &hit);
        api_body_unref(hit.body);
    }
    if (reply)
        api_shortcut_add(representation, entry, reply);
    return reply ? api_reply_ref(reply) : NULL;
}

/* A reply for this request alone: to one whose table was computed just now, and to requests for
 * a range or by POST. compute_time is in nanoseconds. */
static api_reply *own_reply(const api_representation *representation, pe_entry *entry,
                            pe_outcome outcome, uint64_t compute_time)
{
    static const char *const STATUSES[] = {
        [PE_HIT] = "hit", [PE_MISS] = "fwd=miss", [PE_COALESCED] = "fwd=miss; collapsed"};
    const api_host *host = representation->call->service->host;
    uint64_t start = host->now(host->context);
    api_body *body = api_representation_body(representation, entry);
    uint64_t format_time = host->now(host->context) - start;
    api_reply *reply = api_representation_new_reply(representation, STATUSES[outcome], body);
    if (outcome != PE_HIT)
        api_reply_add(reply, "Server-Timing", "compute;dur=%.3f, format;dur=%.3f",
                      (double)compute_time / 1e6, (double)format_time / 1e6);
    return reply;
}

/* ---- answering ---- */

/* What a quick request may do. */
#define QUICK_TABLE  65536   /* elements to compute */
#define QUICK_PRICE  1048576 /* multiply-adds to compute them */
#define QUICK_TEXT   16384   /* elements to print */
#define QUICK_GZIP   2048    /* elements to print and compress */
#define QUICK_PIXELS 16384   /* pixels to draw */

/* Whether a quick request may write the body. */
static bool is_quick_to_write(const api_representation *representation)
{
    const api_format *format = representation->format;
    if (format->measure == API_BYTES)
        return true;
    const uint64_t text = representation->coding == API_GZIP ? QUICK_GZIP : QUICK_TEXT;
    const uint64_t most = format->measure == API_PIXELS ? QUICK_PIXELS : text;
    return format->work(&representation->selection) <= most;
}

/* Whether a quick request may compute the table and write the body. */
static bool is_quick_to_answer(const api_representation *representation)
{
    return representation->facts.elements <= QUICK_TABLE &&
           representation->facts.price <= QUICK_PRICE && is_quick_to_write(representation);
}

/* Whether the entry has the body, or building it is quick. */
static bool has_quick_body(const api_representation *representation, pe_entry *entry)
{
    return is_quick_to_write(representation) ||
           api_representation_attachment(representation, entry, API_BODY, NULL, NULL);
}

/* Whether the call may answer from an entry. False: that is left to a worker. */
static bool may_use(const api_representation *representation, pe_entry *entry)
{
    if (!representation->call->request->quick || has_quick_body(representation, entry))
        return true;
    api_not_yet(representation->call, API_LATER);
    return false;
}

/* Answer from an entry of the cache, whose reference is dropped. */
static api_reply *reply_from_entry(const api_representation *representation, pe_entry *entry)
{
    const api_request *request = representation->call->request;
    api_reply *reply;
    if (!may_use(representation, entry)) {
        pe_entry_unref(entry);
        return NULL;
    }
    pe_cache_count_use(representation->call->service->cache, request->awaited);
    if (representation->post || request->awaited || representation->range.complete)
        reply = own_reply(representation, entry, request->awaited ? PE_COALESCED : PE_HIT, 0);
    else
        reply = hit_reply(representation, entry);
    pe_entry_unref(entry);
    return reply;
}

/* Reserve what computing the table takes until the call ends: what the scheme prepares, and the
 * table itself if it is large. Making room for that in the cache may evict tables that are
 * being sent. False: there is no room, which was added to reterr. */
static bool reserve_table(const pe_request *request, pe_error *reterr)
{
    uint64_t bytes = pe_request_bytes(request), held = pe_request_held(request);
    return api_reserve(held + (bytes < PE_BUFFER_RECYCLED ? 0 : bytes), "the table", reterr);
}

pe_status api_representation_compute(const api_representation *representation,
                                     pe_entry **ret_entry, pe_outcome *ret_outcome,
                                     uint64_t *ret_time, pe_error *reterr)
{
    const api_service *service = representation->call->service;
    const api_host *host = service->host;
    if (!reserve_table(representation->request, reterr))
        return reterr->status;
    uint64_t start = host->now(host->context);
    pe_status status =
        pe_cache_get(service->cache, representation->request, ret_entry, ret_outcome, reterr);
    *ret_time = host->now(host->context) - start;
    host->landed(host->context);
    if (status == PE_OK && *ret_outcome == PE_MISS && host->computed)
        host->computed(host->context, *ret_time);
    return status;
}

/* Compute the table, or wait for another thread that does, and answer from it. */
static api_reply *compute_and_answer(const api_representation *representation)
{
    uint64_t time;
    pe_entry *entry;
    pe_outcome outcome;
    pe_error error;
    pe_error_init(&error);
    if (api_representation_compute(representation, &entry, &outcome, &time, &error) != PE_OK)
        return api_problem_from_error(&error);
    api_reply *reply = own_reply(representation, entry, outcome, time);
    pe_entry_unref(entry);
    return reply;
}

/* ---- tables too large for the cache ---- */

/* Answer with a stream. Opening it prepares the scheme, which is too much for a quick request.
 */
static api_reply *answer_streamed(const api_representation *representation)
{
    pe_error error;
    api_body *whole = api_representation_stream(representation, &error);
    if (error.status != PE_OK)
        return api_problem_from_error(&error);
    return api_representation_new_reply(representation, "fwd=bypass; detail=streamed", whole);
}

/* Answer with the tensors: from the cache, computed, or streamed. */
static api_reply *answer_with_tensors(const api_representation *representation)
{
    const api_request *request = representation->call->request;
    pe_error error;
    const double price = representation->facts.begin;
    if (representation->facts.streamed)
        return api_may_begin(representation->call, price) ? answer_streamed(representation)
                                                          : NULL;
    pe_entry *entry;
    switch (pe_cache_try_get(representation->call->service->cache, representation->request,
                             &entry)) {
    case PE_FOUND:
        return reply_from_entry(representation, entry);
    case PE_IN_FLIGHT:
        return api_not_yet(representation->call, API_BUSY);
    case PE_ABSENT:
        break;
    }
    if (pe_cache_find_failure(representation->call->service->cache, representation->request,
                              request->arrived, &error))
        return api_problem_from_error(&error);
    /* a worker must compute what is dear, and knows what it costs */
    const bool quick = request->quick && is_quick_to_answer(representation);
    return quick || api_may_begin(representation->call, price)
               ? compute_and_answer(representation)
               : NULL;
}

api_reply *api_representation_reply(api_representation *representation)
{
    api_reply *reply;
    pe_error error;
    pe_error_init(&error);
    if (is_decided(representation, &reply) || !read_range(representation, &reply))
        return reply;
    if (representation->range.complete &&
        !api_representation_check_price(representation, &error))
        return api_problem_from_error(&error);
    return representation->call->head ? api_representation_without_body(representation, 200)
                                      : answer_with_tensors(representation);
}
