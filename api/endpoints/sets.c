/* /v1/sets and /v1/sets/{name}: sets of trained tensors. */
#include "bytes/body.h"
#include "bytes/text.h"
#include "call.h"
#include "http/etag.h"
#include "replies/cacheable.h"
#include "replies/problem.h"
#include "replies/reply.h"

#include <stdio.h>
#include <string.h>

#define QUICK_LIST 256 /* the most sets that a quick request may list */

/* ---- names, tags and preconditions ---- */

/* Whether a name matches API_STORED_NAME_PATTERN. */
static bool is_set_name(const char *name)
{
    static const char first[] = "abcdefghijklmnopqrstuvwxyz0123456789";
    static const char others[] = "abcdefghijklmnopqrstuvwxyz0123456789._-";
    return *name && strchr(first, *name) && name[strspn(name, others)] == '\0' &&
           strlen(name) <= API_STORED_NAME_MAX;
}

/* Write the entity tag of a set, which is its digest in quotes. Returns dst. */
static const char *write_tag(const char *digest, char dst[PE_DIGEST_SIZE + 2])
{
    snprintf(dst, PE_DIGEST_SIZE + 2, "\"%s\"", digest);
    return dst;
}

/* Whether the preconditions of a call that changes the store hold, given the digest of the set
 * that has the name, NULL if there is none. */
static bool preconditions_hold(void *context, const char *digest)
{
    char tag[PE_DIGEST_SIZE + 2];
    return api_judge_conditions(context, digest ? write_tag(digest, tag) : NULL) ==
           API_CONDITIONS_HOLD;
}

static api_reply *unknown_set(void)
{
    return api_problem(API_UNKNOWN_SET, "no set has this name; GET /v1/sets lists them", NULL,
                       NULL);
}

static api_reply *precondition_failed(void)
{
    return api_problem(
        API_PRECONDITION_FAILED,
        "If-Match or If-None-Match does not hold for what is stored under this name", NULL,
        NULL);
}

static api_reply *store_full(const char *detail)
{
    return api_problem(API_STORE_IS_FULL, detail, NULL, NULL);
}

/* The answer to a call that the store has not done. NULL without memory or after api_not_yet.
 */
static api_reply *failure_reply(const api_call *call, api_store_status status)
{
    switch (status) {
    case API_STORE_DONE:
        break;
    case API_STORE_ABSENT:
        return unknown_set();
    case API_STORE_LATER:
        return api_not_yet(call, API_LATER);
    case API_STORE_REFUSED:
        return precondition_failed();
    case API_STORE_TOO_MANY_SETS:
        return store_full("the store holds as many sets as max-stored-sets allows: remove a "
                          "set, or raise that limit of the server");
    case API_STORE_TOO_MANY_BYTES:
        return store_full("the set does not fit into max-store-bytes beside the other sets: "
                          "remove sets, or raise that limit of the server");
    case API_STORE_DISK_FULL:
        return store_full("the disk is full: remove sets, or make room on the disk of the "
                          "server's data-dir or database");
    case API_STORE_READ_ONLY:
        return api_problem(API_STORE_BROKEN,
                           "the server's data-dir has become read-only: sets can be "
                           "used, but not changed",
                           NULL, NULL);
    case API_STORE_FAILED:
    case API_STORE_UNAVAILABLE:
        return api_problem_of_store(status);
    case API_STORE_NO_MEMORY:
        break;
    }
    return NULL;
}

/* A new reply with the fields of a set. NULL without memory. */
static api_reply *new_reply(unsigned status, const char *tag)
{
    api_reply *reply = api_reply_new(status);
    api_reply_add(reply, "ETag", "%s", tag);
    api_reply_add(reply, "Cache-Control", "private, no-cache");
    return reply;
}

/* ---- reading ---- */

/* Append a row of the index as a JSON object. */
static void append_stored(api_text *text, const api_stored *stored)
{
    api_text_add(text, "{\"name\":\"%s\",\"digest\":\"%s\",\"bytes\":%llu,\"tensors\":%s}",
                 stored->name, stored->digest, (unsigned long long)stored->bytes,
                 stored->description);
}

/* Append a row to the list of sets, with a comma if it is not the first one. */
static void visit_stored(void *state, const api_stored *stored)
{
    api_text *text = state;
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
    /* {"sets": […]}; the old path has a name of its own */
    api_text_add(&text, "{\"%s\":[", strrchr(call->pattern, '/') + 1);
    api_store_status status = store->list(store->context, visit_stored, &text);
    api_text_add(&text, "]}\n");
    if (status != API_STORE_DONE || text.failed) {
        api_text_done(&text);
        return failure_reply(call, status);
    }
    return api_body_cacheable(call, api_body_from_text(text.data, text.size),
                              "private, no-cache");
}

/* Whether a request for a set is answered without its bytes: a HEAD, or one whose preconditions
 * decide. ret_reply is the answer then, NULL without memory. */
static bool answer_by_tag(const api_call *call, const char *tag, uint64_t size,
                          api_reply **ret_reply)
{
    const unsigned status = api_status_by_conditions(call, tag, ret_reply);
    if (status == 412)
        return true;
    if (status == 200 && !call->head)
        return false;
    *ret_reply = new_reply(status, tag);
    api_reply_set_length(*ret_reply, size);
    if (status == 200)
        api_reply_add(*ret_reply, "Content-Type", "application/vnd.safetensors");
    return true;
}

static void drop_set(void *set)
{
    api_set_unref(set);
}

/* A body of the set's bytes, which are not copied. */
static api_body *make_body(api_set *set)
{
    api_segment bytes;
    bytes.data = api_set_bytes(set, &bytes.size);
    return api_body_from_memory(bytes, api_set_ref(set), drop_set);
}

/* The reply with a set's file. NULL without memory. */
static api_reply *set_reply(const api_call *call, api_set *set, const char *tag)
{
    api_reply *reply = new_reply(200, tag);
    api_reply_add(reply, "Content-Type", "application/vnd.safetensors");
    api_reply_add(reply, "Content-Disposition", "inline; filename=\"%s.safetensors\"",
                  call->parameter);
    return api_reply_with_body(reply, make_body(set), false);
}

api_reply *api_get_set(const api_call *call)
{
    const api_store *store = call->service->host->store;
    char digest[PE_DIGEST_SIZE], tag[PE_DIGEST_SIZE + 2];
    uint64_t size;
    api_reply *reply;
    bool known = store->look(store->context, call->parameter, digest, &size);
    if (known && answer_by_tag(call, write_tag(digest, tag), size, &reply))
        return reply;
    api_set *set = NULL;
    api_store_status status =
        store->find(store->context, call->parameter, call->request->quick, &set);
    if (status != API_STORE_DONE)
        return failure_reply(call, status);
    /* the set may be another one since look(), so the tag is that of the set itself */
    size_t bytes;
    api_set_bytes(set, &bytes);
    if (!answer_by_tag(call, write_tag(api_set_digest(set), tag), bytes, &reply))
        reply = set_reply(call, set, tag);
    api_set_unref(set);
    return reply;
}

/* ---- writing ---- */

bool api_refuse_upload(const api_call *call, api_reply **ret_refusal)
{
    const api_store *store = call->service->host->store;
    char digest[PE_DIGEST_SIZE];
    uint64_t size;
    pe_error error;
    pe_error_init(&error);
    if (!is_set_name(call->parameter))
        pe_error_add(&error, PE_MALFORMED, "name", call->parameter,
                     "1 to %d characters of a-z, 0-9, '.', '_' and '-', the first of them a "
                     "letter or digit",
                     API_STORED_NAME_MAX);
    if (api_call_header(call, API_HEADER_CONTENT_RANGE))
        pe_error_add(&error, PE_MALFORMED, "Content-Range", "",
                     "left out: a set is uploaded as a whole");
    if (error.count > 0) {
        *ret_refusal = api_problem_from_error(&error);
        return true;
    }
    if (!store->is_up(store->context)) {
        *ret_refusal = api_problem_of_store(API_STORE_UNAVAILABLE);
        return true;
    }
    if (store->shared) /* put asks the storage: another server may just have changed the set */
        return false;
    bool exists = store->look(store->context, call->parameter, digest, &size);
    if (preconditions_hold((void *)(uintptr_t)call, exists ? digest : NULL))
        return false;
    *ret_refusal = precondition_failed();
    return true;
}

/* 201 with a description of the set, or 204 if it has replaced another one. */
static api_reply *stored_reply(const api_call *call, const api_set *set, bool replaced)
{
    char tag[PE_DIGEST_SIZE + 2];
    api_reply *reply = new_reply(replaced ? 204 : 201, write_tag(api_set_digest(set), tag));
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
    api_reply *refusal;
    if (api_refuse_upload(call, &refusal))
        return refusal;
    if (request->quick)
        return api_not_yet(call, API_LATER);
    pe_error error;
    size_t size = request->body_size;
    api_set *set =
        api_set_read(request->body ? request->take_body(request->context) : NULL, size, &error);
    if (!set)
        return api_problem_from_error(&error);
    const api_condition condition = {(void *)(uintptr_t)call, preconditions_hold};
    bool replaced;
    api_store_status status =
        store->put(store->context, call->parameter, set, &condition, &replaced);
    api_reply *reply = status == API_STORE_DONE ? stored_reply(call, set, replaced)
                                                : failure_reply(call, status);
    api_set_unref(set);
    return reply;
}

api_reply *api_delete_set(const api_call *call)
{
    const api_store *store = call->service->host->store;
    if (call->request->quick)
        return api_not_yet(call, API_LATER);
    const api_condition condition = {(void *)(uintptr_t)call, preconditions_hold};
    api_store_status status = store->remove(store->context, call->parameter, &condition);
    if (status != API_STORE_DONE)
        return failure_reply(call, status);
    api_reply *reply = api_reply_new(204);
    api_reply_add(reply, "Cache-Control", "no-store");
    return reply;
}
