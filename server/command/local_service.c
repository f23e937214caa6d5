#include "command/local_service.h"

#include "observe/heap.h"
#include "observe/memory_limit.h"
#include "settings/memory_shares.h"
#include "store/set_store.h"

#include <stdio.h>
#include <string.h>

#define TABLE_BYTES                                                                            \
    ((uint64_t)1 << 40) /* of a file with tables: the most that a server allows */

/* The limits that hold here; the others are those of connections, queues and deadlines. */
static const char *const LIMITS[] = {"max-elements",
                                     "json-max-elements",
                                     "png-max-pixels",
                                     "max-list-length",
                                     "max-target-bytes",
                                     "max-body-bytes",
                                     "max-table-bytes",
                                     "max-upload-bytes",
                                     "max-store-bytes",
                                     "max-stored-sets",
                                     NULL};

static char *metrics(void *context)
{
    (void)context;
    return strdup("# there is no server that could be measured\n");
}

/* ---- the service ---- */

/* The defaults of the server. What keeps one client from taking the time and the disk of others
 * is lifted: here the only one may end the command, and the files are its own. */
static bool read_settings(server_settings *settings, const char *data_directory)
{
    static char name[] = "posenc";
    char *arguments[] = {name, NULL};
    if (!settings_read(settings, 1, arguments, NULL, stderr))
        return false;
    settings->data_directory = data_directory;
    settings->compute_cost = 0;
    settings->table_body_bytes = TABLE_BYTES;
    settings->connections = 1;
    return true;
}

static api_host describe_host(local_service *local, api_memory *memory)
{
    api_host host = {
        .form = API_FORM_COMMAND,
        .metrics = metrics,
        .memory = memory,
        .store = set_store_for_api(local->store),
    };
    settings_fill_own_host(&local->settings, LIMITS, local->published, LOCAL_LIMITS, &host);
    return host;
}

bool local_service_open(local_service *ret_local, const char *data_directory, char *reterr,
                        size_t size)
{
    *ret_local = (local_service){.service = NULL};
    server_settings *settings = &ret_local->settings;
    heap_configure();
    snprintf(reterr, size, "out of memory");
    if (!read_settings(settings, data_directory))
        return false;
    const memory_shares shares = settings_divide_memory(settings, memory_limit_of_system());
    const set_store_settings sets = set_store_read_settings(settings);
    ret_local->store = set_store_open(&sets, reterr, size);
    if (!ret_local->store)
        return false;
    snprintf(reterr, size, "out of memory");
    ret_local->host = describe_host(ret_local, api_memory_new(shares.requests));
    ret_local->cache = ret_local->host.memory ? pe_cache_new(settings->cache_bytes) : NULL;
    if (ret_local->cache)
        ret_local->service = api_service_new(&ret_local->host, ret_local->cache);
    return ret_local->service != NULL;
}

void local_service_close(local_service *local)
{
    api_service_free(local->service);
    pe_cache_free(local->cache);
    set_store_close(local->store);
    api_memory_free(local->host.memory);
}

api_reply *local_service_ask(local_service *local, const api_request *request)
{
    api_reply *reply = NULL;
    /* not quick, without a bound on the price, and nobody else computes */
    return api_handle(local->service, request, &reply) == API_DONE
               ? reply
               : api_fault_reply(local->service, API_FAULT_UNAVAILABLE);
}
