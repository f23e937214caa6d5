/* /v1/parameters and /v1/parameters/{name}: stored sets of trained tensors. */
#include "../document.h"
#include "../etag.h"
#include "../problem.h"
#include "../reply.h"
#include "../service.h"
#include "../text.h"

#include <stdio.h>
#include <string.h>

#define QUICK_LIST 256 /* sets that an event thread may list */

/* ---- names, tags and conditions ---- */

/* [a-z0-9][a-z0-9._-]{0,63} */
static bool is_set_name(const char *name)
{
    static const char first[] = "abcdefghijklmnopqrstuvwxyz0123456789";
    static const char others[] = "abcdefghijklmnopqrstuvwxyz0123456789._-";
    return *name && strchr(first, *name) && name[strspn(name, others)] == '\0' &&
           strlen(name) <= API_STORED_NAME_MAX;
}

/* A set's entity tag is its digest. */
static const char *tag_of(const char *digest, char dst[PE_DIGEST_SIZE + 2])
{
    snprintf(dst, PE_DIGEST_SIZE + 2, "\"%s\"", digest);
    return dst;
}

/* If-Match and If-None-Match of a request that writes (RFC 9110, section 13.2). */
static bool conditions_hold(void *context, const char *digest)
{
    const api_call *call = context;
    char tag[PE_DIGEST_SIZE + 2];
    const char *match = api_call_header(call, "If-Match");
    const char *none = api_call_header(call, "If-None-Match");
    if (match && (!digest || !api_tag_is_listed(tag_of(digest, tag), match, true)))
        return false;
    return !none || !digest || !api_tag_is_listed(tag_of(digest, tag), none, false);
}

static api_reply *unknown_set(void)
{
    return api_problem(API_UNKNOWN_SET, "GET /v1/parameters lists the stored sets", NULL, NULL);
}

static api_reply *condition_failed(void)
{
    return api_problem(API_PRECONDITION_FAILED,
                       "If-Match or If-None-Match does not admit the set that stands", NULL,
                       NULL);
}

/* The answer where the store has not done what it was asked. */
static api_reply *refusal_of(const api_call *call, api_store_status status)
{
    switch (status) {
    case API_STORE_DONE:
        break;
    case API_STORE_ABSENT:
        return unknown_set();
    case API_STORE_LATER:
        return api_not_yet(call, API_LATER);
    case API_STORE_REFUSED:
        return condition_failed();
    case API_STORE_FULL:
        return api_problem(API_STORE_IS_FULL,
                           "remove sets or raise the limits; GET /v1/info states them", NULL,
                           NULL);
    case API_STORE_FAILED:
        return api_problem(API_STORE_BROKEN, "the store cannot be read or written", NULL, NULL);
    case API_STORE_NO_MEMORY:
        break;
    }
    return NULL;
}

static api_reply *new_reply(unsigned status, const char *tag)
{
    api_reply *reply = api_reply_new(status);
    api_reply_add(reply, "ETag", "%s", tag);
    api_reply_add(reply, "Cache-Control", "private, no-cache");
    return reply;
}

/* ---- reading ---- */

static void append_stored(api_text *text, const api_stored *stored)
{
    api_text_add(text, "{\"name\":\"%s\",\"digest\":\"%s\",\"bytes\":%llu,\"tensors\":%s}",
                 stored->name, stored->digest, (unsigned long long)stored->bytes,
                 stored->description);
}

static void visit_stored(void *of, const api_stored *stored)
{
    api_text *text = of;
    api_text_add(text, "%s\n ", text->size > 0 && text->data[text->size - 1] == '}' ? "," : "");
    append_stored(text, stored);
}

api_reply *api_list_sets(const api_call *call)
{
    const api_store *store = call->service->host->store;
    uint64_t sets, bytes;
    store->totals(store->context, &sets, &bytes);
    if (call->request->quick && sets > QUICK_LIST)
        return api_not_yet(call, API_LATER);
    api_text text = {0};
    api_text_add(&text, "{\"parameters\":[");
    store->list(store->context, visit_stored, &text);
    api_text_add(&text, "]}\n");
    if (text.failed) {
        api_text_done(&text);
        return NULL;
    }
    return api_body_cacheable(call, api_body_from_text(text.data, text.size),
                              "private, no-cache");
}

/* The answer that needs no byte of the set: to HEAD, or where a condition decides; else NULL.
 */
static api_reply *answer_by_tag(const api_call *call, const char *tag, uint64_t size)
{
    const char *match = api_call_header(call, "If-Match");
    const char *none = api_call_header(call, "If-None-Match");
    if (match && !api_tag_is_listed(tag, match, true))
        return condition_failed();
    bool same = none && api_tag_is_listed(tag, none, false);
    if (!same && !call->head)
        return NULL;
    api_reply *reply = new_reply(same ? 304 : 200, tag);
    api_reply_set_length(reply, size);
    if (!same)
        api_reply_add(reply, "Content-Type", "application/vnd.safetensors");
    return reply;
}

api_reply *api_get_set(const api_call *call)
{
    const api_store *store = call->service->host->store;
    char digest[PE_DIGEST_SIZE], tag[PE_DIGEST_SIZE + 2];
    uint64_t size;
    if (!store->look(store->context, call->parameter, digest, &size))
        return unknown_set();
    api_reply *reply = answer_by_tag(call, tag_of(digest, tag), size);
    if (reply || call->head)
        return reply;
    api_set *set = NULL;
    api_store_status status =
        store->find(store->context, call->parameter, call->request->quick, &set);
    if (status != API_STORE_DONE)
        return refusal_of(call, status);
    reply = new_reply(200, tag_of(api_set_digest(set), tag)); /* it may be another one now */
    api_reply_add(reply, "Content-Type", "application/vnd.safetensors");
    api_reply_add(reply, "Content-Disposition", "inline; filename=\"%s.safetensors\"",
                  call->parameter);
    reply = api_reply_with_body(reply, api_body_from_set(set), false);
    api_set_unref(set);
    return reply;
}

/* ---- writing ---- */

api_reply *api_refuse_upload(const api_call *call)
{
    const api_store *store = call->service->host->store;
    char digest[PE_DIGEST_SIZE];
    uint64_t size;
    pe_error error;
    pe_error_init(&error);
    if (!is_set_name(call->parameter))
        pe_error_add(&error, PE_MALFORMED, "name", call->parameter,
                     "1 to %d of a-z, 0-9, point, underscore and hyphen, the first of them a "
                     "letter or digit",
                     API_STORED_NAME_MAX);
    if (call->query)
        pe_error_add(&error, PE_MALFORMED, "query", "", "no query string with PUT");
    if (api_call_header(call, "Content-Range"))
        pe_error_add(&error, PE_MALFORMED, "Content-Range", "", "the whole file at once");
    if (error.count > 0)
        return api_problem_from_error(&error);
    bool stands = store->look(store->context, call->parameter, digest, &size);
    return conditions_hold((void *)(uintptr_t)call, stands ? digest : NULL)
               ? NULL
               : condition_failed();
}

/* 201 with what was stored, or 204 where it took another one's place. */
static api_reply *stored_reply(const api_call *call, const api_set *set, bool replaced)
{
    char tag[PE_DIGEST_SIZE + 2];
    api_reply *reply = new_reply(replaced ? 204 : 201, tag_of(api_set_digest(set), tag));
    if (replaced)
        return reply;
    api_text text = {0};
    api_stored stored = {call->parameter, api_set_digest(set), api_set_description(set), 0};
    size_t size;
    api_set_bytes(set, &size);
    stored.bytes = size;
    append_stored(&text, &stored);
    api_text_add(&text, "\n");
    if (text.failed) {
        api_text_done(&text);
        api_reply_unref(reply);
        return NULL;
    }
    api_reply_add(reply, "Content-Type", "application/json");
    return api_reply_with_body(reply, api_body_from_text(text.data, text.size), false);
}

api_reply *api_put_set(const api_call *call)
{
    const api_store *store = call->service->host->store;
    const api_request *request = call->request;
    api_reply *refusal = api_refuse_upload(call);
    if (refusal)
        return refusal;
    if (request->quick)
        return api_not_yet(call, API_LATER);
    pe_error error;
    size_t size = request->body_size;
    api_set *set =
        api_set_read(request->body ? request->take_body(request->context) : NULL, size, &error);
    if (!set)
        return api_problem_from_error(&error);
    const api_condition condition = {(void *)(uintptr_t)call, conditions_hold};
    bool replaced;
    api_store_status status =
        store->put(store->context, call->parameter, set, &condition, &replaced);
    api_reply *reply =
        status == API_STORE_DONE ? stored_reply(call, set, replaced) : refusal_of(call, status);
    api_set_unref(set);
    return reply;
}

api_reply *api_delete_set(const api_call *call)
{
    const api_store *store = call->service->host->store;
    if (call->request->quick)
        return api_not_yet(call, API_LATER);
    const api_condition condition = {(void *)(uintptr_t)call, conditions_hold};
    api_store_status status = store->remove(store->context, call->parameter, &condition);
    if (status != API_STORE_DONE)
        return refusal_of(call, status);
    api_reply *reply = api_reply_new(204);
    api_reply_add(reply, "Cache-Control", "no-store");
    return reply;
}
