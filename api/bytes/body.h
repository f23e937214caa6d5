/* Bodies: making them, and parts of them. */
#ifndef API_BODY_H
#define API_BODY_H

#include "api.h"
#include "bytes/digest.h"
#include "bytes/text.h"

/* A body of a text from malloc, which the function takes over: without memory it frees the text
 * and returns NULL. */
api_body *api_body_from_text(char *text, size_t size);

/* A body of a growing text, which is left empty; ret_bytes is the memory that the body holds.
 * NULL without memory, or if the text has failed. */
api_body *api_body_take_text(api_text *text, size_t *ret_bytes);

/* The pool of the memory of such a body; NULL if it has none. */
pe_pool *api_body_pool(const api_body *body);

/* A body of segments that lie in a table, in `owned` or in memory that is never freed. The body
 * holds a reference to the table, which may be NULL, and takes over `owned`, which is from
 * malloc or NULL. NULL without memory; `owned` is freed then. */
api_body *api_body_from_table(pe_table *table, void *owned, const api_segment *segments,
                              size_t count);

/* A body of bytes that belong to `owner`. The body takes over a reference to the owner, which
 * it drops by `unref` in the end. NULL without memory; the reference is dropped then. */
api_body *api_body_from_memory(api_segment bytes, void *owner, void (*unref)(void *));

/* What a streamed body reads its bytes from. */
typedef struct api_source {
    void *state;
    uint64_t size; /* API_LENGTH_UNKNOWN if it shows only when everything has been read */
    /* As api_body_read. */
    size_t (*read)(void *state, uint64_t offset, char *dst, size_t room);
    void (*free)(void *state);
    bool slow; /* as api_body_is_slow */
} api_source;

/* A streamed body, which takes over the source's state. NULL without memory; the state is freed
 * then. */
api_body *api_body_from_source(const api_source *source);

/* A body of the bytes [first, first + size) of another one, to which it holds a reference:
 * nothing is copied. Of a stream, the part must be its only reader. NULL without memory. */
api_body *api_body_part(api_body *whole, uint64_t first, uint64_t size);

/* A body is attached to an entry of the cache, in whose budget `bytes` count. Where it is still
 * being sent as the entry drops it, these count in `memory` from then on, if they are many; the
 * reference is dropped. */
void api_body_attach(api_body *body, api_memory *memory, uint64_t bytes);
void api_body_drop_attached(api_body *body);

/* Bytes of memory that a body takes in addition to its content. */
size_t api_body_footprint(void);

#endif
