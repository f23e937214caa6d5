/* Bodies and replies: reference counting, and fields in a bounded text. */
#include "reply.h"

#include <assert.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SEGMENTS_MAX (API_TENSORS_MAX + 1)

struct api_body {
    atomic_uint references;
    pe_table *table; /* NULL, or what the segments lie in */
    api_set *set;    /* the same */
    void *owned;
    size_t block; /* 0 if `owned` is from malloc, or its capacity */
    size_t count;
    api_segment segments[SEGMENTS_MAX];
    api_source source; /* of a stream, which has no segments */
    api_body *whole;   /* NULL, or what this is a part of, */
    uint64_t first;    /* from this byte on */
};

api_body *api_body_from_table(pe_table *table, void *owned, const api_segment *segments,
                              size_t count)
{
    assert(count <= SEGMENTS_MAX);
    api_body *body = calloc(1, sizeof *body);
    if (!body) {
        free(owned);
        return NULL;
    }
    atomic_init(&body->references, 1);
    body->table = table ? pe_table_ref(table) : NULL;
    body->owned = owned;
    body->count = count;
    for (size_t i = 0; i < count; i++)
        body->segments[i] = segments[i];
    return body;
}

api_body *api_body_from_text(char *text, size_t size)
{
    return api_body_from_table(NULL, text, &(api_segment){text, size}, 1);
}

api_body *api_body_from_set(api_set *set)
{
    api_segment bytes;
    bytes.data = api_set_bytes(set, &bytes.size);
    api_body *body = api_body_from_table(NULL, NULL, &bytes, 1);
    if (body)
        body->set = api_set_ref(set);
    return body;
}

api_body *api_body_take_text(api_text *text, size_t *ret_bytes)
{
    if (!text->failed && !text->block && text->size < text->capacity) {
        char *fitted = realloc(text->data, text->size);
        if (fitted)
            text->data = fitted;
        text->capacity = text->size;
    }
    api_segment all = {text->data, text->size};
    api_body *body = text->failed ? NULL : api_body_from_table(NULL, NULL, &all, 1);
    if (!body) {
        api_text_done(text);
        return NULL;
    }
    body->owned = text->data;
    body->block = text->block ? text->capacity : 0;
    *ret_bytes = text->capacity;
    *text = (api_text){0};
    return body;
}

api_body *api_body_ref(api_body *body)
{
    atomic_fetch_add_explicit(&body->references, 1, memory_order_relaxed);
    return body;
}

void api_body_unref(api_body *body)
{
    if (!body || atomic_fetch_sub_explicit(&body->references, 1, memory_order_acq_rel) > 1)
        return;
    if (body->source.free)
        body->source.free(body->source.state);
    api_body_unref(body->whole);
    pe_table_unref(body->table);
    api_set_unref(body->set);
    if (body->block)
        pe_buffer_release(body->owned, body->block);
    else
        free(body->owned);
    free(body);
}

api_body *api_body_from_source(const api_source *source)
{
    api_body *body = api_body_from_table(NULL, NULL, NULL, 0);
    if (body)
        body->source = *source;
    else
        source->free(source->state);
    return body;
}

/* Take bytes [first, first + size) of the segments. */
static void clip_segments(api_body *part, uint64_t first, uint64_t size)
{
    const api_body *whole = part->whole;
    for (size_t i = 0; i < whole->count && size > 0; i++) {
        api_segment segment = whole->segments[i];
        if (first >= segment.size) {
            first -= segment.size;
            continue;
        }
        uint64_t rest = segment.size - first;
        size_t taken = (size_t)(rest < size ? rest : size);
        part->segments[part->count++] =
            (api_segment){(const char *)segment.data + first, taken};
        first = 0;
        size -= taken;
    }
}

api_body *api_body_part(api_body *whole, uint64_t first, uint64_t size)
{
    api_body *part = api_body_from_table(NULL, NULL, NULL, 0);
    if (!part)
        return NULL;
    part->whole = api_body_ref(whole);
    part->first = first;
    if (api_body_is_stream(whole))
        part->source = (api_source){.size = size, .read = whole->source.read};
    else
        clip_segments(part, first, size);
    return part;
}

bool api_body_is_stream(const api_body *body)
{
    return body->source.read != NULL;
}

size_t api_body_read(api_body *body, uint64_t offset, char *dst, size_t room)
{
    if (!body->whole)
        return body->source.read(body->source.state, offset, dst, room);
    uint64_t rest = body->source.size - offset;
    return rest == 0 ? 0
                     : api_body_read(body->whole, body->first + offset, dst,
                                     rest < room ? (size_t)rest : room);
}

size_t api_body_segments(const api_body *body, const api_segment **ret_segments)
{
    *ret_segments = body->segments;
    return body->count;
}

uint64_t api_body_size(const api_body *body)
{
    uint64_t size = body->source.size;
    for (size_t i = 0; i < body->count; i++)
        size += body->segments[i].size;
    return size;
}

#define TRANSPORT_FOOTPRINT 2848 /* a response with its fields, measured */
#define FIELDS_MAX          24
#define TEXT_MAX            1536

struct api_reply {
    atomic_uint references;
    unsigned status;
    api_refusal refusal;
    api_body *body;
    uint64_t length;
    _Atomic(void *) transport;
    void (*free_transport)(void *);
    size_t field_count, text_used;
    api_field fields[FIELDS_MAX];
    char text[TEXT_MAX]; /* the fields' values */
};

static const api_field COMMON_FIELDS[] = {
    {"Access-Control-Allow-Origin", "*"},
    {"Access-Control-Expose-Headers",
     "Accept-Ranges, Cache-Status, Content-Disposition, Content-Encoding, Content-Length, "
     "Content-Range, ETag, Server-Timing, Tensor-Byte-Order, Tensor-Dtype, Tensor-Name, "
     "Tensor-Shape, traceparent, X-Request-Id"},
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

void api_reply_set_length(api_reply *reply, uint64_t length)
{
    if (reply)
        reply->length = length;
}

size_t api_reply_footprint(void)
{
    return sizeof(api_reply) + TRANSPORT_FOOTPRINT;
}

size_t api_body_footprint(void)
{
    return sizeof(api_body);
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

const char *api_refusal_name(api_refusal refusal)
{
    static const char *const names[API_REFUSALS] = {
        [API_REFUSAL_NONE] = "none",
        [API_REFUSAL_UNAUTHORIZED] = "unauthorized",
        [API_REFUSAL_FORBIDDEN] = "forbidden",
        [API_REFUSAL_TARGET_TOO_LONG] = "target_too_long",
        [API_REFUSAL_BODY_TOO_LARGE] = "body_too_large",
        [API_REFUSAL_RESULT_TOO_LARGE] = "result_too_large",
        [API_REFUSAL_STORE_FULL] = "store_full",
        [API_REFUSAL_STORE_FAILED] = "store_failed",
        [API_REFUSAL_COMPUTE_DEADLINE] = "compute_deadline",
        [API_REFUSAL_OUT_OF_MEMORY] = "out_of_memory",
    };
    return names[refusal];
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

void *api_reply_set_transport(api_reply *reply, void *made, void (*free_made)(void *))
{
    void *standing = NULL;
    if (atomic_compare_exchange_strong(&reply->transport, &standing, made)) {
        reply->free_transport = free_made; /* read by the last unref, after ours */
        return made;
    }
    free_made(made);
    return standing;
}
