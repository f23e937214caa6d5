#include "replies/digest.h"

#include "bytes/base64.h"
#include "replies/reply.h"

#define QUICK_BYTES ((uint64_t)512 << 10) /* hashed in half a millisecond */

/* Whether the digest of a body may be computed in this call: of a stream that was part of the
 * endpoint's price. */
static bool may_hash(const api_call *call, const api_body *body)
{
    return !call->request->quick ||
           (!api_body_is_stream(body) &&
            (api_body_has_digest(body) || api_body_size(body) <= QUICK_BYTES)) ||
           api_may_begin(call, API_DIGEST_PRICE * (double)api_body_size(body));
}

/* Whether the reply's body is not there to be hashed, and the endpoint can make it. */
static bool lacks_held_body(const api_call *call, const api_reply *reply)
{
    const api_body *body = api_reply_body(reply);
    return body ? api_body_is_stream(body) : call->head && api_reply_status(reply) == 200;
}

/* A copy of the reply with the digest; the reply itself if memory runs out. */
static api_reply *add_digest(api_reply *reply, const api_digest *digest)
{
    char text[4 * ((sizeof digest->bytes + 2) / 3) + 1] = "";
    api_reply *copy = api_reply_copy(reply);
    if (!copy)
        return reply;
    api_base64_write(digest->bytes, sizeof digest->bytes, text);
    api_reply_add(copy, "Repr-Digest", "sha-256=:%s:", text);
    api_reply_unref(reply);
    return copy;
}

api_reply *api_reply_give_digest(const api_call *call, api_endpoint *endpoint, api_reply *reply)
{
    api_digest digest;
    bool found = false;
    if (!reply)
        return NULL;
    api_call whole = *call;
    whole.head = false;
    whole.whole = true;
    const bool again = lacks_held_body(call, reply);
    api_reply *made = again && endpoint ? endpoint(&whole) : NULL;
    api_reply *hashed = again ? made : reply;
    const bool is_whole = hashed && (!again || api_reply_status(hashed) == 200);
    api_body *body = is_whole ? api_reply_body(hashed) : NULL;
    if (body && may_hash(call, body))
        found = api_body_digest(body, call->service->host->runner, &digest);
    api_reply_unref(made);
    if (*call->progress != API_DONE) {
        api_reply_unref(reply);
        return NULL;
    }
    return found ? add_digest(reply, &digest) : reply;
}
