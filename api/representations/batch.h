/* A batch: the tensors of many requests in one reply, each under the name of its request. The
 * tables come from the cache as those of single requests do; what is too large for that is
 * computed as the reply is read. */
#ifndef API_BATCH_H
#define API_BATCH_H

#include "replies/problem.h"
#include "representations/representation.h"

#define API_BATCH_MAX        64 /* requests of one batch */
#define API_BATCH_NAME_BYTES 65 /* the room for a name, with its NUL */

typedef enum api_batch_format { API_BATCH_SAFETENSORS, API_BATCH_JSON } api_batch_format;

/* One request of a batch. */
typedef struct api_batch_part {
    char name[API_BATCH_NAME_BYTES];
    api_representation representation;
    char *target;    /* the request target that gives these tensors alone; NULL: too long */
    json_t *about;   /* what the caller says of the part, an object; or NULL */
    unsigned wanted; /* the tensors that the reply has, a bit for each; 0: those selected */
    bool streamed;   /* computed as the reply is read */
    pe_entry *entry; /* of a table from the cache, while the reply is made */
} api_batch_part;

/* Integers that stand beside the tensors, such as which layer uses which of them. */
typedef struct api_batch_list {
    char name[API_BATCH_NAME_BYTES];
    pe_tensor tensor; /* i32, of rank 1 */
    int32_t *items;
} api_batch_list;

#define API_BATCH_LISTS 8

typedef struct api_batch {
    const api_call *call;
    size_t count, list_count;
    api_batch_part *parts; /* room for API_BATCH_MAX of them */
    api_batch_list lists[API_BATCH_LISTS];
    bool full_names; /* also a tensor that its request has alone is called "request.tensor" */
    json_t *about;   /* what is said of the whole, an object, as "model"; or NULL */
    api_etag etag;   /* of a reply that may be kept; empty: it may not */
    api_joint_problem problem;
} api_batch;

/* Begin a batch. False without memory. Call api_batch_done in any case. */
bool api_batch_begin(api_batch *ret_batch, const api_call *call);

/* Add a request, of which there is room for API_BATCH_MAX. The arguments are those of a POST to
 * /v1/encodings/{scheme}, without format and its options. `error` has what was found wrong with
 * them so far; that and what is found here goes to batch->problem under this index and name.
 * `about` is taken over. False: ret_reply is the answer, since the store cannot be read, or not
 * by a quick request. */
bool api_batch_add(api_batch *batch, int index, const char *name, const pe_scheme *scheme,
                   api_arguments *arguments, pe_error *error, json_t *about,
                   api_reply **ret_reply);

/* Add a list of `count` integers, which are copied; there is room for API_BATCH_LISTS. False
 * without memory. */
bool api_batch_add_list(api_batch *batch, const char *name, const int32_t *items, size_t count);

/* Keep of the request added last only the tensors whose names are among `words`, which blanks
 * separate. */
void api_batch_keep_tensors(api_batch *batch, const char *words);

/* Choose the format by Accept. Where both are as welcome it is JSON of a GET, safetensors of a
 * POST. False if neither will do. */
bool api_batch_accept(const api_call *call, api_batch_format *ret_format);

/* Let the reply to a GET be kept: everything that its bytes depend on, besides the requests and
 * the format, is in `origin`. */
void api_batch_tag(api_batch *batch, api_batch_format format, api_segment origin);

/* Answer the batch, or list everything that is wrong with it. NULL without memory or after
 * api_not_yet. */
api_reply *api_batch_reply(api_batch *batch, api_batch_format format);

void api_batch_done(api_batch *batch);

#endif
