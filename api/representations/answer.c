/* Answering with a representation: from the cache, computed, or streamed. */
#include "replies/problem.h"
#include "replies/reply.h"
#include "representations/representation.h"
#include "representations/shortcut.h"

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
    api_reply *reply = api_representation_new_reply(hit->representation);
    api_reply_add(reply, "Cache-Status", "posenc; hit");
    reply = api_reply_with_body(reply, api_body_ref(hit->body), false);
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
    const api_host *host = representation->call->service->host;
    uint64_t start = host->now(host->context);
    api_body *body = api_representation_body(representation, entry);
    uint64_t format_time = host->now(host->context) - start;
    api_reply *reply = api_representation_new_reply(representation);
    switch (outcome) {
    case PE_HIT:
        api_reply_add(reply, "Cache-Status", "posenc; hit");
        break;
    case PE_MISS:
        api_reply_add(reply, "Cache-Status", "posenc; fwd=miss");
        break;
    case PE_COALESCED:
        api_reply_add(reply, "Cache-Status", "posenc; fwd=miss; collapsed");
        break;
    }
    if (outcome != PE_HIT)
        api_reply_add(reply, "Server-Timing", "compute;dur=%.3f, format;dur=%.3f",
                      (double)compute_time / 1e6, (double)format_time / 1e6);
    return api_reply_with_body(reply, api_representation_cut(representation, body), false);
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

/* Compute the table, or wait for another thread that does, and answer from it. */
static api_reply *compute_and_answer(const api_representation *representation)
{
    const api_service *service = representation->call->service;
    const api_host *host = service->host;
    pe_entry *entry;
    pe_outcome outcome;
    pe_error error;
    pe_error_init(&error);
    if (!api_representation_reserve(representation, &error))
        return api_problem_from_error(&error);
    uint64_t start = host->now(host->context);
    pe_status status =
        pe_cache_get(service->cache, representation->request, &entry, &outcome, &error);
    uint64_t compute_time = host->now(host->context) - start;
    host->landed(host->context);
    if (status != PE_OK)
        return api_problem_from_error(&error);
    if (outcome == PE_MISS && host->computed)
        host->computed(host->context, compute_time);
    api_reply *reply = own_reply(representation, entry, outcome, compute_time);
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
    api_body *body = api_representation_cut(representation, whole);
    api_reply *reply = api_representation_new_reply(representation);
    api_reply_add(reply, "Cache-Status", "posenc; fwd=bypass; detail=streamed");
    return api_reply_with_body(reply, body, false);
}

/* Answer with the tensors: from the cache, computed, or streamed. */
static api_reply *answer_with_tensors(const api_representation *representation)
{
    const api_request *request = representation->call->request;
    pe_error error;
    const double price = api_representation_price_to_begin(representation);
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

/* Answer HEAD, without computing anything. */
static api_reply *answer_head(const api_representation *representation)
{
    api_reply *reply = api_representation_new_reply(representation);
    api_reply_set_length(reply, api_representation_length(representation));
    return reply;
}

api_reply *api_representation_reply(api_representation *representation)
{
    api_reply *reply;
    pe_error error;
    pe_error_init(&error);
    if (api_representation_is_decided(representation, &reply) ||
        !api_representation_read_range(representation, &reply))
        return reply;
    if (representation->range.complete &&
        !api_representation_check_price(representation, &error))
        return api_problem_from_error(&error);
    return representation->call->head ? answer_head(representation)
                                      : answer_with_tensors(representation);
}
