/* What the requests of a server share. */
#ifndef HTTP_SHARED_H
#define HTTP_SHARED_H

#include "api.h"
#include "http/body_stream.h"
#include "http/upload.h"
#include "net/disconnects.h"
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
    disconnect_list *disconnects;
    stream_rules streams;
    http_upload_budget uploads; /* memory of bodies */
    http_upload_budget spools;  /* disk for long ones */
    const char *spool_directory;
    api_reply *out_of_memory; /* prepared together with its response */
    atomic_bool draining;     /* every response closes its connection */
    atomic_bool stopping;     /* waiting jobs are abandoned */
} http_shared;

/* Prepare shared->out_of_memory from the members above it. False if memory ran out. */
bool http_shared_prepare(http_shared *shared);

/* Answer a request for which there was no memory for an exchange; the connection closes. */
enum MHD_Result http_answer_starved(http_shared *shared, struct MHD_Connection *connection,
                                    const char *method, const char *url);

#endif
