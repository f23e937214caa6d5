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

/* A file of the pages in one content coding. */
typedef struct api_asset_form {
    const void *data; /* NULL: the file does not come in this coding */
    size_t size;
    const char *etag; /* quoted */
} api_asset_form;

/* A page, or a file that one loads, in the codings that were prepared at build time. */
typedef struct api_asset {
    const char
        *path; /* "/", "/docs", or "/assets/…" with a digest of the content in the name */
    const char *media_type;
    api_asset_form plain, gzip;
} api_asset;

/* A limit or setting to publish in /v1/info. */
typedef struct api_limit {
    const char *name, *unit, *help;
    uint64_t value;
} api_limit;

/* How posenc runs, as /v1/info says it. FORM(NAME, word). */
#define API_FORMS(FORM)                                                                        \
    FORM(SERVER, "server")                                                                     \
    FORM(COMMAND, "command")                                                                   \
    FORM(MODULE, "module") /* in WebAssembly, without a server */

typedef enum api_form {
#define FORM(name, word) API_FORM_##name,
    API_FORMS(FORM)
#undef FORM
} api_form;

/* What /health/ready says. */
typedef enum api_readiness {
    API_READY,
    API_DRAINING,
} api_readiness;

/* Whom the endpoints let in that compute on a table in the request's body. */
typedef enum api_opening {
    API_OPEN,         /* everybody */
    API_OPEN_TO_KEYS, /* those with a key */
    API_OPEN_LOCALLY, /* local clients: the rules of the store without a key */
} api_opening;

/* A budget of memory: a counter. Whoever takes memory that may grow with a request reserves it
 * before. */
typedef struct api_memory api_memory;
api_memory *api_memory_new(uint64_t limit); /* NULL without memory */
void api_memory_free(api_memory *memory);

/* Reserve bytes; false if there is no room for them. */
bool api_memory_reserve(api_memory *memory, uint64_t bytes);

/* Count bytes that are held already, room or not. */
void api_memory_add(api_memory *memory, uint64_t bytes);

void api_memory_release(api_memory *memory, uint64_t bytes);
uint64_t api_memory_reserved(api_memory *memory);
uint64_t api_memory_limit(const api_memory *memory);

/* The most that a host reads of a stream at once. It may hold as much for each stream, which
 * the api counts. */
#define API_READ_MAX ((size_t)512 << 10)

typedef struct api_host {
    api_form form;
    void *context;                  /* passed to the functions below */
    uint64_t (*now)(void *context); /* a monotonic clock in nanoseconds */
    api_readiness (*readiness)(void *context);
    /* Called whenever a computation of a table has ended: see API_BUSY. */
    void (*landed)(void *context);
    /* Called with the time that computing a table took. May be NULL. */
    void (*computed)(void *context, uint64_t nanoseconds);
    char *(*metrics)(void *context); /* Prometheus text from malloc, NULL if memory ran out */
    const pe_runner *runner;         /* for streams; NULL: none. The cache has its own. */

    uint64_t json_elements;    /* the most elements of a JSON or CSV representation */
    uint64_t png_pixels;       /* the most pixels of a PNG */
    uint64_t compute_cost;     /* the most multiply-adds of one computation; 0: any */
    size_t target_bytes;       /* the longest request target */
    uint64_t body_bytes;       /* the longest request body, except for uploads of sets */
    uint64_t upload_bytes;     /* the longest upload of a set */
    uint64_t table_body_bytes; /* the longest body with a table that is looked at */
    size_t reply_overhead; /* bytes that the host keeps for a prepared reply; they count in the
                            * cache's budget */
    pe_limits limits;      /* without `sets`, which the api provides from the store */

    api_memory *memory; /* what requests hold, besides the cache; NULL: any amount */

    const api_store *store; /* sets */
    const char *api_key;    /* the bearer token that requests to the store need; NULL: none */
    bool local;    /* the server listens on loopback or a Unix socket alone. Without a key the
                    * store is open only then. */
    bool any_host; /* local clients may ask under any Host: they come by a Unix socket, which no
                    * name leads to */
    api_opening tables;
    const char *tables_key; /* a bearer token for tables alone; NULL: none. api_key holds for
                             * them, too. */
    bool stored_for_all;    /* pages of every origin may read what is computed from sets;
                             * else pages of this server alone */
    const api_limit *published; /* for /v1/info */
    size_t published_count;
    const api_asset *assets; /* the pages, and the files that they load */
    size_t asset_count;
    const char *frame_ancestors; /* source expressions of a Content-Security-Policy: whose pages
                                  * may show the visualiser in a frame; NULL: this server's */
    const char *source_url;      /* where the source is, an http address; NULL: not said */
} api_host;

typedef struct api_service api_service;

/* `host` and `cache` must outlive the service. NULL if memory ran out. */
api_service *api_service_new(const api_host *host, pe_cache *cache);
void api_service_free(api_service *service);

/* ---- requests and replies ---- */

/* The request headers that the api reads: ROW(identifier, name). A host has to remember these
 * and no others. */
#define API_REQUEST_HEADERS(ROW)                                                               \
    ROW(ACCEPT, "Accept")                                                                      \
    ROW(ACCEPT_ENCODING, "Accept-Encoding")                                                    \
    ROW(AUTHORIZATION, "Authorization")                                                        \
    ROW(CONTENT_ENCODING, "Content-Encoding")                                                  \
    ROW(CONTENT_RANGE, "Content-Range")                                                        \
    ROW(CONTENT_TYPE, "Content-Type")                                                          \
    ROW(FORWARDED, "Forwarded")                                                                \
    ROW(HOST, "Host")                                                                          \
    ROW(IF_MATCH, "If-Match")                                                                  \
    ROW(IF_NONE_MATCH, "If-None-Match")                                                        \
    ROW(IF_RANGE, "If-Range")                                                                  \
    ROW(ORIGIN, "Origin")                                                                      \
    ROW(RANGE, "Range")                                                                        \
    ROW(SEC_FETCH_SITE, "Sec-Fetch-Site")                                                      \
    ROW(VIA, "Via")                                                                            \
    ROW(X_FORWARDED_FOR, "X-Forwarded-For")

/* API_HEADER_ACCEPT … API_HEADER_X_FORWARDED_FOR, and how many there are. */
#define API_HEADER_CONSTANT(identifier, name) API_HEADER_##identifier,
typedef enum api_header {
    API_REQUEST_HEADERS(API_HEADER_CONSTANT) API_HEADER_COUNT
} api_header;
#undef API_HEADER_CONSTANT

typedef struct api_request {
    const char *method;
    const char *target; /* path and query, not decoded */
    /* A header's value, NULL if the request does not have the header. The function may be NULL:
     * then the request has none of them. */
    const char *(*header)(void *context, api_header header);
    void *context;
    const char *body; /* NULL if there is none */
    size_t body_size;
    /* Where the host keeps a long body elsewhere and `body` is NULL: copies `size` bytes of it
     * from `offset` on. False: they cannot be read. May be NULL. */
    bool (*read_body)(void *context, uint64_t offset, void *dst, size_t size);
    /* Hands over the memory of the body, which is from malloc. May be NULL. */
    char *(*take_body)(void *context);
    bool quick; /* the caller is an event thread: work of more than about a millisecond is not
                 * done, and the result is API_LATER */
    uint64_t spend; /* the highest price of work that is begun, else the result is API_LATER;
                     * 0: any */
    bool awaited;   /* api_handle has returned API_BUSY for this request before */
    /* The api_moment when the request came. What has failed since then failed for this request
     * as well, and is not computed again. 0: it came just now. */
    uint64_t arrived;
    uint64_t *ret_price; /* where the price of the work is stored before API_LATER is returned;
                            or NULL */
} api_request;

/* A header field of a reply. */
typedef struct api_field {
    const char *name, *value;
} api_field;

typedef struct api_segment {
    const void *data;
    size_t size;
} api_segment;

#define API_LENGTH_UNKNOWN UINT64_MAX
#define API_SEGMENTS_MAX   (PE_TENSORS_MAX + 1) /* of one body: a header, then the tensors */

/* A reference-counted body. It is either a list of immutable segments in memory, or a stream
 * (api_body_is_stream), which computes its bytes as one reader reads them in order. */
typedef struct api_body api_body;
api_body *api_body_ref(api_body *body);
void api_body_unref(api_body *body);
size_t api_body_segments(const api_body *body, const api_segment **ret_segments);
uint64_t api_body_size(const api_body *body); /* API_LENGTH_UNKNOWN for a stream of text */
bool api_body_is_stream(const api_body *body);

/* Whether a read of a stream may take longer than about a millisecond: then none is made by an
 * event thread. */
bool api_body_is_slow(const api_body *body);

/* Whether what a stream holds is so large that freeing it may take longer than about a
 * millisecond: then no event thread frees it. */
bool api_body_is_large(const api_body *body);

/* Read up to `room` bytes of a stream. `offset` is where the last read ended. Returns how many
 * bytes were read: 0 only at the end, and fewer than `room` where more would take long. */
size_t api_body_read(api_body *body, uint64_t offset, char *dst, size_t room);

/* A reply: status, header fields and body. Reference-counted, immutable and often shared by
 * several requests. */
typedef struct api_reply api_reply;
api_reply *api_reply_ref(api_reply *reply);
void api_reply_unref(api_reply *reply);
unsigned api_reply_status(const api_reply *reply);
size_t api_reply_fields(const api_reply *reply, const api_field **ret_fields);

/* Whether the body of the reply, a stream, is made of the request's: then what the api_request
 * says of its body must hold until that has been read. */
bool api_reply_reads_request(const api_reply *reply);

/* The body; NULL for replies to HEAD, for 204 and 304. Not a new reference. */
api_body *api_reply_body(const api_reply *reply);

/* The Content-Length of a reply without a body; API_LENGTH_UNKNOWN if it gets none. */
uint64_t api_reply_length(const api_reply *reply);

/* Why a reply refuses a request that is not necessarily wrong: permission, space or time is
 * missing. REFUSAL(NAME, word): the word stands in metrics and logs. */
#define API_REFUSALS(REFUSAL)                                                                  \
    REFUSAL(UNAUTHORIZED, "unauthorized")                                                      \
    REFUSAL(FORBIDDEN, "forbidden")                                                            \
    REFUSAL(TARGET_TOO_LONG, "target_too_long")                                                \
    REFUSAL(BODY_TOO_LARGE, "body_too_large")                                                  \
    REFUSAL(RESULT_TOO_LARGE, "result_too_large")                                              \
    REFUSAL(STORE_FULL, "store_full")                                                          \
    REFUSAL(STORE_FAILED, "store_failed")                                                      \
    REFUSAL(COMPUTE_DEADLINE, "compute_deadline")                                              \
    REFUSAL(OUT_OF_MEMORY, "out_of_memory")

typedef enum api_refusal {
    API_REFUSAL_NONE,
#define REFUSAL(name, word) API_REFUSAL_##name,
    API_REFUSALS(REFUSAL)
#undef REFUSAL
} api_refusal;
api_refusal api_reply_refusal(const api_reply *reply);

/* Write what a problem document says as text, "title: detail", a line for each error where
 * there are several, and the sentence of its explanation; cut where it does not fit. False as
 * above. */
bool api_reply_explain(const api_reply *reply, char *dst, size_t size);

/* The object that the host has prepared for sending this reply; NULL if there is none yet. */
void *api_reply_transport(api_reply *reply);

/* Let the reply own an object that the host has prepared. Returns the reply's object: where
 * another thread has set one before, that one, and `prepared` has been freed. */
void *api_reply_set_transport(api_reply *reply, void *prepared, void (*free_prepared)(void *));

typedef enum api_progress {
    API_DONE,
    API_LATER, /* too much work for a quick request, or for `spend`: call again from a worker
                * thread, with a `spend` of the price or more */
    API_BUSY,  /* another request computes the same table (single flight): call again when the
                * host's `landed` has been called since this call began */
} api_progress;

/* Answer one request. API_DONE comes with a reply, whose reference is the caller's; without
 * memory it is a 503 that was prepared at the start. */
api_progress api_handle(api_service *service, const api_request *request,
                        api_reply **ret_reply);

/* The moment, for api_request.arrived. */
uint64_t api_moment(const api_service *service);

/* What the head of a request tells. */
typedef struct api_head {
    size_t route;        /* by api_route_find */
    uint64_t body_limit; /* the most bytes that the body may have */
    bool spooled;        /* a long body is read by `read_body`, so it need not be in memory */
} api_head;

/* Judge a request by its head, before its body is read. Returns the refusal, or NULL if the
 * body may be read. Quick enough for an event thread. */
api_reply *api_judge_head(api_service *service, const api_request *request, api_head *ret_head);

/* Failures that only the host sees. */
typedef enum api_fault {
    API_FAULT_PAYLOAD_TOO_LARGE, /* the body passes the limit */
    API_FAULT_UNAVAILABLE,       /* out of memory */
    API_FAULT_OVERLOADED,        /* too much work is waiting */
    API_FAULT_MALFORMED,         /* the message is not framed as it must be */
    API_FAULT_NOT_IMPLEMENTED,   /* the message is framed in a way that is not implemented */
} api_fault;

/* A problem document for a failure; never NULL. */
api_reply *api_fault_reply(api_service *service, api_fault fault);

/* The same with another detail; with NULL the 503 that was prepared at the start. */
api_reply *api_fault_reply_explained(api_service *service, api_fault fault, const char *detail);

/* A route as metrics and logs name it: a method, where GET includes HEAD, and a pattern such as
 * "/v1/encodings/{scheme}". The last route, whose method and pattern are "other", is for
 * requests that match no route. */
typedef struct api_route_name {
    const char *method, *pattern;
} api_route_name;
size_t api_route_count(void); /* including "other" */
api_route_name api_route_name_get(size_t index);

/* Whether the value of a Host header is a loopback name or address, with or without a port. */
bool api_is_loopback_host(const char *host);

/* The index of the route that a request matches. */
size_t api_route_find(const char *method, const char *target);

/* Whether a target has the path of a health check or of the metrics, which a host answers under
 * any load. */
bool api_is_probe(const char *target);

#endif
