/* A service without a server. */
#include "unit_service.h"

#include "store/set_store.h"
#include "unit.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

static uint64_t now(void *context)
{
    return ++((unit_service *)context)->time;
}

static api_readiness readiness(void *context)
{
    return ((unit_service *)context)->readiness;
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
    static const set_store_settings in_memory = {.directory = "", .sets = 8, .bytes = 1 << 20};
    char reason[128];
    set_store *sets = set_store_open(&in_memory, reason, sizeof reason);
    ck_assert_msg(sets != NULL, "%s", reason);
    *ret_service = (unit_service){
        .cache = pe_cache_new(1 << 24),
        .store = sets,
        .readiness = API_READY,
        .host =
            {
                .context = ret_service,
                .now = now,
                .readiness = readiness,
                .landed = landed,
                .metrics = metrics,
                .json_elements = 1000,
                .png_pixels = 1000,
                .target_bytes = 512,
                .body_bytes = 1 << 16,
                .upload_bytes = 1 << 20,
                .store = set_store_for_api(sets),
                .local = true,
                .limits = {1 << 30, 1 << 22, 1 << 16, NULL, NULL},
                .published = published,
                .published_count = 1,
            },
    };
    ret_service->service = api_service_new(&ret_service->host, ret_service->cache);
    ck_assert_ptr_nonnull(ret_service->service);
}

void unit_service_stop(unit_service *service)
{
    free(service->held);
    api_service_free(service->service);
    pe_cache_free(service->cache);
    set_store_close(service->store);
}

typedef struct sent {
    const char *const *headers;
    char *body;
} sent;

static const char *find_header(void *context, api_header header)
{
#define NAME(identifier, name) [API_HEADER_##identifier] = (name),
    static const char *const names[] = {API_REQUEST_HEADERS(NAME)};
#undef NAME
    for (const char *const *at = ((const sent *)context)->headers; at && *at; at += 2)
        if (strcasecmp(at[0], names[header]) == 0)
            return at[1];
    return NULL;
}

static char *take_body(void *context)
{
    sent *of = context;
    char *body = of->body;
    of->body = NULL;
    return body;
}

api_reply *unit_send(unit_service *service, const char *method, const char *target,
                     const char *const *headers, const char *body, size_t size)
{
    sent of = {headers, NULL};
    if (body && posix_memalign((void **)&of.body, 64, size + 1) != 0) /* never made to fail */
        abort();
    if (body)
        memcpy(of.body, body, size);
    const api_request request = {
        .method = method,
        .target = target,
        .header = find_header,
        .context = &of,
        .body = of.body,
        .body_size = size,
        .take_body = take_body,
    };
    api_reply *reply = NULL;
    api_progress progress = api_handle(service->service, &request, &reply);
    if (progress == API_DONE && api_reply_reads_request(reply)) {
        free(service->held);
        service->held = of.body;
    } else {
        free(of.body);
    }
    return progress == API_DONE ? reply : NULL;
}

api_reply *unit_ask(unit_service *service, const char *method, const char *target,
                    const char *const *headers, const char *body)
{
    return unit_send(service, method, target, headers, body, body ? strlen(body) : 0);
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
