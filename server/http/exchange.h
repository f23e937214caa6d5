/* One request: from its head to its response. */
#ifndef HTTP_EXCHANGE_H
#define HTTP_EXCHANGE_H

#include "api.h"
#include "http/upload.h"
#include "net/departures.h"
#include "observe/metrics.h"
#include "settings/settings.h"
#include "work/workers.h"

#include <microhttpd.h>
#include <stdatomic.h>

/* What all requests of a server share. */
typedef struct http_shared {
    const server_settings *settings;
    api_service *service;
    server_metrics *metrics;
    worker_set *workers;
    departure_list *departures;
    http_upload_budget uploads;
    api_reply *out_of_memory; /* prepared together with its response */
    atomic_bool draining;     /* every response closes its connection */
    atomic_bool stopping;     /* waiting jobs are abandoned */
} http_shared;

/* Prepare shared->out_of_memory from the members above it. False if memory ran out. */
bool http_shared_prepare(http_shared *shared);

/* The callbacks of libmicrohttpd, in the order of its calls: for the request line, for the head
 * and each part of the body (MHD_AccessHandlerCallback), and when the request has ended. `cls`
 * is the http_shared. */
void *http_exchange_begin(void *cls, const char *target, struct MHD_Connection *connection);
enum MHD_Result http_exchange_handle(void *cls, struct MHD_Connection *connection,
                                     const char *url, const char *method, const char *version,
                                     const char *upload, size_t *upload_size, void **context);
void http_exchange_end(void *cls, struct MHD_Connection *connection, void **context,
                       enum MHD_RequestTerminationCode code);

#endif
