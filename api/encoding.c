/* Encodings: from arguments to a reply. */
#include "encoding.h"

#include "etag.h"
#include "negotiate.h"
#include "problem.h"
#include "reply.h"
#include "shortcut.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- reading ---- */

/* Select the tensors that the format carries: one where it holds one or one is asked for. */
static void select_tensors(api_encoding *encoding, const char *asked, pe_error *error)
{
    size_t count = pe_request_tensor_count(encoding->request);
    const char *names[16];
    encoding->selection = (api_selection){.request = encoding->request,
                                          .count = count,
                                          .options = &encoding->options,
                                          .runner = encoding->call->service->host->runner};
    if (!asked)
        return;
    for (size_t i = 0; i < count && i < 16; i++) {
        names[i] = pe_request_tensor(encoding->request, i)->name;
        if (strcmp(names[i], asked) == 0) {
            encoding->selection.first = i;
            encoding->selection.count = 1;
            return;
        }
    }
    pe_error_add_choice(error, "tensor", asked, names, count);
}

/* The same by the documentation, where the request is wrong in other ways as well. */
static void check_tensor_name(const pe_scheme_info *info, const char *asked, pe_error *error)
{
    const char *names[16];
    for (size_t i = 0; i < info->tensor_count; i++) {
        names[i] = info->tensors[i].name;
        if (strcmp(names[i], asked) == 0)
            return;
    }
    pe_error_add_choice(error, "tensor", asked, names, info->tensor_count);
}

/* Choose the format and its coding. False: ret_reply is the problem, NULL without memory. */
static bool choose_format(api_encoding *encoding, const api_format *asked,
                          api_reply **ret_reply)
{
    char reason[512];
    const char *given = asked ? asked->name : "";
    pe_error error;
    encoding->negotiated = !asked;
    pe_error_init(&error);
    api_codings codings =
        api_accept_codings(api_call_header(encoding->call, "Accept-Encoding"));
    switch (api_choose_format(asked, api_call_header(encoding->call, "Accept"), codings,
                              &encoding->selection, encoding->call->service->host,
                              &encoding->format, reason, sizeof reason, &error)) {
    case API_CHOSEN:
        api_options_check(&encoding->options, encoding->format,
                          &error); /* once more if asked */
        if (error.count == 0)
            break;
        *ret_reply = api_problem_from_error(&error);
        return false;
    case API_CHOICE_NOT_ACCEPTABLE:
        *ret_reply = api_problem(API_NOT_ACCEPTABLE, reason, NULL, NULL);
        return false;
    case API_CHOICE_REFUSED:
        pe_error_add(&error, PE_OUT_OF_RANGE, "format", given, "%s", reason);
        *ret_reply = api_problem(API_NOT_ACCEPTABLE, reason, NULL, &error);
        return false;
    case API_CHOICE_TOO_LARGE:
        pe_error_add(&error, PE_TOO_LARGE, "format", given, "%s", reason);
        *ret_reply = api_problem_from_error(&error);
        return false;
    case API_CHOICE_WRONG:
        *ret_reply = api_problem_from_error(&error);
        return false;
    }
    api_choose_coding(codings, encoding->format->text, &encoding->coding);
    api_options_variant(&encoding->options, encoding->format, encoding->variant);
    if (encoding->format->single)
        encoding->selection.count = 1;
    return true;
}

/* Looks for stored sets on behalf of one call. */
typedef struct set_search {
    const api_call *call;
    api_store_status status; /* what the store last said */
} set_search;

static pe_status find_set(void *context, const char *name, pe_set **ret_set)
{
    set_search *search = context;
    const api_store *store = search->call->service->host->store;
    api_set *set = NULL;
    if (search->status == API_STORE_LATER || search->status == API_STORE_FAILED)
        return PE_NO_MEMORY; /* enough is known */
    search->status = store->find(store->context, name, search->call->request->quick, &set);
    *ret_set = set ? pe_set_ref(api_set_tensors(set)) : NULL;
    api_set_unref(set);
    return search->status == API_STORE_DONE || search->status == API_STORE_ABSENT
               ? PE_OK
               : PE_NO_MEMORY;
}

/* A request that finds stored sets. False: it cannot be made yet, or not at all for a reason
 * that is not the request's; then ret_reply is the answer. */
static bool make_request(api_encoding *encoding, const pe_scheme *scheme,
                         const api_arguments *arguments, pe_error *reterr,
                         api_reply **ret_reply)
{
    set_search search = {encoding->call, API_STORE_DONE};
    const api_host *host = encoding->call->service->host;
    const pe_sets sets = {&search, find_set};
    const char *names[API_OPTIONS_MAX + 3] = {"format", "tensor"};
    const pe_parameter *options[API_OPTIONS_MAX];
    pe_limits limits = host->limits;
    for (size_t i = api_option_rows(options); i-- > 0;)
        names[i + 2] = options[i]->name;
    limits.sets = &sets;
    limits.names = names;
    pe_request_new(scheme, arguments->items, arguments->count, &limits, &encoding->request,
                   reterr);
    if (search.status == API_STORE_LATER)
        *ret_reply = api_not_yet(encoding->call, API_LATER);
    else if (search.status == API_STORE_FAILED)
        *ret_reply = api_problem(API_STORE_BROKEN, "the store cannot be read", NULL, NULL);
    else
        return true;
    return false;
}

bool api_encoding_read(api_encoding *ret_encoding, const api_call *call,
                       const pe_scheme *scheme, api_arguments *arguments, pe_error *found,
                       api_reply **ret_reply)
{
    pe_error error;
    const api_format *asked = NULL;
    *ret_encoding = (api_encoding){.call = call};
    const char *format = api_arguments_take(arguments, "format", found);
    const char *tensor = api_arguments_take(arguments, "tensor", found);
    api_options_read(&ret_encoding->options, arguments, found);
    if (!make_request(ret_encoding, scheme, arguments, &error, ret_reply))
        return false;
    for (size_t i = 0; i < found->count; i++) {
        const pe_problem *from = &found->problems[i];
        pe_problem *to = pe_error_add(&error, found->status, from->parameter, from->given, "%s",
                                      from->allowed);
        pe_problem_suggest(to, from->did_you_mean);
    }
    error.dropped += found->dropped;
    if (format && !(asked = api_format_find(format)))
        pe_error_add_choice(&error, "format", format, api_format_names(), api_format_count());
    if (asked)
        api_options_check(&ret_encoding->options, asked, &error);
    if (ret_encoding->request)
        select_tensors(ret_encoding, tensor, &error);
    else if (tensor)
        check_tensor_name(pe_scheme_describe(scheme), tensor, &error);
    if (error.count > 0) {
        *ret_reply = api_problem_from_error(&error);
        return false;
    }
    return choose_format(ret_encoding, asked, ret_reply);
}

void api_encoding_done(api_encoding *encoding)
{
    pe_request_free(encoding->request);
    encoding->request = NULL;
}

/* ---- replies from an entry ---- */

static void drop_reply(void *reply)
{
    api_reply_unref(reply);
}

typedef struct hit {
    const api_encoding *encoding;
    api_body *body;
} hit;

/* The reply that all hits share. */
static bool build_hit(pe_table *table, void *context, pe_attachment *ret_attachment)
{
    (void)table;
    const hit *of = context;
    api_reply *reply = api_encoding_describe(of->encoding);
    api_reply_add(reply, "Cache-Status", "posenc; hit");
    reply = api_reply_with_body(reply, api_body_ref(of->body), false);
    *ret_attachment = (pe_attachment){reply, api_reply_footprint(), drop_reply};
    return reply != NULL;
}

static api_reply *hit_reply(const api_encoding *encoding, pe_entry *entry)
{
    api_attachment_kind kind = encoding->negotiated ? API_NEGOTIATED_HIT_REPLY : API_HIT_REPLY;
    api_reply *reply = api_attachment(encoding, entry, kind, NULL, NULL);
    if (!reply) {
        hit of = {encoding, api_encoding_body(encoding, entry)};
        if (of.body)
            reply = api_attachment(encoding, entry, kind, build_hit, &of);
        api_body_unref(of.body);
    }
    if (reply)
        api_shortcut_add(encoding, entry, reply);
    return reply ? api_reply_ref(reply) : NULL;
}

/* A reply of its own, for what was computed just now, for parts and for POST. */
static api_reply *own_reply(const api_encoding *encoding, pe_entry *entry, pe_outcome outcome,
                            uint64_t compute_time)
{
    const api_host *host = encoding->call->service->host;
    uint64_t start = host->now(host->context);
    api_body *body = api_encoding_body(encoding, entry);
    uint64_t format_time = host->now(host->context) - start;
    api_reply *reply = api_encoding_describe(encoding);
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
    return api_reply_with_body(reply, api_encoding_part(encoding, body), false);
}

/* ---- answering ---- */

/* Elements up to which a quick request may compute a table; elements up to which it may print
 * that, or compress the text; pixels that it may draw. */
#define QUICK_TABLE  65536
#define QUICK_TEXT   16384
#define QUICK_GZIP   2048
#define QUICK_PIXELS 16384

static bool is_quick_to_write(const api_encoding *encoding)
{
    const api_format *format = encoding->format;
    switch (format->measure) {
    case API_BYTES:
        break;
    case API_ELEMENTS:
        return format->work(&encoding->selection) <=
               (encoding->coding == API_GZIP ? QUICK_GZIP : QUICK_TEXT);
    case API_PIXELS:
        return format->work(&encoding->selection) <= QUICK_PIXELS;
    }
    return true;
}

static bool is_quick_to_compute(const api_encoding *encoding)
{
    uint64_t elements = 0;
    for (size_t i = 0; i < pe_request_tensor_count(encoding->request); i++)
        elements += pe_request_tensor(encoding->request, i)->elements;
    return elements <= QUICK_TABLE;
}

/* Whether the entry has what the reply needs, or making it is quick. */
static bool is_prepared(const api_encoding *encoding, pe_entry *entry)
{
    return is_quick_to_write(encoding) || api_attachment(encoding, entry, API_BODY, NULL, NULL);
}

/* The reply from an entry that was there. */
static api_reply *reply_from(const api_encoding *encoding, pe_entry *entry)
{
    const api_request *request = encoding->call->request;
    api_reply *reply;
    if (request->quick && !is_prepared(encoding, entry))
        reply = api_not_yet(encoding->call, API_LATER);
    else if (encoding->post || request->awaited || encoding->part.whole)
        reply = own_reply(encoding, entry, request->awaited ? PE_COALESCED : PE_HIT, 0);
    else
        reply = hit_reply(encoding, entry);
    pe_entry_unref(entry);
    return reply;
}

static api_reply *compute(const api_encoding *encoding)
{
    const api_service *service = encoding->call->service;
    const api_host *host = service->host;
    pe_entry *entry;
    pe_outcome outcome;
    pe_error error;
    uint64_t start = host->now(host->context);
    pe_status status =
        pe_cache_get(service->cache, encoding->request, &entry, &outcome, &error);
    uint64_t compute_time = host->now(host->context) - start;
    host->landed(host->context);
    if (status != PE_OK)
        return api_problem_from_error(&error);
    if (outcome == PE_MISS && host->computed)
        host->computed(host->context, compute_time);
    api_reply *reply = own_reply(encoding, entry, outcome, compute_time);
    pe_entry_unref(entry);
    return reply;
}

/* ---- tables too large to hold ---- */

static bool is_streamed(const api_encoding *encoding)
{
    return pe_request_bytes(encoding->request) >
           encoding->call->service->host->limits.table_bytes;
}

/* Opening a stream prepares the scheme, which may take some time. */
static api_reply *stream(const api_encoding *encoding)
{
    if (encoding->call->request->quick)
        return api_not_yet(encoding->call, API_LATER);
    api_reply *reply = api_encoding_describe(encoding);
    api_reply_add(reply, "Cache-Status", "posenc; fwd=bypass; detail=streamed");
    api_body *body = api_encoding_part(encoding, api_encoding_stream(encoding));
    return api_reply_with_body(reply, body, false);
}

api_reply *api_encoding_reply(api_encoding *encoding)
{
    const api_request *request = encoding->call->request;
    api_reply *reply;
    if (api_encoding_judge(encoding, &reply) || !api_encoding_take_part(encoding, &reply))
        return reply;
    if (encoding->call->head) {
        reply = api_encoding_describe(encoding);
        api_reply_set_length(reply, api_encoding_length(encoding));
        return reply;
    }
    bool slow = request->quick && pe_request_takes_long(encoding->request);
    if (is_streamed(encoding))
        return slow ? api_not_yet(encoding->call, API_LATER) : stream(encoding);
    pe_entry *entry;
    switch (pe_cache_look(encoding->call->service->cache, encoding->request, request->awaited,
                          &entry)) {
    case PE_FOUND:
        return reply_from(encoding, entry);
    case PE_UNDER_WAY:
        return api_not_yet(encoding->call, API_BUSY);
    case PE_ABSENT:
        break;
    }
    bool quick = is_quick_to_compute(encoding) && is_quick_to_write(encoding);
    if (slow || (request->quick && !quick))
        return api_not_yet(encoding->call, API_LATER);
    return compute(encoding);
}
