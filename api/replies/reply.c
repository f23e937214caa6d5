/* Replies: a status, header fields whose values lie in one bounded text, and a body. */
#include "replies/reply.h"

#include <assert.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FIELDS_MAX 24
#define TEXT_MAX   2048

struct api_reply {
    atomic_uint references;
    unsigned status;
    api_refusal refusal;
    bool reads_request;
    bool closed; /* to pages of other origins */
    api_body *body;
    uint64_t length;
    _Atomic(void *) transport;
    void (*free_transport)(void *);
    size_t field_count, text_used;
    api_field fields[FIELDS_MAX];
    char text[TEXT_MAX]; /* the values of the fields that were added */
};

static const api_field COMMON_FIELDS[] = {
    {"Access-Control-Allow-Origin", "*"},
    {"Access-Control-Expose-Headers",
     "Accept-Ranges, Cache-Status, Content-Disposition, Content-Encoding, Content-Length, "
     "Content-Range, ETag, Link, Note, Server-Timing, Tensor-Byte-Order, Tensor-Dtype, "
     "Tensor-Name, Tensor-Names, Tensor-Shape, Tensors-Converted, traceparent, X-Request-Id"},
    {"Cross-Origin-Resource-Policy", "cross-origin"},
    {"X-Content-Type-Options", "nosniff"},
};

api_reply *api_reply_new(unsigned status)
{
    api_reply *reply = malloc(sizeof *reply);
    if (!reply)
        return NULL;
    memset(reply, 0, offsetof(api_reply, text));
    atomic_init(&reply->references, 1);
    reply->status = status;
    reply->length = API_LENGTH_UNKNOWN;
    reply->field_count = sizeof COMMON_FIELDS / sizeof *COMMON_FIELDS;
    memcpy(reply->fields, COMMON_FIELDS, sizeof COMMON_FIELDS);
    return reply;
}

void api_reply_close(api_reply *reply)
{
    static const char own[] = "same-origin";
    size_t kept = 0;
    if (!reply || reply->closed)
        return;
    assert(atomic_load(&reply->references) == 1); /* nobody else reads the fields */
    for (size_t i = 0; i < reply->field_count; i++) {
        api_field field = reply->fields[i];
        if (strncmp(field.name, "Access-Control-", strlen("Access-Control-")) == 0)
            continue;
        if (strcmp(field.name, "Cross-Origin-Resource-Policy") == 0)
            field.value = own;
        reply->fields[kept++] = field;
    }
    reply->field_count = kept;
    reply->closed = true;
}

void api_reply_add(api_reply *reply, const char *name, const char *value, ...)
{
    if (!reply)
        return;
    va_list list;
    va_start(list, value);
    size_t room = TEXT_MAX - reply->text_used;
    char *text = reply->text + reply->text_used;
    int length = vsnprintf(text, room, value, list);
    va_end(list);
    assert(length >= 0 && (size_t)length < room && reply->field_count < FIELDS_MAX);
    reply->fields[reply->field_count++] = (api_field){name, text};
    reply->text_used += (size_t)length + 1;
}

void api_reply_vary(api_reply *reply, const char *name)
{
    for (size_t i = 0; reply && i < reply->field_count; i++)
        if (strcmp(reply->fields[i].name, "Vary") == 0) {
            api_reply_add(reply, "Vary", "%s, %s", name, reply->fields[i].value);
            reply->fields[i] = reply->fields[--reply->field_count];
            return;
        }
}

api_reply *api_reply_with_body(api_reply *reply, api_body *body, bool head)
{
    if (!reply || !body) {
        api_reply_unref(reply);
        api_body_unref(body);
        return NULL;
    }
    reply->length = api_body_size(body);
    if (head)
        api_body_unref(body);
    else
        reply->body = body;
    return reply;
}

void api_reply_set_refusal(api_reply *reply, api_refusal refusal)
{
    if (reply)
        reply->refusal = refusal;
}

void api_reply_set_reads_request(api_reply *reply)
{
    if (reply)
        reply->reads_request = true;
}

bool api_reply_reads_request(const api_reply *reply)
{
    return reply->reads_request;
}

void api_reply_set_length(api_reply *reply, uint64_t length)
{
    if (reply)
        reply->length = length;
}

size_t api_reply_footprint(void)
{
    return sizeof(api_reply);
}

api_reply *api_reply_ref(api_reply *reply)
{
    atomic_fetch_add_explicit(&reply->references, 1, memory_order_relaxed);
    return reply;
}

void api_reply_unref(api_reply *reply)
{
    if (!reply || atomic_fetch_sub_explicit(&reply->references, 1, memory_order_acq_rel) > 1)
        return;
    void *transport = atomic_load(&reply->transport);
    if (transport)
        reply->free_transport(transport);
    api_body_unref(reply->body);
    free(reply);
}

unsigned api_reply_status(const api_reply *reply)
{
    return reply->status;
}

api_refusal api_reply_refusal(const api_reply *reply)
{
    return reply->refusal;
}

size_t api_reply_fields(const api_reply *reply, const api_field **ret_fields)
{
    *ret_fields = reply->fields;
    return reply->field_count;
}

api_body *api_reply_body(const api_reply *reply)
{
    return reply->body;
}

uint64_t api_reply_length(const api_reply *reply)
{
    return reply->length;
}

void *api_reply_transport(api_reply *reply)
{
    return atomic_load(&reply->transport);
}

void *api_reply_set_transport(api_reply *reply, void *prepared, void (*free_prepared)(void *))
{
    void *present = NULL;
    if (atomic_compare_exchange_strong(&reply->transport, &present, prepared)) {
        reply->free_transport = free_prepared; /* only the last unref reads this, after ours */
        return prepared;
    }
    free_prepared(prepared);
    return present;
}
