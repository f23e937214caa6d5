#include "http/overload.h"

#include "bytes/text.h"
#include "clock.h"
#include "http/guard.h"

#include <microhttpd.h>
#include <stdlib.h>
#include <string.h>

char *overload_write_response(api_reply *reply, const api_field *own)
{
    const api_field *fields;
    const api_segment *segments;
    api_text text = {0};
    api_body *body = api_reply_body(reply);
    size_t count = api_reply_fields(reply, &fields);
    uint64_t length = body ? api_body_size(body) : api_reply_length(reply);
    api_text_add(&text, "HTTP/1.1 %u %s\r\nConnection: close\r\n", api_reply_status(reply),
                 MHD_get_reason_phrase_for(api_reply_status(reply)));
    for (size_t i = 0; i < count; i++)
        api_text_add(&text, "%s: %s\r\n", fields[i].name, fields[i].value);
    for (; own && own->name; own++)
        api_text_add(&text, "%s: %s\r\n", own->name, own->value);
    if (length != API_LENGTH_UNKNOWN)
        api_text_add(&text, "Content-Length: %llu\r\n", (unsigned long long)length);
    api_text_add(&text, "\r\n");
    count = body ? api_body_segments(body, &segments) : 0;
    for (size_t i = 0; i < count; i++)
        api_text_put(&text, segments[i].data, segments[i].size);
    return api_text_take(&text);
}

char *overload_refusal(api_service *service)
{
    api_reply *reply = api_fault_reply_explained(service, API_FAULT_OVERLOADED,
                                                 "too many connections are open; try again");
    char *response = overload_write_response(reply, NULL);
    api_reply_unref(reply);
    return response;
}

/* Ask the api for the answer to a probe. */
static char *answer_probe(api_service *service, server_metrics *metrics, const char *method,
                          const char *target)
{
    const api_request request = {.method = method, .target = target, .quick = true};
    uint64_t began = clock_now();
    api_reply *reply;
    if (api_handle(service, &request, &reply) != API_DONE)
        return NULL;
    char *response = overload_write_response(reply, NULL);
    metrics_count_request(metrics, api_route_find(method, target), api_reply_status(reply),
                          clock_now() - began);
    api_reply_unref(reply);
    return response;
}

char *overload_answer(api_service *service, server_metrics *metrics, const char *method,
                      char *target)
{
    char *host = NULL, *response = NULL;
    bool reads = method && (strcmp(method, "GET") == 0 || strcmp(method, "HEAD") == 0);
    if (reads && guard_take_host(target, &host) && api_is_probe(target))
        response = answer_probe(service, metrics, method, target);
    free(host);
    if (!response)
        metrics_count_rejected(metrics, REJECTED_CONNECTION_LIMIT);
    return response;
}
