/* The selected representation of a request for tensors (RFC 9110, section 3.2): the tensors,
 * the format, the content coding and the byte range that are asked for. It is selected by the
 * request's arguments and headers (representation.c), and answered (answer.c) with a body and
 * the head that describes it (content.c). */
#ifndef API_REPRESENTATION_H
#define API_REPRESENTATION_H

#include "call.h"
#include "formats/format.h"
#include "formats/options.h"
#include "http/arguments.h"
#include "http/coding.h"
#include "http/etag.h"

typedef struct api_representation {
    const api_call *call;
    pe_options *named;   /* the format and the tensor that the request names */
    pe_request *request; /* NULL until the arguments have been read */
    const api_format *format;
    /* What is asked of the request once, when it has been read. */
    struct {
        double price, preparation; /* of all that is computed; of what a stream does first */
        double begin;              /* the price of what comes before the reply begins */
        uint64_t elements;         /* of the tensors that are computed */
        bool streamed;             /* it is too large to hold, and so computed as it is read */
        bool stored;               /* a set is used, which may be replaced any time */
    } facts;
    api_selection selection;         /* what the format represents */
    api_options options;             /* the selection points to them: do not move this */
    char variant[API_VARIANT_BYTES]; /* the options that are no defaults, as text … */
    size_t options_size; /* … of so many bytes; then what the format states, too */
    api_coding coding;
    bool negotiated; /* the format was chosen by Accept, not named by the request */
    bool post;       /* the method is POST: no tag, caching, preconditions or ranges */
    api_etag etag;   /* "" until the request's conditions ask for it */
    struct {
        uint64_t first, size;
        uint64_t
            complete; /* the length of the whole representation; 0: no range is asked for */
    } range;
} api_representation;

/* Check the arguments and what computing costs, and select the tensors, but no format: `form`
 * says why none is taken, "a comparison is JSON". What is wrong with the arguments goes to
 * reterr, which points to their names, after the library's problems; `error` has those that
 * were found while the arguments were read, and they come last. False if a set is withheld, or
 * the store cannot be read, or not by a quick request: ret_reply is the answer then, NULL
 * without memory or after api_not_yet. Call api_representation_done in any case. */
bool api_representation_read(api_representation *ret_representation, const api_call *call,
                             const pe_scheme *scheme, api_arguments *arguments, pe_error *error,
                             const char *form, pe_error *reterr, api_reply **ret_reply);

/* Check the arguments and select the representation. `error` has the problems that were found
 * while the arguments were read; the function may add to it. On failure returns false:
 * ret_reply is the problem document then, or NULL without memory or after api_not_yet. Call
 * api_representation_done in both cases. */
bool api_representation_select(api_representation *ret_representation, const api_call *call,
                               const pe_scheme *scheme, api_arguments *arguments,
                               pe_error *error, api_reply **ret_reply);

/* Choose the tensors that are computed, a bit for each; otherwise they are those selected. */
void api_representation_choose(api_representation *representation, unsigned tensors);

/* The price of all that is computed, of a stream that of the range. */
double api_representation_price(const api_representation *representation);

/* Check the price of all against the limit compute-cost; false after a problem was added. */
bool api_representation_check_price(const api_representation *representation, pe_error *reterr);

void api_representation_done(api_representation *representation);

/* ---- answer.c ---- */

/* Answer with the tensors or a range of them; or with 304, 412 or 416; or, for HEAD, without
 * computing anything. NULL without memory or after api_not_yet. */
api_reply *api_representation_reply(api_representation *representation);

/* Compute the table, or find it in the cache, in memory that is reserved until the call ends.
 * ret_time is what that took, in nanoseconds. Fails as pe_cache_get, or where there is no
 * memory. */
pe_status api_representation_compute(const api_representation *representation,
                                     pe_entry **ret_entry, pe_outcome *ret_outcome,
                                     uint64_t *ret_time, pe_error *reterr);

/* ---- content.c ---- */

/* The bytes of the tensors that are represented. */
uint64_t api_representation_bytes(const api_representation *representation);

/* The bytes of the body; of text and pictures, about as many as building it takes, which are
 * more. */
uint64_t api_representation_body_bytes(const api_representation *representation);

/* The length of the whole representation; API_LENGTH_UNKNOWN without memory, or if the length
 * shows only when everything has been written. */
uint64_t api_representation_length(const api_representation *representation);

/* What is attached to an entry of the cache for a representation. */
typedef enum api_attachment_kind {
    API_BODY,
    API_HIT_REPLY,           /* the reply to all hits that name the format */
    API_NEGOTIATED_HIT_REPLY /* the reply to all hits that negotiate the format: its Vary
                                differs */
} api_attachment_kind;

/* The attachment of an entry for this representation; see pe_entry_attachment. */
void *api_representation_attachment(const api_representation *representation, pe_entry *entry,
                                    api_attachment_kind kind, pe_attachment_builder build,
                                    void *context);

/* A new reference to the body of the whole representation. It is attached to the entry, and
 * built if it is not there yet. NULL without memory. */
api_body *api_representation_body(const api_representation *representation, pe_entry *entry);

/* A new streamed body, for tensors that are too large for the cache. NULL without memory, or if
 * the scheme cannot be prepared. Then reterr says why, unless memory was lacking elsewhere. */
api_body *api_representation_stream(const api_representation *representation, pe_error *reterr);

/* The strong entity tag. It hashes everything that the bytes depend on, and not the bytes, so
 * that nothing has to be computed for it. */
api_etag api_representation_tag(const api_representation *representation);

/* The reply with the whole body or the range of it that is asked for, 200 or 206. Takes over
 * the reference. `cache_status` says how the tensors were obtained. NULL without memory, or if
 * `whole` is NULL. */
api_reply *api_representation_new_reply(const api_representation *representation,
                                        const char *cache_status, api_body *whole);

/* A reply with the length of the whole, and no body: 200 with all metadata, or 304 with those
 * that it has, too. NULL without memory. */
api_reply *api_representation_without_body(const api_representation *representation,
                                           unsigned status);

#endif
