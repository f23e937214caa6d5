/* The answer to a request that finds no memory: the server prepares it when it starts. */
#include "http/shared.h"

#include "http/access.h"
#include "http/response.h"

bool http_shared_prepare(http_shared *shared)
{
    http_response prepared;
    const http_sending sending = {.metrics = shared->metrics};
    shared->out_of_memory = http_response_prepare(
        api_fault_reply(shared->service, API_FAULT_UNAVAILABLE), NULL, &sending, &prepared);
    return shared->out_of_memory != NULL;
}

enum MHD_Result http_answer_starved(http_shared *shared, struct MHD_Connection *connection,
                                    const char *method, const char *url)
{
    http_response prepared;
    const http_sending sending = {.metrics = shared->metrics};
    api_reply *reply =
        http_response_prepare(api_reply_ref(shared->out_of_memory), NULL, &sending, &prepared);
    metrics_count_request(shared->metrics, api_route_find(method, url), api_reply_status(reply),
                          0);
    metrics_count_rejected(shared->metrics, http_access_reason(reply, REJECTED_NOT, false));
    return http_response_queue(connection, reply, &prepared);
}
