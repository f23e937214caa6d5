/* Metrics: the server's counters, and figures of the cache and the process, in the text format
 * of Prometheus. */
#ifndef METRICS_H
#define METRICS_H

#include "api.h"
#include "work/preparations.h"

typedef struct server_metrics server_metrics;

/* NULL if memory ran out. The cache must outlive the metrics. */
server_metrics *metrics_new(pe_cache *cache);
void metrics_free(server_metrics *metrics);

/* Why a request or a connection was turned away: for reasons of the server, or those of the
 * api. REJECTION(NAME, word): the word is the label `reason`. */
#define REJECTIONS(REJECTION)                                                                  \
    REJECTION(FRAMING, "framing")                                                              \
    REJECTION(HEADER_DEADLINE, "header_deadline")                                              \
    REJECTION(BODY_DEADLINE, "body_deadline")                                                  \
    REJECTION(SLOW_READER, "slow_reader")                                                      \
    REJECTION(CONNECTION_LIMIT, "connection_limit")                                            \
    REJECTION(STREAM_LIMIT, "stream_limit")                                                    \
    REJECTION(QUEUE_FULL, "queue_full")                                                        \
    REJECTION(UPLOAD_MEMORY, "upload_memory")                                                  \
    REJECTION(DRAINING, "draining")                                                            \
    REJECTION(CLIENT_LEFT, "client_left") /* before its answer was there */                    \
    API_REFUSALS(REJECTION)

typedef enum rejection {
    REJECTED_NOT,
#define REJECTION(name, word) REJECTED_##name,
    REJECTIONS(REJECTION)
#undef REJECTION
        REJECTION_COUNT,
} rejection;

/* The reason as the value of the label `reason`. */
const char *rejection_name(rejection reason);

/* The rejection for a reason of the api, REJECTED_NOT for none. */
rejection rejection_by_api(api_refusal refusal);

/* The functions below may be called by any thread. */

/* Count a request that was answered `nanoseconds` after its head. `route` is by api_route_find.
 */
void metrics_count_request(server_metrics *metrics, size_t route, unsigned status,
                           uint64_t nanoseconds);

/* Count a rejection; REJECTED_NOT is not counted. */
void metrics_count_rejected(server_metrics *metrics, rejection reason);

/* Count a table and the time it took to compute. */
void metrics_count_computation(server_metrics *metrics, uint64_t nanoseconds);

/* Count a callback of an event thread and the time that it took; of one that works on a body or
 * a stream also the time on the processor. */
void metrics_count_callback(server_metrics *metrics, uint64_t nanoseconds);
void metrics_count_callback_work(server_metrics *metrics, uint64_t nanoseconds);

/* Count bytes of response bodies. */
void metrics_count_bytes(server_metrics *metrics, uint64_t bytes);

/* A connection has opened (+1) or closed (-1). */
void metrics_count_connection(server_metrics *metrics, int change);

/* A request or a stream begins (+1) or has ended (-1). Returns how many are under way then; a
 * change of 0 only asks. */
uint64_t metrics_count_under_way(server_metrics *metrics, int change);
uint64_t metrics_count_stream(server_metrics *metrics, int change);

/* All metrics as text from malloc; NULL if memory ran out. HELP and TYPE of every metric are
 * there from the start, and so are series without labels; a series with labels appears when
 * what it counts has happened once. `memory` is that of requests, `waiting` is workers_waiting.
 */
char *metrics_text(server_metrics *metrics, const api_store *store, api_memory *memory,
                   size_t waiting, preparation_set *preparations);

#endif
