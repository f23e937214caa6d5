/* Digests of representations (RFC 9530). A body that is held has been hashed when it was built
 * (bodies.c), unless it is very large. What is computed as it is read would have to be computed
 * twice, since its head is sent first: that is done for those who ask for it. */
#include "http/want_digest.h"
#include "representations/known_digests.h"
#include "representations/representation.h"

uint64_t api_representation_bytes(const api_representation *representation)
{
    const api_selection *selection = &representation->selection;
    uint64_t bytes = 0;
    for (size_t i = 0; i < selection->count; i++)
        bytes += pe_request_tensor(selection->request, selection->first + i)->bytes;
    return bytes;
}

#define ELEMENT_TEXT 26 /* bytes of an element's text, of which most take half */

uint64_t api_representation_body_bytes(const api_representation *representation)
{
    const api_format *format = representation->format;
    if (!format || format->measure == API_BYTES)
        return api_representation_bytes(representation);
    uint64_t work = format->work(&representation->selection);
    return format->measure == API_PIXELS ? work : work * ELEMENT_TEXT;
}

bool api_representation_find_digest(const api_representation *representation,
                                    api_digest *ret_digest)
{
    const api_etag etag = api_representation_tag(representation);
    return api_known_digests_find(representation->call->service->digests, &etag, ret_digest);
}

void api_representation_note_digest(const api_representation *representation,
                                    const api_digest *digest)
{
    const api_etag etag = api_representation_tag(representation);
    api_known_digests_add(representation->call->service->digests, &etag, digest);
}

bool api_representation_owes_digest(const api_representation *representation)
{
    const uint64_t limit = representation->call->service->host->compute_cost;
    api_digest digest;
    return api_wants_digest(representation->call) &&
           (limit == 0 || representation->facts.price <= (double)limit) &&
           !api_representation_find_digest(representation, &digest);
}

double api_representation_digest_price(const api_representation *representation)
{
    return representation->facts.price +
           API_DIGEST_PRICE * (double)api_representation_body_bytes(representation);
}

static bool compute_digest(const api_representation *representation, api_body *held,
                           api_digest *ret_digest)
{
    api_representation whole = *representation;
    pe_error error;
    pe_error_init(&error);
    whole.range.complete = 0;
    api_body *body = held ? api_body_ref(held) : api_representation_stream(&whole, &error);
    return api_digest_body(body, representation->selection.runner, ret_digest, &error);
}

bool api_representation_obtain_digest(const api_representation *representation, api_body *held,
                                      api_digest *ret_digest)
{
    if (!api_representation_owes_digest(representation))
        return api_representation_find_digest(representation, ret_digest);
    if (!compute_digest(representation, held, ret_digest))
        return false;
    api_representation_note_digest(representation, ret_digest);
    return true;
}
