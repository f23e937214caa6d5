/* A request for tensors on its way to a reply: read, negotiated, found or computed,
 * represented. */
#ifndef API_ENCODING_H
#define API_ENCODING_H

#include "arguments.h"
#include "etag.h"
#include "formats.h"
#include "service.h"

typedef struct api_encoding {
    const api_call *call;
    pe_request *request;
    const api_format *format;
    api_selection selection;
    bool negotiated; /* the format was not named by the request */
    bool post;
} api_encoding;

/* Check the arguments, together with what reading them has found wrong (more may be added to
 * it), and choose a representation. False: ret_reply is the problem, or NULL where the call's
 * progress says that it cannot be answered yet. Finish with api_encoding_done either way. */
bool api_encoding_read(api_encoding *ret_encoding, const api_call *call,
                       const pe_scheme *scheme, api_arguments *arguments, pe_error *found,
                       api_reply **ret_reply);

/* Answer: 304, a dry run for HEAD, or the tensors. NULL where memory ran out, or where the
 * call's progress says that it cannot be answered yet. */
api_reply *api_encoding_reply(const api_encoding *encoding);

void api_encoding_done(api_encoding *encoding);

/* The strong entity tag: a hash of whatever the bytes depend on, but not of the bytes. */
void api_encoding_etag(const api_encoding *encoding, api_etag *ret_etag);
void api_encoding_add_validators(const api_encoding *encoding, const api_etag *etag,
                                 api_reply *reply);

/* A 200 with every field but those that tell how it was made, and without a body; NULL without
 * memory. */
api_reply *api_encoding_describe(const api_encoding *encoding);

#endif
