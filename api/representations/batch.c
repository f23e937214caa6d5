/* Batches: reading the requests, limits over all of them, and the reply. */
#include "representations/batch.h"

#include "bytes/body.h"
#include "bytes/gzip.h"
#include "bytes/memory_budget.h"
#include "http/accept.h"
#include "http/target.h"
#include "replies/cacheable.h"
#include "replies/reply.h"
#include "representations/batch_body.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    const char *media_type, *file;
    bool text;
} FORMS[] = {
    [API_BATCH_SAFETENSORS] = {"application/vnd.safetensors", "posenc.safetensors", false},
    [API_BATCH_JSON] = {"application/json", "posenc.json", true},
};

bool api_batch_begin(api_batch *ret_batch, const api_call *call)
{
    *ret_batch = (api_batch){.call = call};
    ret_batch->parts = calloc(API_BATCH_MAX, sizeof *ret_batch->parts);
    return ret_batch->parts != NULL;
}

void api_batch_done(api_batch *batch)
{
    for (size_t i = 0; i < batch->count; i++) {
        api_batch_part *part = &batch->parts[i];
        api_representation_done(&part->representation);
        if (part->entry)
            pe_entry_unref(part->entry);
        json_decref(part->about);
        free(part->target);
    }
    for (size_t i = 0; i < batch->list_count; i++)
        free(batch->lists[i].items);
    free(batch->parts);
    json_decref(batch->about);
    api_joint_problem_done(&batch->problem);
}

/* ---- reading ---- */

bool api_batch_add(api_batch *batch, int index, const char *name, const pe_scheme *scheme,
                   api_arguments *arguments, pe_error *error, json_t *about,
                   api_reply **ret_reply)
{
    api_batch_part *part = &batch->parts[batch->count++];
    pe_error all;
    snprintf(part->name, sizeof part->name, "%s", name);
    const api_batch_part *first = batch->parts;
    while (strcmp(first->name, part->name) != 0)
        first++;
    if (first < part)
        pe_error_add(error, PE_OUT_OF_RANGE, "name", name, "one that no other request has");
    part->about = about;
    part->target = api_target_write(batch->call, scheme, arguments, error);
    bool read =
        api_representation_read(&part->representation, batch->call, scheme, arguments, error,
                                "it belongs to the whole batch", &all, ret_reply);
    part->representation.post = true;
    api_arguments_done(arguments);
    if (read && all.count > 0)
        api_joint_problem_add(&batch->problem, index, part->name, &all);
    return read;
}

void api_batch_keep_tensors(api_batch *batch, const char *words)
{
    api_batch_part *part = &batch->parts[batch->count - 1];
    const pe_request *request = part->representation.request;
    part->wanted = 0;
    for (size_t t = 0; request && t < pe_request_tensor_count(request); t++) {
        const char *name = pe_request_tensor(request, t)->name;
        size_t length = strlen(name);
        for (const char *at = words; *at; at += strcspn(at, " "), at += *at == ' ')
            if (strcspn(at, " ") == length && strncmp(at, name, length) == 0)
                part->wanted |= 1u << t;
    }
}

bool api_batch_accept(const api_call *call, api_batch_format *ret_format)
{
    const char *accept = api_call_header(call, API_HEADER_ACCEPT);
    int specificity;
    unsigned binary =
        api_accept_quality(accept, FORMS[API_BATCH_SAFETENSORS].media_type, &specificity);
    unsigned json = api_accept_quality(accept, FORMS[API_BATCH_JSON].media_type, &specificity);
    const bool as_text = strcmp(call->request->method, "POST") != 0; /* as all GETs do */
    *ret_format =
        json > binary || (json == binary && as_text) ? API_BATCH_JSON : API_BATCH_SAFETENSORS;
    return json > 0 || binary > 0;
}

bool api_batch_add_list(api_batch *batch, const char *name, const int32_t *items, size_t count)
{
    size_t bytes = count * sizeof *items;
    int32_t *copy = malloc(bytes);
    if (!copy)
        return false;
    memcpy(copy, items, bytes);
    api_batch_list *list = &batch->lists[batch->list_count++];
    *list = (api_batch_list){.items = copy};
    snprintf(list->name, sizeof list->name, "%s", name);
    list->tensor = (pe_tensor){list->name, PE_I32, 1, {count}, count, bytes, count};
    return true;
}

/* ---- limits over all requests ---- */

/* The price of all requests; of what comes before the reply begins. */
static double total_price(const api_batch *batch)
{
    double price = 0;
    for (size_t i = 0; i < batch->count; i++)
        price += api_representation_price(&batch->parts[i].representation);
    return price;
}

static double total_price_to_begin(const api_batch *batch)
{
    double price = 0;
    for (size_t i = 0; i < batch->count; i++)
        price += batch->parts[i].representation.facts.begin;
    return price;
}

static uint64_t total_elements(const api_batch *batch)
{
    uint64_t elements = 0;
    for (size_t i = 0; i < batch->count; i++)
        elements += batch->parts[i].representation.facts.elements;
    return elements;
}

static void check_total(double total, uint64_t limit, const char *of, pe_error *reterr)
{
    char given[48];
    if (total <= (double)limit)
        return;
    snprintf(given, sizeof given, "%.0f %s", total, of);
    pe_error_add(reterr, PE_TOO_LARGE, "requests", given,
                 "fewer or smaller, so that all of them together have at most %llu %s",
                 (unsigned long long)limit, of);
}

/* Compute no tensors but those that the reply has: as JSON all that are selected. */
static void choose_wanted(api_batch *batch, api_batch_format format)
{
    for (size_t i = 0; i < batch->count; i++)
        if (batch->parts[i].wanted && format == API_BATCH_SAFETENSORS)
            api_representation_choose(&batch->parts[i].representation, batch->parts[i].wanted);
}

static void check_totals(api_batch *batch, api_batch_format format)
{
    const api_host *host = batch->call->service->host;
    pe_error error;
    pe_error_init(&error);
    choose_wanted(batch, format);
    double elements = (double)total_elements(batch);
    check_total(elements, host->limits.elements, "elements", &error);
    if (format == API_BATCH_JSON && error.count == 0)
        check_total(elements, host->json_elements, "elements as JSON", &error);
    if (host->compute_cost > 0)
        check_total(total_price(batch), host->compute_cost, "multiply-adds", &error);
    size_t streams = api_batch_choose_streams(batch);
    if (streams > API_BATCH_STREAMS_MAX)
        pe_error_add(&error, PE_TOO_LARGE, "requests", "",
                     "fewer or smaller: beyond the share of the cache that one table may take, "
                     "%llu bytes, at most %d tensors are streamed, and these are %zu",
                     (unsigned long long)host->limits.table_bytes, API_BATCH_STREAMS_MAX,
                     streams);
    if (error.count > 0)
        api_joint_problem_add(&batch->problem, -1, NULL, &error);
}

/* ---- tables ---- */

/* Compute the table of a part, or find it in the cache. The reply holds all of them, whatever
 * the cache evicts. */
static pe_status get_table(api_batch_part *part, pe_outcome *ret_outcome, pe_error *reterr)
{
    uint64_t time;
    pe_error_init(reterr);
    return api_reserve_lasting(pe_request_bytes(part->representation.request), "the tables",
                               reterr)
               ? api_representation_compute(&part->representation, &part->entry, ret_outcome,
                                            &time, reterr)
               : reterr->status;
}

/* Compute the tables that the cache may hold, or find them there. False: a problem was added,
 * and `ret_outcome` says what the worst outcome was. */
static bool get_tables(api_batch *batch, pe_outcome *ret_outcome)
{
    *ret_outcome = PE_HIT;
    for (size_t i = 0; i < batch->count; i++) {
        api_batch_part *part = &batch->parts[i];
        pe_outcome outcome;
        pe_error error;
        if (part->streamed)
            continue;
        if (get_table(part, &outcome, &error) != PE_OK) {
            part->entry = NULL;
            api_joint_problem_add(&batch->problem, (int)i, part->name, &error);
            return false;
        }
        if (outcome != PE_HIT)
            *ret_outcome = PE_MISS;
    }
    return true;
}

/* ---- the reply ---- */

/* Choose the content coding. False: ret_reply is a 406, NULL without memory. */
static bool choose_coding(const api_call *call, bool text, api_coding *ret_coding,
                          api_reply **ret_reply)
{
    *ret_coding = API_IDENTITY;
    if (text)
        return api_choose_text_coding(call, ret_coding, ret_reply);
    if (api_accept_codings(api_call_header(call, API_HEADER_ACCEPT_ENCODING)).identity)
        return true;
    *ret_reply =
        api_problem(API_NOT_ACCEPTABLE, "Accept-Encoding must admit identity", NULL, NULL);
    return false;
}

/* Whether sets are used, which may be replaced at any time. */
static bool uses_sets(const api_batch *batch)
{
    for (size_t i = 0; i < batch->count; i++)
        if (batch->parts[i].representation.facts.stored)
            return true;
    return false;
}

void api_batch_tag(api_batch *batch, api_batch_format format, api_segment origin)
{
    const char *target = batch->call->request->target;
    api_segment pieces[API_BATCH_MAX + 4] = {
        origin, {PE_VERSION, strlen(PE_VERSION)}, {target, strlen(target)}};
    size_t count = 3;
    pieces[count++] = (api_segment){FORMS[format].media_type, strlen(FORMS[format].media_type)};
    for (size_t i = 0; i < batch->count; i++) {
        const pe_request *request = batch->parts[i].representation.request;
        size_t length = 0;
        const char *key = request ? pe_request_key(request, &length) : "";
        pieces[count++] = (api_segment){key, length};
    }
    api_etag_compute(&batch->etag, pieces, count);
}

/* Add the fields that a 304 has as well. */
static void add_cache_fields(const api_batch *batch, api_reply *reply)
{
    if (!batch->etag.text[0]) {
        api_reply_add(reply, "Cache-Control", "no-store");
        return;
    }
    api_reply_add(reply, "ETag", "%s", batch->etag.text);
    api_reply_add(reply, "Cache-Control",
                  uses_sets(batch) ? "no-cache"
                                   : "public, max-age=86400, stale-while-revalidate=604800");
    api_reply_add(reply, "Vary", "Accept, Accept-Encoding");
}

/* A new reply with the fields that tell about the content. */
static api_reply *new_reply(const api_batch *batch, api_batch_format format, api_coding coding)
{
    api_reply *reply = api_reply_new(200);
    add_cache_fields(batch, reply);
    api_reply_add(reply, "Content-Type", "%s", FORMS[format].media_type);
    api_reply_add(reply, "Content-Disposition", "inline; filename=\"%s\"", FORMS[format].file);
    if (coding == API_GZIP)
        api_reply_add(reply, "Content-Encoding", "gzip");
    return reply;
}

/* Evaluate the preconditions. True if they decide: ret_reply is the 412 or 304 then. */
static bool is_decided(const api_batch *batch, api_reply **ret_reply)
{
    const char *tag = batch->etag.text;
    const unsigned status =
        tag[0] ? api_status_by_conditions(batch->call, tag, ret_reply) : 200;
    if (status == 304) {
        *ret_reply = api_reply_new(status);
        add_cache_fields(batch, *ret_reply);
    }
    return status != 200;
}

static bool is_streamed(const api_batch *batch)
{
    bool streamed = false;
    for (size_t i = 0; i < batch->count; i++)
        streamed = streamed || batch->parts[i].streamed;
    return streamed;
}

static api_reply *answer_with_tensors(api_batch *batch, api_batch_format format,
                                      api_coding coding)
{
    pe_outcome outcome;
    api_body *body = NULL;
    if (get_tables(batch, &outcome))
        body = api_batch_body(batch, format);
    if (body && coding == API_GZIP)
        body = api_gzip_stream(body);
    if (batch->problem.requests > 0)
        return api_joint_problem_reply(&batch->problem);
    api_reply *reply = new_reply(batch, format, coding);
    api_reply_add(reply, "Cache-Status", "posenc; %s",
                  is_streamed(batch)  ? "fwd=bypass; detail=streamed"
                  : outcome == PE_HIT ? "hit"
                                      : "fwd=miss");
    return api_reply_with_body(reply, body, false);
}

/* Answer HEAD, without computing anything. */
static api_reply *answer_head(const api_batch *batch, api_batch_format format,
                              api_coding coding)
{
    api_reply *reply = new_reply(batch, format, coding);
    uint64_t length = api_batch_length(batch, format);
    if (coding == API_IDENTITY && length != API_LENGTH_UNKNOWN)
        api_reply_set_length(reply, length);
    return reply;
}

api_reply *api_batch_reply(api_batch *batch, api_batch_format format)
{
    api_coding coding;
    api_reply *refusal;
    if (batch->problem.requests == 0) {
        api_batch_check_names(batch);
        check_totals(batch, format);
    }
    if (batch->problem.requests > 0)
        return api_joint_problem_reply(&batch->problem);
    if (!choose_coding(batch->call, FORMS[format].text, &coding, &refusal))
        return refusal;
    if (batch->etag.text[0]) /* other bytes have another tag */
        api_etag_compute(
            &batch->etag,
            (api_segment[]){{batch->etag.text, strlen(batch->etag.text)},
                            {api_coding_tag(coding), strlen(api_coding_tag(coding))}},
            2);
    if (is_decided(batch, &refusal))
        return refusal;
    if (batch->call->head)
        return answer_head(batch, format, coding);
    return api_may_begin(batch->call, total_price_to_begin(batch))
               ? answer_with_tensors(batch, format, coding)
               : NULL;
}
