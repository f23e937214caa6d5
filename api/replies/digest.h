/* Repr-Digest (RFC 9530): the SHA-256 of the whole representation, in its content coding. */
#ifndef API_REPLY_DIGEST_H
#define API_REPLY_DIGEST_H

#include "call.h"

/* Give the reply to a call that wants it the digest. Takes over the reply. What lies in memory
 * is hashed, and its body keeps the digest. What is computed as it is read, or not at all for
 * HEAD, comes from the endpoint, NULL if there is none, once more: whole, and read to its end.
 * Where that fails, or takes longer than computing may, the reply goes without. NULL if the
 * reply is NULL, or after api_not_yet. */
api_reply *api_reply_give_digest(const api_call *call, api_endpoint *endpoint,
                                 api_reply *reply);

#endif
