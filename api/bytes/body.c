/* Bodies: segments in memory or streams, reference-counted. */
#include "bytes/body.h"

#include "bytes/memory_budget.h"

#include <assert.h>
#include <stdatomic.h>
#include <stdlib.h>

struct api_body {
    atomic_uint references;
    /* What keeps the memory of the segments alive; each may be NULL: */
    pe_table *table;
    void *owned;           /* from malloc, or a block of pe_buffer_allocate */
    size_t block;          /* capacity of the block; 0 if `owned` is from malloc */
    pe_pool *pool;         /* of the block, or NULL */
    void *owner;           /* another object */
    void (*unref)(void *); /* drops the reference to the owner */
    size_t count;
    api_segment segments[API_SEGMENTS_MAX];
    api_source source;  /* of a stream, which has no segments; its state may be NULL */
    api_body *whole;    /* the body of which this one is a part; or NULL */
    uint64_t first;     /* offset of the part in the whole */
    api_share share;    /* of the budget, until the body is freed */
    api_share attached; /* what becomes the share when the cache drops the body */
};

api_body *api_body_from_table(pe_table *table, void *owned, const api_segment *segments,
                              size_t count)
{
    assert(count <= API_SEGMENTS_MAX);
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

api_body *api_body_from_memory(api_segment bytes, void *owner, void (*unref)(void *))
{
    api_body *body = api_body_from_table(NULL, NULL, &bytes, 1);
    if (!body) {
        unref(owner);
        return NULL;
    }
    body->owner = owner;
    body->unref = unref;
    return body;
}

api_body *api_body_take_text(api_text *text, size_t *ret_bytes)
{
    if (!text->failed && !text->block && text->size < text->capacity) { /* return the rest */
        char *fitted = realloc(text->data, text->size);
        if (fitted)
            text->data = fitted;
        text->capacity = text->size;
    }
    api_segment content = {text->data, text->size};
    api_body *body = text->failed ? NULL : api_body_from_table(NULL, NULL, &content, 1);
    if (!body) {
        api_text_done(text);
        return NULL;
    }
    body->owned = text->data;
    body->block = text->block ? text->capacity : 0;
    body->pool = text->pool;
    *ret_bytes = text->capacity;
    *text = (api_text){0};
    return body;
}

pe_pool *api_body_pool(const api_body *body)
{
    return body->pool;
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
    if (body->owner)
        body->unref(body->owner);
    if (body->block)
        pe_buffer_release(body->pool, body->owned, body->block);
    else
        free(body->owned);
    api_share_release(&body->share);
    free(body);
}

/* The body itself, or the one of which it is a part. */
static const api_body *find_containing_body(const api_body *body)
{
    while (body->whole)
        body = body->whole;
    return body;
}

#define LARGE_BYTES ((uint64_t)16 << 20) /* the system takes 65 ms for a GiB of small pages */

bool api_body_is_large(const api_body *body)
{
    return find_containing_body(body)->share.bytes >= LARGE_BYTES;
}

#define MANY_BYTES ((uint64_t)256 << 10)

void api_body_attach(api_body *body, api_memory *memory, uint64_t bytes)
{
    body->attached = (api_share){bytes < MANY_BYTES ? NULL : memory, bytes};
}

void api_body_drop_attached(api_body *body)
{
    if (body->attached.memory && atomic_load(&body->references) > 1) {
        body->share = body->attached;
        api_memory_add(body->share.memory, body->share.bytes);
    }
    api_body_unref(body);
}

api_body *api_body_from_source(const api_source *source)
{
    api_body *body = api_body_from_table(NULL, NULL, NULL, 0);
    if (!body) {
        source->free(source->state);
        return NULL;
    }
    body->source = *source;
    body->share = api_reserve_transfer();
    return body;
}

/* Give a part the segments that cover the bytes [first, first + size) of the whole. */
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
        size_t length = (size_t)(rest < size ? rest : size);
        part->segments[part->count++] =
            (api_segment){(const char *)segment.data + first, length};
        first = 0;
        size -= length;
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
        part->source =
            (api_source){.size = size, .read = whole->source.read, .slow = whole->source.slow};
    else
        clip_segments(part, first, size);
    return part;
}

bool api_body_is_stream(const api_body *body)
{
    return body->source.read != NULL;
}

bool api_body_is_slow(const api_body *body)
{
    return body->source.slow;
}

size_t api_body_read(api_body *body, uint64_t offset, char *dst, size_t room)
{
    if (!body->whole)
        return body->source.read(body->source.state, offset, dst, room);
    uint64_t rest = body->source.size - offset;
    if (rest == 0)
        return 0;
    size_t wanted = rest < room ? (size_t)rest : room;
    return api_body_read(body->whole, body->first + offset, dst, wanted);
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

size_t api_body_footprint(void)
{
    return sizeof(api_body);
}
