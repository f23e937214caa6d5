/* Metrics: counters of the server, figures of the cache and process, as Prometheus text. */
#ifndef METRICS_H
#define METRICS_H

#include "api.h"
#include "preparations.h"

typedef struct server_metrics server_metrics;

/* NULL if memory ran out. The cache must outlive the metrics. */
server_metrics *metrics_new(pe_cache *cache);
void metrics_free(server_metrics *metrics);

/* Count one answered request; `route` is an api_route_label. Any thread. */
void metrics_count_request(server_metrics *metrics, const char *route, unsigned status);

/* Count bytes of bodies. Any thread. */
void metrics_count_bytes(server_metrics *metrics, uint64_t bytes);

/* A connection has opened (+1) or closed (-1). Any thread. */
void metrics_count_connection(server_metrics *metrics, int change);

/* A request begins (+1) or has ended (-1), a stream likewise; returns how many are under way.
 * Any thread. */
uint64_t metrics_count_under_way(server_metrics *metrics, int change);
uint64_t metrics_count_stream(server_metrics *metrics, int change);

/* A connection was turned away at the limit; one was closed for missing a deadline. Any thread.
 */
void metrics_count_refused(server_metrics *metrics);
void metrics_count_late(server_metrics *metrics);

/* All metrics as text from malloc; NULL if memory ran out. `waiting` is workers_waiting. */
char *metrics_text(server_metrics *metrics, const api_store *store, size_t waiting,
                   preparation_set *preparations);

#endif
