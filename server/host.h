/* The server as the api and the library see it: what their callbacks know and do. */
#ifndef SERVER_HOST_H
#define SERVER_HOST_H

#include "api.h"

#include <stdatomic.h>

struct preparation_set;
struct server_keys;
struct server_metrics;
struct server_settings;
struct worker_set;

#define HOST_LIMITS 32

typedef struct server_host {
    const struct server_settings *settings;
    const struct server_keys *keys;
    const api_store *store;
    bool local, any_host;       /* as in api_host */
    uint64_t request_bytes;     /* of memory for requests */
    struct worker_set *workers; /* once they have been started */
    /* the rest is made by host_build_service */
    struct server_metrics *metrics;
    struct preparation_set *preparations;
    api_memory *memory;
    pe_cache *cache;
    api_service *service;
    api_host api;
    pe_runner runner;
    api_limit published[HOST_LIMITS]; /* by /v1/info */
    atomic_bool draining;
    atomic_ullong end; /* by clock_now: from then on nothing is computed */
} server_host;

/* Create the service, which answers requests. NULL, or the reason why that failed. */
const char *host_build_service(server_host *host);

/* From so many seconds on, nothing is computed any more. */
void host_end_computing(server_host *host, uint64_t seconds);

/* Free the service and what it uses, but for the store and the memory in which that counts. */
void host_done(server_host *host);

#endif
