/* Metrics: counters of the server, figures of the cache and process, as Prometheus text. */
#ifndef METRICS_H
#define METRICS_H

#include "api.h"
#include "preparations.h"

typedef struct server_metrics server_metrics;

/* NULL if memory ran out. The cache must outlive the metrics. */
server_metrics *metrics_new(pe_cache *cache);
void metrics_free(server_metrics *metrics);

/* Why a request or a connection was turned away. From REJECTED_BY_API on it is an api_refusal,
 * counted from there. */
typedef enum rejection {
    REJECTED_NOT,
    REJECTED_FRAMING,
    REJECTED_HEADER_DEADLINE,
    REJECTED_BODY_DEADLINE,
    REJECTED_SLOW_READER,
    REJECTED_CONNECTION_LIMIT,
    REJECTED_REQUEST_LIMIT,
    REJECTED_STREAM_LIMIT,
    REJECTED_QUEUE_FULL,
    REJECTED_UPLOAD_MEMORY,
    REJECTED_DRAINING,
    REJECTED_BY_API,
} rejection;
#define REJECTIONS (REJECTED_BY_API + API_REFUSALS)

/* A word for it: the label `reason`. */
const char *rejection_name(rejection why);

/* Count one request, answered `nanoseconds` after its head; `route` is an api_route_of. Any
 * thread, as with all below. */
void metrics_count_request(server_metrics *metrics, size_t route, unsigned status,
                           uint64_t nanoseconds);

/* Count what was turned away; nothing for REJECTED_NOT and REJECTED_BY_API + 0. */
void metrics_count_rejected(server_metrics *metrics, rejection why);

/* Count a table that took so long to compute. */
void metrics_count_computation(server_metrics *metrics, uint64_t nanoseconds);

/* Count bytes of bodies. */
void metrics_count_bytes(server_metrics *metrics, uint64_t bytes);

/* A connection has opened (+1) or closed (-1). */
void metrics_count_connection(server_metrics *metrics, int change);

/* A request begins (+1) or has ended (-1), a stream likewise; returns how many are under way.
 */
uint64_t metrics_count_under_way(server_metrics *metrics, int change);
uint64_t metrics_count_stream(server_metrics *metrics, int change);

/* All metrics as text from malloc; NULL if memory ran out. `waiting` is workers_waiting. */
char *metrics_text(server_metrics *metrics, const api_store *store, size_t waiting,
                   preparation_set *preparations);

#endif
