/* Building replies. Every function accepts a NULL reply, so that a caller checks for missing
 * memory only once. */
#ifndef API_REPLY_H
#define API_REPLY_H

#include "bytes/body.h"

/* A new reply with the fields that all replies have. NULL without memory. */
api_reply *api_reply_new(unsigned status);

/* Add a header field; `value` is a printf format. The fields of a reply are few and short: the
 * caller must not exceed the room for them. */
void api_reply_add(api_reply *reply, const char *name, const char *value, ...)
    __attribute__((format(printf, 3, 4)));

/* Let Vary, if the reply has it, name one more field. Must come before others share it. */
void api_reply_vary(api_reply *reply, const char *name);

/* Let no page of another origin read or embed the reply. Must come before others share it. */
void api_reply_close(api_reply *reply);

/* Give the reply a body, or for HEAD only the length of that. Takes over both references.
 * Returns the reply; NULL if either is NULL. */
api_reply *api_reply_with_body(api_reply *reply, api_body *body, bool head);

void api_reply_set_refusal(api_reply *reply, api_refusal refusal);

/* Note that the reply's body is made of the request's: see api_reply_reads_request. */
void api_reply_set_reads_request(api_reply *reply);

/* Set the Content-Length of a reply that has no body. */
void api_reply_set_length(api_reply *reply, uint64_t length);

/* Bytes of memory that a reply takes, without its body and what the host keeps for it. */
size_t api_reply_footprint(void);

#endif
