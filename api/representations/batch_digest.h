/* The digest of a batch (RFC 9530). */
#ifndef API_BATCH_DIGEST_H
#define API_BATCH_DIGEST_H

#include "http/coding.h"
#include "representations/batch.h"

/* The body in a content coding, as api_batch_body. */
api_body *api_batch_make_body(api_batch *batch, api_batch_format format, api_coding coding);

/* Whether a table is computed as the reply is read. */
bool api_batch_is_streamed(const api_batch *batch);

/* Find the digest of a batch that has an entity tag. False: it is not known. */
bool api_batch_find_digest(const api_batch *batch, api_digest *ret_digest);

/* Whether the request asks for a digest that is not known, and that a GET would not have
 * anyway; of HEAD, which computes nothing else, the latter does not matter. */
bool api_batch_owes_digest(const api_batch *batch, api_batch_format format, api_coding coding,
                           bool head);

/* Give the body its digest, where that is known, owed, or only a matter of reading what is
 * held. It is computed by a second body, since a body is read once. */
void api_batch_give_digest(api_batch *batch, api_batch_format format, api_coding coding,
                           api_body *body);

#endif
