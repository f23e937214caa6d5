/* Routing: one table of method, path and endpoint; it owns 404, 405, HEAD and OPTIONS. */
#include "service.h"

#include "access.h"
#include "document.h"
#include "problem.h"
#include "reply.h"
#include "shortcut.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* guard and precede */
#define OPEN       NULL, NULL
#define STORE_ONLY api_refuse_access, NULL

static const api_route ROUTES[] = {
    {"GET", "/", api_get_asset, "The visualiser", API_ASSET, NULL, OPEN},
    {"GET", "/assets/{file}", api_get_asset, "What the visualiser's page loads", API_ASSET,
     NULL, OPEN},
    {"GET", "/v1/schemes", api_list_schemes, "All schemes with their parameters", API_DOCUMENT,
     "Schemes", OPEN},
    {"GET", "/v1/schemes/{scheme}", api_describe_scheme, "One scheme with its parameters",
     API_DOCUMENT, "Scheme", OPEN},
    {"GET", "/v1/encodings/{scheme}", api_get_encoding, "The tensors of a scheme", API_TENSORS,
     "Tensors", OPEN},
    {"POST", "/v1/encodings/{scheme}", api_post_encoding,
     "The tensors of a scheme, asked for by a JSON object", API_TENSORS_BY_POST, "Tensors",
     OPEN},
    {"GET", "/v1/similarity/{scheme}", api_get_similarity,
     "Distances or correlations between the positions of a scheme", API_TENSORS, "Tensors",
     OPEN},
    {"POST", "/v1/similarity/{scheme}", api_post_similarity,
     "The same, asked for by a JSON object", API_TENSORS_BY_POST, "Tensors", OPEN},
    {"GET", "/v1/parameters", api_list_sets, "The stored sets of trained tensors", API_SETS,
     "StoredSets", STORE_ONLY},
    {"GET", "/v1/parameters/{name}", api_get_set, "One stored set as it was uploaded", API_SET,
     NULL, STORE_ONLY},
    {"PUT", "/v1/parameters/{name}", api_put_set, "Store a set, or replace it", API_UPLOAD,
     "StoredSet", api_refuse_access, api_refuse_upload},
    {"DELETE", "/v1/parameters/{name}", api_delete_set, "Remove a stored set", API_REMOVAL,
     NULL, STORE_ONLY},
    {"GET", "/v1/info", api_info, "Version, limits and formats", API_DOCUMENT, "Info", OPEN},
    {"GET", "/health/live", api_health_live, "Whether the process answers", API_STATE, "State",
     OPEN},
    {"GET", "/health/ready", api_health_ready, "Whether new requests are welcome", API_STATE,
     "State", OPEN},
    {"GET", "/metrics", api_metrics, "Metrics as Prometheus text", API_TEXT, NULL, OPEN},
    {"GET", "/openapi.json", api_openapi, "This interface as an OpenAPI document", API_DOCUMENT,
     "Document", OPEN},
};
#define ROUTE_COUNT (sizeof ROUTES / sizeof *ROUTES)

size_t api_routes(const api_route **ret_routes)
{
    *ret_routes = ROUTES;
    return ROUTE_COUNT;
}

/* Whether path[0, length) fits a pattern; ret_parameter is the text that its {…} stands for. */
static bool matches(const char *pattern, const char *path, size_t length,
                    api_segment *ret_parameter)
{
    size_t fixed = strcspn(pattern, "{");
    *ret_parameter = (api_segment){path + length, 0};
    if (pattern[fixed] == '\0')
        return length == fixed && memcmp(pattern, path, length) == 0;
    if (length <= fixed || memcmp(pattern, path, fixed) != 0)
        return false;
    *ret_parameter = (api_segment){path + fixed, length - fixed};
    return memchr(path + fixed, '/', length - fixed) == NULL;
}

/* Whether a request's method is that of a route; HEAD is answered like GET. */
static bool has_method(const api_route *route, const char *method)
{
    return strcmp(strcmp(method, "HEAD") == 0 ? "GET" : method, route->method) == 0;
}

size_t api_route_count(void)
{
    return ROUTE_COUNT + 1;
}

api_route_name api_route_name_at(size_t index)
{
    return index < ROUTE_COUNT ? (api_route_name){ROUTES[index].method, ROUTES[index].pattern}
                               : (api_route_name){"other", "other"};
}

size_t api_route_of(const char *method, const char *target)
{
    size_t length = strcspn(target, "?"), i = 0;
    api_segment parameter;
    while (i < ROUTE_COUNT && !(matches(ROUTES[i].pattern, target, length, &parameter) &&
                                has_method(&ROUTES[i], method)))
        i++;
    return i;
}

/* "GET, HEAD, POST, OPTIONS": the methods of a path; empty if there are none. */
static void allowed_methods(const char *path, size_t length, char *dst, size_t size)
{
    api_segment parameter;
    size_t used = 0;
    dst[0] = '\0';
    for (size_t i = 0; i < ROUTE_COUNT; i++)
        if (matches(ROUTES[i].pattern, path, length, &parameter))
            used += (size_t)snprintf(dst + used, size - used, "%s%s, ", ROUTES[i].method,
                                     strcmp(ROUTES[i].method, "GET") == 0 ? ", HEAD" : "");
    if (used > 0)
        snprintf(dst + used, size - used, "OPTIONS");
}

static api_reply *preflight(const char *allow)
{
    api_reply *reply = api_reply_new(204);
    api_reply_add(reply, "Allow", "%s", allow);
    api_reply_add(reply, "Access-Control-Allow-Methods", "GET, HEAD, POST, OPTIONS");
    api_reply_add(reply, "Access-Control-Allow-Headers",
                  "Accept, Content-Type, If-Match, If-None-Match, If-Range, Range, "
                  "traceparent, X-Request-Id");
    api_reply_add(reply, "Access-Control-Max-Age", "86400");
    return reply;
}

/* The answer where no route fits the path and method. */
static api_reply *no_route(const char *method, const char *path, size_t length)
{
    char allow[64], detail[160];
    allowed_methods(path, length, allow, sizeof allow);
    if (!allow[0])
        return api_problem(API_NOT_FOUND,
                           "GET /v1/schemes lists the schemes, GET /openapi.json "
                           "describes every path",
                           NULL, NULL);
    if (strcmp(method, "OPTIONS") == 0)
        return preflight(allow);
    snprintf(detail, sizeof detail, "this path answers %s", allow);
    api_reply *reply = api_problem(API_METHOD_NOT_ALLOWED, detail, NULL, NULL);
    api_reply_add(reply, "Allow", "%s", allow);
    return reply;
}

static bool is_printable_ascii(const char *text)
{
    for (; *text; text++)
        if (*text <= ' ' || *text > '~')
            return false;
    return true;
}

/* What {…} stands for: longer than any name that exists; a cut one is unknown all the same. */
#define PARAMETER_ROOM 80

/* Fill a call of a route if the request's path fits it; the {…} goes to `parameter`. */
static bool begin_call(const api_service *service, const api_request *request,
                       const api_route *route, api_progress *progress,
                       char parameter[PARAMETER_ROOM], api_call *ret_call)
{
    const char *path = request->target;
    size_t length = strcspn(path, "?");
    api_segment found;
    if (!matches(route->pattern, path, length, &found))
        return false;
    size_t size = found.size < PARAMETER_ROOM ? found.size : PARAMETER_ROOM - 1;
    memcpy(parameter, found.data, size);
    parameter[size] = '\0';
    *ret_call = (api_call){.service = service,
                           .request = request,
                           .query = path[length] == '?' ? path + length + 1 : NULL,
                           .parameter = parameter,
                           .head = strcmp(request->method, "HEAD") == 0,
                           .progress = progress};
    return true;
}

static api_reply *dispatch(const api_service *service, const api_request *request,
                           api_progress *progress)
{
    const char *path = request->target;
    if (strlen(path) > service->host->target_bytes)
        return api_problem(API_TARGET_TOO_LONG, "send long lists as a JSON body by POST", NULL,
                           NULL);
    if (path[0] != '/' || !is_printable_ascii(path))
        return api_problem(API_MALFORMED,
                           "the target is an absolute path, other characters "
                           "percent-encoded",
                           NULL, NULL);
    char parameter[PARAMETER_ROOM];
    api_call call;
    bool allowed = false;
    for (size_t i = 0; i < ROUTE_COUNT; i++) {
        if (!begin_call(service, request, &ROUTES[i], progress, parameter, &call))
            continue;
        api_reply *refusal =
            ROUTES[i].guard && !allowed ? ROUTES[i].guard(&call) : NULL; /* once for a path */
        if (refusal)
            return refusal;
        allowed = true;
        if (has_method(&ROUTES[i], request->method))
            return ROUTES[i].endpoint(&call);
    }
    return no_route(request->method, path, strcspn(path, "?"));
}

api_reply *api_judge_head(api_service *service, const api_request *request, uint64_t *ret_limit)
{
    char parameter[PARAMETER_ROOM];
    api_call call;
    api_progress progress;
    *ret_limit = service->host->body_bytes;
    bool allowed = false;
    api_document_begin();
    for (size_t i = 0; i < ROUTE_COUNT; i++) {
        if (!ROUTES[i].guard ||
            !begin_call(service, request, &ROUTES[i], &progress, parameter, &call))
            continue;
        api_reply *refusal = allowed ? NULL : ROUTES[i].guard(&call); /* whatever the method */
        if (refusal)
            return refusal;
        allowed = true;
        if (!ROUTES[i].precede || strcmp(request->method, ROUTES[i].method) != 0)
            continue;
        *ret_limit = service->host->upload_bytes;
        return ROUTES[i].precede(&call);
    }
    return NULL;
}

api_reply *api_not_yet(const api_call *call, api_progress progress)
{
    *call->progress = progress;
    return NULL;
}

const char *api_call_header(const api_call *call, const char *name)
{
    return call->request->header ? call->request->header(call->request->context, name) : NULL;
}

api_progress api_handle(api_service *service, const api_request *request, api_reply **ret_reply)
{
    api_progress progress = API_DONE;
    api_reply *reply = api_shortcut_reply(service, request);
    api_document_begin();
    if (!reply)
        reply = dispatch(service, request, &progress);
    if (progress == API_DONE)
        *ret_reply = reply ? reply : api_reply_ref(service->out_of_memory);
    return progress;
}

static const struct {
    api_code code;
    const char *detail; /* NULL: the reply made beforehand */
} FAULTS[] = {
    [API_FAULT_PAYLOAD_TOO_LARGE] = {API_PAYLOAD_TOO_LARGE, "GET /v1/info states the limit"},
    [API_FAULT_UNAVAILABLE] = {API_UNAVAILABLE, NULL},
    [API_FAULT_OVERLOADED] = {API_UNAVAILABLE, "too many computations are waiting; try again"},
    [API_FAULT_MALFORMED] = {API_MALFORMED, "the message is not framed as HTTP/1.1 asks"},
    [API_FAULT_NOT_IMPLEMENTED] = {API_NOT_IMPLEMENTED, "the message's framing is unknown"},
};

api_reply *api_fault_reply_with(api_service *service, api_fault fault, const char *detail)
{
    api_document_begin();
    api_reply *reply = detail ? api_problem(FAULTS[fault].code, detail, NULL, NULL) : NULL;
    return reply ? reply : api_reply_ref(service->out_of_memory);
}

api_reply *api_fault_reply(api_service *service, api_fault fault)
{
    return api_fault_reply_with(service, fault, FAULTS[fault].detail);
}

api_service *api_service_new(const api_host *host, pe_cache *cache)
{
    api_service *service = calloc(1, sizeof *service);
    if (!service)
        return NULL;
    service->host = host;
    service->cache = cache;
    api_document_watch_memory();
    service->out_of_memory =
        api_problem(API_OUT_OF_MEMORY, "out of memory; try again later", NULL, NULL);
    if (!service->out_of_memory) {
        free(service);
        return NULL;
    }
    return service;
}

void api_service_free(api_service *service)
{
    if (!service)
        return;
    api_reply_unref(service->out_of_memory);
    free(service);
}
