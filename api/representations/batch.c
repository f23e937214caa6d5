/* Batches: reading the requests, limits over all of them, and the reply. */
#include "representations/batch.h"

#include "bytes/gzip.h"
#include "replies/cacheable.h"
#include "replies/reply.h"
#include "representations/batch_body.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
    free(batch->parts);
    api_joint_problem_done(&batch->problem);
}

/* ---- reading ---- */

/* Append a text percent-encoded for a query. */
static void add_encoded(api_text *text, const char *value)
{
    for (; *value; value++) {
        unsigned char c = (unsigned char)*value;
        bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                     (c >= '0' && c <= '9') || strchr("-._~,", c);
        api_text_add(text, plain ? "%c" : "%%%02X", c);
    }
}

/* The target of the same request by GET, from malloc. NULL if it is longer than the server
 * takes, or without memory, which is added to `error`. */
static char *make_target(const api_call *call, const pe_scheme *scheme,
                         const api_arguments *arguments, pe_error *error)
{
    api_text text = {0};
    const char *separator = "?";
    api_text_add(&text, "/v1/encodings/%s", pe_scheme_describe(scheme)->name);
    for (size_t i = 0; i < arguments->count; i++) {
        const pe_argument *argument = &arguments->items[i];
        if (!argument->text || argument->kind == PE_KIND_NULL)
            continue;
        api_text_add(&text, "%s%s=", separator, argument->name);
        add_encoded(&text, argument->text);
        separator = "&";
    }
    bool fits = text.size <= call->service->host->target_bytes;
    char *target = fits ? api_text_take(&text) : NULL;
    if (fits && !target)
        pe_error_add(error, PE_NO_MEMORY, "", "", "memory for the batch");
    api_text_done(&text);
    return target;
}

bool api_batch_add(api_batch *batch, int index, const char *name, const pe_scheme *scheme,
                   api_arguments *arguments, pe_error *error, json_t *about,
                   api_reply **ret_reply)
{
    api_batch_part *part = &batch->parts[batch->count++];
    const api_format *asked;
    pe_error all;
    snprintf(part->name, sizeof part->name, "%s", name);
    part->about = about;
    part->target = make_target(batch->call, scheme, arguments, error);
    bool read = api_representation_read(&part->representation, batch->call, scheme, arguments,
                                        error, &asked, &all, ret_reply);
    part->representation.post = true;
    api_arguments_done(arguments);
    if (read && all.count > 0)
        api_joint_problem_add(&batch->problem, index, part->name, &all);
    return read;
}

/* ---- limits over all requests ---- */

static double total_price(const api_batch *batch)
{
    double price = 0;
    for (size_t i = 0; i < batch->count; i++)
        price += api_representation_price(&batch->parts[i].representation);
    return price;
}

static uint64_t total_elements(const api_batch *batch)
{
    uint64_t elements = 0;
    for (size_t i = 0; i < batch->count; i++) {
        const api_selection *selection = &batch->parts[i].representation.selection;
        for (size_t t = 0; t < selection->count; t++)
            elements += pe_request_tensor(selection->request, selection->first + t)->elements;
    }
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

static void check_totals(api_batch *batch, api_batch_format format)
{
    const api_host *host = batch->call->service->host;
    pe_error error;
    pe_error_init(&error);
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

/* Compute the tables that the cache may hold, or find them there. False: a problem was added,
 * and `ret_outcome` says what the worst outcome was. */
static bool get_tables(api_batch *batch, pe_outcome *ret_outcome)
{
    const api_service *service = batch->call->service;
    const api_host *host = service->host;
    *ret_outcome = PE_HIT;
    for (size_t i = 0; i < batch->count; i++) {
        api_batch_part *part = &batch->parts[i];
        pe_outcome outcome;
        pe_error error;
        if (part->streamed)
            continue;
        uint64_t start = host->now(host->context);
        pe_status status = pe_cache_get(service->cache, part->representation.request,
                                        &part->entry, &outcome, &error);
        uint64_t time = host->now(host->context) - start;
        host->landed(host->context);
        if (status != PE_OK) {
            part->entry = NULL;
            api_joint_problem_add(&batch->problem, (int)i, part->name, &error);
            return false;
        }
        if (outcome == PE_MISS && host->computed)
            host->computed(host->context, time);
        if (outcome != PE_HIT)
            *ret_outcome = PE_MISS;
    }
    return true;
}

/* ---- the reply ---- */

static const struct {
    const char *media_type, *file;
    bool text;
} FORMS[] = {
    [API_BATCH_SAFETENSORS] = {"application/vnd.safetensors", "posenc.safetensors", false},
    [API_BATCH_JSON] = {"application/json", "posenc.json", true},
};

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

static api_reply *answer(api_batch *batch, api_batch_format format, api_coding coding)
{
    pe_outcome outcome;
    api_body *body = NULL;
    if (get_tables(batch, &outcome))
        body = api_batch_body(batch, format);
    if (batch->problem.requests > 0)
        return api_joint_problem_reply(&batch->problem);
    bool streamed = false;
    for (size_t i = 0; i < batch->count; i++)
        streamed = streamed || batch->parts[i].streamed;
    api_reply *reply = api_reply_new(200);
    api_reply_add(reply, "Cache-Control", "no-store");
    api_reply_add(reply, "Content-Type", "%s", FORMS[format].media_type);
    api_reply_add(reply, "Content-Disposition", "inline; filename=\"%s\"", FORMS[format].file);
    api_reply_add(reply, "Cache-Status", "posenc; %s",
                  streamed            ? "fwd=bypass; detail=streamed"
                  : outcome == PE_HIT ? "hit"
                                      : "fwd=miss");
    if (coding == API_GZIP) {
        api_reply_add(reply, "Content-Encoding", "gzip");
        body = body ? api_gzip_stream(body) : NULL;
    }
    return api_reply_with_body(reply, body, false);
}

api_reply *api_batch_reply(api_batch *batch, api_batch_format format)
{
    const api_request *request = batch->call->request;
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
    if (!request->quick)
        return answer(batch, format, coding);
    double price = total_price(batch);
    if (request->ret_price)
        *request->ret_price = price < 0x1p63 ? (uint64_t)price : (uint64_t)1 << 63;
    return api_not_yet(batch->call, API_LATER);
}
