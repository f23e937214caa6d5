/* A service without a server. */
#include "service.h"

#include "../unit.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

static uint64_t now(void *context)
{
    return ++((unit_service *)context)->time;
}

static bool is_ready(void *context)
{
    return ((unit_service *)context)->ready;
}

static void landed(void *context)
{
    ((unit_service *)context)->landings++;
}

static char *metrics(void *context)
{
    (void)context;
    return strdup("up 1\n");
}

void unit_service_start(unit_service *ret_service)
{
    static const api_limit published[] = {{"some-limit", "bytes", "a limit", 42}};
    *ret_service = (unit_service){
        .cache = pe_cache_new(1 << 24),
        .ready = true,
        .host =
            {
                .context = ret_service,
                .now = now,
                .is_ready = is_ready,
                .landed = landed,
                .metrics = metrics,
                .json_elements = 1000,
                .target_bytes = 512,
                .limits = {1 << 30, 1 << 22, 1 << 16},
                .published = published,
                .published_count = 1,
            },
    };
    ret_service->service = api_service_new(&ret_service->host, ret_service->cache);
    ck_assert_ptr_nonnull(ret_service->service);
}

void unit_service_stop(unit_service *service)
{
    api_service_free(service->service);
    pe_cache_free(service->cache);
}

static const char *find_header(void *context, const char *name)
{
    for (const char *const *at = context; at && *at; at += 2)
        if (strcasecmp(at[0], name) == 0)
            return at[1];
    return NULL;
}

api_reply *unit_ask(unit_service *service, const char *method, const char *target,
                    const char *const *headers, const char *body)
{
    api_request request = {
        .method = method,
        .target = target,
        .header = find_header,
        .context = (void *)(uintptr_t)headers,
        .body = body,
        .body_size = body ? strlen(body) : 0,
    };
    api_reply *reply = NULL;
    api_progress progress = api_handle(service->service, &request, &reply);
    return progress == API_DONE ? reply : NULL;
}

const char *unit_field(const api_reply *reply, const char *name)
{
    const api_field *fields;
    size_t count = api_reply_fields(reply, &fields);
    for (size_t i = 0; i < count; i++)
        if (strcmp(fields[i].name, name) == 0)
            return fields[i].value;
    return NULL;
}

char *unit_body(const api_reply *reply, size_t *ret_size)
{
    const api_segment *segments;
    api_body *body = api_reply_body(reply);
    size_t count = body ? api_body_segments(body, &segments) : 0, size = 0;
    char *text = malloc(body ? (size_t)api_body_size(body) + 1 : 1);
    for (size_t i = 0; i < count; i++) {
        memcpy(text + size, segments[i].data, segments[i].size);
        size += segments[i].size;
    }
    text[size] = '\0';
    *ret_size = size;
    return text;
}
