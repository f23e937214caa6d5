/* The service in this process alone: the host of the api without sockets, threads and limits on
 * what others may ask of it. */
#ifndef COMMAND_LOCAL_SERVICE_H
#define COMMAND_LOCAL_SERVICE_H

#include "api.h"
#include "settings/settings.h"

struct set_store;

#define LOCAL_LIMITS 32

typedef struct local_service {
    server_settings settings; /* the server's defaults, but for those that protect a server */
    api_host host;
    pe_cache *cache;
    struct set_store *store;
    api_service *service;
    api_limit published[LOCAL_LIMITS];
} local_service;

/* Make the service; the sets are those of a directory, or with "" there are none.
 * False: reterr is one line. To be closed in either case. */
bool local_service_open(local_service *ret_local, const char *data_directory, char *reterr,
                        size_t size);
void local_service_close(local_service *local);

/* Answer a request; never NULL. */
api_reply *local_service_ask(local_service *local, const api_request *request);

#endif
