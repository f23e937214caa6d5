/* The HTTP interface of posenc, without HTTP's transport: requests in, replies out.
 *
 * A server fills an api_request, calls api_handle and sends the reply. The api knows the
 * library, JSON and media types; it knows no sockets, threads or clocks. Everything here may be
 * called from any thread. */
#ifndef API_H
#define API_H

#include "posenc.h"
#include "store.h"

/* ---- what the host process provides ---- */

/* A file that is served as it is, in two codings that were made beforehand. */
typedef struct api_asset_form {
    const void *data; /* NULL: there is no such form */
    size_t size;
    const char *etag; /* quoted */
} api_asset_form;

typedef struct api_asset {
    const char *path; /* "/", or "/assets/…" with a digest of the content in the name */
    const char *media_type;
    api_asset_form plain, gzip;
} api_asset;

/* A limit or setting to publish in /v1/info. */
typedef struct api_limit {
    const char *name, *unit, *help;
    uint64_t value;
} api_limit;

typedef struct api_host {
    void *context;                   /* passed to the functions below */
    uint64_t (*now)(void *context);  /* a monotonic clock in nanoseconds */
    bool (*is_ready)(void *context); /* false while draining */
    void (*landed)(void *context);   /* a table has been computed: see API_BUSY */
    void (*computed)(void *context, uint64_t nanoseconds); /* which took so long; or NULL */
    char *(*metrics)(void *context); /* Prometheus text from malloc, NULL if memory ran out */
    const pe_runner *runner;         /* for streams; the cache has its own; or NULL */
    uint64_t json_elements;          /* the most elements that JSON and CSV may carry */
    uint64_t png_pixels;             /* the most pixels of a PNG */
    size_t target_bytes;             /* the longest request target */
    uint64_t body_bytes;             /* the longest body, but for uploads: */
    uint64_t upload_bytes;
    pe_limits limits;       /* without `sets`, which the api provides from the store */
    const api_store *store; /* stored sets */
    const char *api_key;    /* the bearer token that the store asks for; or NULL, and then */
    bool local;             /* it is open if the server listens on loopback or a Unix socket */
    const api_limit *published; /* for /v1/info */
    size_t published_count;
    const api_asset *assets; /* the visualiser's page and what it loads */
    size_t asset_count;
} api_host;

typedef struct api_service api_service;

/* `host` and `cache` must outlive the service. NULL if memory ran out. */
api_service *api_service_new(const api_host *host, pe_cache *cache);
void api_service_free(api_service *service);

/* ---- requests and replies ---- */

typedef struct api_request {
    const char *method;
    const char *target; /* as on the wire: path and query, not decoded */
    const char *(*header)(void *context, const char *name); /* NULL if absent */
    void *context;
    const char *body; /* NULL if there is none */
    size_t body_size;
    char *(*take_body)(void *context); /* hand the body's memory, from malloc, over; or NULL */
    bool quick;   /* do nothing that takes longer than about a millisecond: API_LATER instead */
    bool awaited; /* this request was answered with API_BUSY before */
} api_request;

typedef struct api_field {
    const char *name, *value;
} api_field;

typedef struct api_segment {
    const void *data;
    size_t size;
} api_segment;

#define API_LENGTH_UNKNOWN UINT64_MAX
#define API_TENSORS_MAX    7 /* of one body */

/* Bytes to send, counted by references: either immutable segments in memory, or, where
 * api_body_is_stream, made as they are read, in order and by one reader. */
typedef struct api_body api_body;
api_body *api_body_ref(api_body *body);
void api_body_unref(api_body *body);
size_t api_body_segments(const api_body *body, const api_segment **ret_segments);
uint64_t api_body_size(const api_body *body); /* API_LENGTH_UNKNOWN for streamed text */
bool api_body_is_stream(const api_body *body);

/* Up to `room` bytes of a stream from `offset` on, which is where the last read ended; 0 at the
 * end. Less than `room` before the end where more would take long. */
size_t api_body_read(api_body *body, uint64_t offset, char *dst, size_t room);

/* A reply, counted by references. Immutable and often shared between requests. */
typedef struct api_reply api_reply;
api_reply *api_reply_ref(api_reply *reply);
void api_reply_unref(api_reply *reply);
unsigned api_reply_status(const api_reply *reply);
size_t api_reply_fields(const api_reply *reply, const api_field **ret_fields);

/* NULL for a reply to HEAD, for 204 and 304. */
api_body *api_reply_body(const api_reply *reply);

/* What Content-Length must say where there is no body to measure; API_LENGTH_UNKNOWN: nothing.
 */
uint64_t api_reply_length(const api_reply *reply);

/* Why a reply turns down what may be sound: for want of permission, room or time. */
typedef enum api_refusal {
    API_REFUSAL_NONE,
    API_REFUSAL_UNAUTHORIZED,
    API_REFUSAL_FORBIDDEN,
    API_REFUSAL_TARGET_TOO_LONG,
    API_REFUSAL_BODY_TOO_LARGE,
    API_REFUSAL_RESULT_TOO_LARGE,
    API_REFUSAL_STORE_FULL,
    API_REFUSAL_STORE_FAILED,
    API_REFUSAL_COMPUTE_DEADLINE,
    API_REFUSAL_OUT_OF_MEMORY,
} api_refusal;
#define API_REFUSALS (API_REFUSAL_OUT_OF_MEMORY + 1)
api_refusal api_reply_refusal(const api_reply *reply);

/* A word for metrics and logs, such as "store_full". */
const char *api_refusal_name(api_refusal refusal);

/* A place where the transport keeps what it has prepared for this reply; freed with the reply.
 * Setting it returns the one that stands: another thread may have been first, and then `made`
 * was freed. */
void *api_reply_transport(api_reply *reply);
void *api_reply_set_transport(api_reply *reply, void *made, void (*free_made)(void *));

typedef enum api_progress {
    API_DONE,
    API_LATER, /* too much for a quick request: ask again, from a thread that may take its time
                */
    API_BUSY,  /* another request is computing the same: ask again once the host's `landed` was
                   called after this call began */
} api_progress;

/* Answer one request. With API_DONE there is always a reply: where memory runs out it is a 503
 * made beforehand. The caller drops the reference. */
api_progress api_handle(api_service *service, const api_request *request,
                        api_reply **ret_reply);

/* Judge a request by its head, before its body is read: the refusal where there is one already,
 * else NULL. ret_limit: how long the body may be. Quick. */
api_reply *api_judge_head(api_service *service, const api_request *request,
                          uint64_t *ret_limit);

/* Replies for what only the transport sees. */
typedef enum api_fault {
    API_FAULT_PAYLOAD_TOO_LARGE, /* the body passes the limit */
    API_FAULT_UNAVAILABLE,       /* out of memory */
    API_FAULT_OVERLOADED,        /* too much work is waiting */
    API_FAULT_MALFORMED,         /* the message is not framed as it must be */
    API_FAULT_NOT_IMPLEMENTED,   /* its framing is unknown here */
} api_fault;
api_reply *api_fault_reply(api_service *service, api_fault fault);

/* The same with a detail of the caller's. */
api_reply *api_fault_reply_with(api_service *service, api_fault fault, const char *detail);

/* Routes as metrics and logs name them: a method, where GET stands for HEAD as well, and a
 * pattern such as "/v1/encodings/{scheme}". The last one, "other" twice, is for requests that
 * no endpoint answers. */
typedef struct api_route_name {
    const char *method, *pattern;
} api_route_name;
size_t api_route_count(void); /* with "other" */
api_route_name api_route_name_at(size_t index);

/* The route that a request matches: an index of the names. */
size_t api_route_of(const char *method, const char *target);

#endif
