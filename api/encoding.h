/* A request for tensors on its way to a reply: read, negotiated, found or computed,
 * represented. */
#ifndef API_ENCODING_H
#define API_ENCODING_H

#include "arguments.h"
#include "coding.h"
#include "etag.h"
#include "formats.h"
#include "options.h"
#include "service.h"

typedef struct api_encoding {
    const api_call *call;
    pe_request *request;
    const api_format *format;
    api_selection selection;
    api_options options; /* which the selection points to: an encoding stays where it is */
    char variant[API_VARIANT_BYTES]; /* the options that differ from their defaults, as text */
    api_coding coding;
    bool negotiated; /* the format was not named by the request */
    bool post;
    struct {
        uint64_t first, size;
        uint64_t whole; /* bytes of the representation; 0: no part of it is asked for */
    } part;
} api_encoding;

/* Check the arguments, together with what reading them has found wrong (more may be added to
 * it), and choose a representation. False: ret_reply is the problem, or NULL where the call's
 * progress says that it cannot be answered yet. Finish with api_encoding_done either way. */
bool api_encoding_read(api_encoding *ret_encoding, const api_call *call,
                       const pe_scheme *scheme, api_arguments *arguments, pe_error *found,
                       api_reply **ret_reply);

/* Answer: 304, 412, 416, a dry run for HEAD, or the tensors or a part of them. NULL where
 * memory ran out, or where the call's progress says that it cannot be answered yet. */
api_reply *api_encoding_reply(api_encoding *encoding);

void api_encoding_done(api_encoding *encoding);

/* The strong entity tag: a hash of whatever the bytes depend on, but not of the bytes. */
void api_encoding_etag(const api_encoding *encoding, api_etag *ret_etag);
void api_encoding_add_validators(const api_encoding *encoding, const api_etag *etag,
                                 api_reply *reply);

/* A 200, or the 206 of a part, with every field but those that tell how it was made, and
 * without a body; NULL without memory. */
api_reply *api_encoding_describe(const api_encoding *encoding);

/* ---- conditions and parts: conditions.c ---- */

/* What Content-Length says of the whole, API_LENGTH_UNKNOWN where only writing tells. */
uint64_t api_encoding_length(const api_encoding *encoding);

/* Conditions in their order (RFC 9110, section 13.2.2), for a request that would succeed. True
 * if they decide: ret_reply is 412 or 304, NULL without memory. If-Modified-Since and its like
 * are not looked at: no reply has a date. */
bool api_encoding_judge(const api_encoding *encoding, api_reply **ret_reply);

/* Note the part that a GET of a form of known length asks for. False: there is no such part,
 * and ret_reply is 416, NULL without memory. Text and pictures have no parts: their length
 * shows only when they are written. */
bool api_encoding_take_part(api_encoding *encoding, api_reply **ret_reply);

/* ---- representations, attached to the cache's entry: bodies.c ---- */

typedef enum api_attachment_kind {
    API_BODY,
    API_HIT_REPLY,
    API_NEGOTIATED_HIT_REPLY
} api_attachment_kind;

/* What is attached to an entry for this encoding, as pe_entry_attachment. */
void *api_attachment(const api_encoding *encoding, pe_entry *entry, api_attachment_kind kind,
                     pe_attachment_builder build, void *context);

/* A new reference to the whole body from an entry, built if need be. NULL without memory. */
api_body *api_encoding_body(const api_encoding *encoding, pe_entry *entry);

/* A new body that is made as it is read, for tables too large to hold. NULL without memory. */
api_body *api_encoding_stream(const api_encoding *encoding);

/* The part that is asked for, or the whole if none is. Takes over the reference; NULL without
 * memory, or if `whole` is. */
api_body *api_encoding_part(const api_encoding *encoding, api_body *whole);

#endif
