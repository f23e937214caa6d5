#include "representations/batch_digest.h"

#include "bytes/body.h"
#include "bytes/gzip.h"
#include "formats/registry.h"
#include "http/want_digest.h"
#include "representations/batch_body.h"
#include "representations/known_digests.h"

api_body *api_batch_make_body(api_batch *batch, api_batch_format format, api_coding coding)
{
    api_body *body = api_batch_body(batch, format);
    return body && coding == API_GZIP ? api_gzip_stream(body) : body;
}

bool api_batch_is_streamed(const api_batch *batch)
{
    bool streamed = false;
    for (size_t i = 0; i < batch->count; i++)
        streamed = streamed || batch->parts[i].streamed;
    return streamed;
}

/* Whether the digest is only a matter of reading what is there, and that is not too much. */
static bool is_held(const api_batch *batch, api_batch_format format, api_coding coding)
{
    uint64_t bytes = 0;
    for (size_t i = 0; i < batch->count; i++) {
        api_representation shown = batch->parts[i].representation;
        shown.format = format == API_BATCH_JSON ? api_format_find("json") : NULL;
        bytes += api_representation_body_bytes(&shown);
    }
    return coding == API_IDENTITY && bytes <= API_HASHED_MAX && !api_batch_is_streamed(batch);
}

bool api_batch_find_digest(const api_batch *batch, api_digest *ret_digest)
{
    return batch->etag.text[0] &&
           api_known_digests_find(batch->call->service->digests, &batch->etag, ret_digest);
}

bool api_batch_owes_digest(const api_batch *batch, api_batch_format format, api_coding coding,
                           bool head)
{
    api_digest digest;
    return (head || !is_held(batch, format, coding)) && api_wants_digest(batch->call) &&
           !api_batch_find_digest(batch, &digest);
}

void api_batch_give_digest(api_batch *batch, api_batch_format format, api_coding coding,
                           api_body *body)
{
    api_digest digest;
    pe_error error;
    pe_error_init(&error);
    bool known = api_batch_find_digest(batch, &digest);
    if (!known && (is_held(batch, format, coding) ||
                   api_batch_owes_digest(batch, format, coding, batch->call->head))) {
        known = api_digest_body(api_batch_make_body(batch, format, coding),
                                batch->call->service->host->runner, &digest, &error);
        if (known && batch->etag.text[0])
            api_known_digests_add(batch->call->service->digests, &batch->etag, &digest);
    }
    if (known)
        api_body_set_digest(body, &digest);
}
