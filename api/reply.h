/* Making bodies and replies. */
#ifndef API_REPLY_H
#define API_REPLY_H

#include "api.h"
#include "text.h"

/* A body that owns `text` (from malloc); on failure NULL, and `text` is freed. */
api_body *api_body_from_text(char *text, size_t size);

/* A body that takes over a text; ret_bytes is the memory it holds. NULL without memory, also if
 * the text has failed; the text is freed then. */
api_body *api_body_take_text(api_text *text, size_t *ret_bytes);

/* A body of pieces of a table, which it holds a reference to, and of `owned` (from malloc, may
 * be NULL), which it frees. NULL without memory, and then `owned` is freed. */
api_body *api_body_from_table(pe_table *table, void *owned, const api_segment *segments,
                              size_t count);

/* A body of the bytes of a stored set, which it holds a reference to. NULL without memory. */
api_body *api_body_from_set(api_set *set);

/* What a streamed body is read from: see api_body_read. */
typedef struct api_source {
    void *state;
    uint64_t size; /* API_LENGTH_UNKNOWN where only reading tells */
    size_t (*read)(void *state, uint64_t offset, char *dst, size_t room);
    void (*free)(void *state);
} api_source;

/* A streamed body, which takes over the source's state. On failure NULL, and the state is
 * freed. */
api_body *api_body_from_source(const api_source *source);

/* Bytes [first, first + size) of a body, which it holds a reference to: nothing is copied. Of a
 * stream that nobody else reads. NULL without memory. */
api_body *api_body_part(api_body *whole, uint64_t first, uint64_t size);

/* A reply with the fields that every reply has. NULL without memory. */
api_reply *api_reply_new(unsigned status);

/* Add a field; `value` is a printf format. The text is bounded: what would not fit is a mistake
 * of ours. Does nothing for a NULL reply. */
void api_reply_add(api_reply *reply, const char *name, const char *value, ...)
    __attribute__((format(printf, 3, 4)));

/* Give the reply a body, taking over the caller's reference, or for HEAD only its length. If
 * `body` is NULL the reply is freed. Returns the reply or NULL. */
api_reply *api_reply_with_body(api_reply *reply, api_body *body, bool head);

/* Say why the reply refuses. */
void api_reply_set_refusal(api_reply *reply, api_refusal refusal);

/* A reply without a body that says how long one would be. */
void api_reply_set_length(api_reply *reply, uint64_t length);

/* Memory that a reply holds with what the transport prepares for it, and that a body holds
 * beside its bytes. */
size_t api_reply_footprint(void);
size_t api_body_footprint(void);

#endif
