/* The table of routes, matching requests with it, and the answers where nothing matches. */
#include "routes.h"

#include "replies/access.h"
#include "replies/problem.h"
#include "replies/reply.h"

#include <stdio.h>
#include <string.h>

static const api_route ROUTES[] = {
    {.method = "GET",
     .pattern = "/",
     .endpoint = api_get_asset,
     .summary = "The visualiser",
     .kind = API_ASSET},
    {.method = "GET",
     .pattern = "/assets/{file}",
     .endpoint = api_get_asset,
     .summary = "What the visualiser's page loads",
     .kind = API_ASSET},
    {.method = "GET",
     .pattern = "/v1/schemes",
     .endpoint = api_list_schemes,
     .summary = "All schemes with their parameters",
     .kind = API_DOCUMENT,
     .schema = "Schemes"},
    {.method = "GET",
     .pattern = "/v1/schemes/{scheme}",
     .endpoint = api_describe_scheme,
     .summary = "One scheme with its parameters",
     .kind = API_DOCUMENT,
     .schema = "Scheme"},
    {.method = "GET",
     .pattern = "/v1/encodings/{scheme}",
     .endpoint = api_get_encoding,
     .summary = "The tensors of a scheme",
     .kind = API_TENSORS,
     .schema = "Tensors"},
    {.method = "POST",
     .pattern = "/v1/encodings/{scheme}",
     .endpoint = api_post_encoding,
     .summary = "The tensors of a scheme, asked for by a JSON object",
     .kind = API_TENSORS_BY_POST,
     .schema = "Tensors"},
    {.method = "GET",
     .pattern = "/v1/similarity/{scheme}",
     .endpoint = api_get_similarity,
     .summary = "Distances or correlations between the positions of a scheme",
     .kind = API_TENSORS,
     .schema = "Tensors"},
    {.method = "POST",
     .pattern = "/v1/similarity/{scheme}",
     .endpoint = api_post_similarity,
     .summary = "The same, asked for by a JSON object",
     .kind = API_TENSORS_BY_POST,
     .schema = "Tensors"},
    {.method = "GET",
     .pattern = "/v1/parameters",
     .endpoint = api_list_sets,
     .summary = "The stored sets of trained tensors",
     .kind = API_SETS,
     .schema = "StoredSets",
     .guard = api_refuse_access},
    {.method = "GET",
     .pattern = "/v1/parameters/{name}",
     .endpoint = api_get_set,
     .summary = "One stored set as it was uploaded",
     .kind = API_SET,
     .guard = api_refuse_access},
    {.method = "PUT",
     .pattern = "/v1/parameters/{name}",
     .endpoint = api_put_set,
     .summary = "Store a set, or replace it",
     .kind = API_UPLOAD,
     .schema = "StoredSet",
     .guard = api_refuse_access,
     .check_head = api_refuse_upload},
    {.method = "DELETE",
     .pattern = "/v1/parameters/{name}",
     .endpoint = api_delete_set,
     .summary = "Remove a stored set",
     .kind = API_REMOVAL,
     .guard = api_refuse_access},
    {.method = "GET",
     .pattern = "/v1/info",
     .endpoint = api_info,
     .summary = "Version, limits and formats",
     .kind = API_DOCUMENT,
     .schema = "Info"},
    {.method = "GET",
     .pattern = "/health/live",
     .endpoint = api_health_live,
     .summary = "Whether the process answers",
     .kind = API_STATE,
     .schema = "State",
     .probe = true},
    {.method = "GET",
     .pattern = "/health/ready",
     .endpoint = api_health_ready,
     .summary = "Whether new requests are welcome",
     .kind = API_STATE,
     .schema = "State",
     .probe = true},
    {.method = "GET",
     .pattern = "/metrics",
     .endpoint = api_metrics,
     .summary = "Metrics as Prometheus text",
     .kind = API_TEXT,
     .probe = true},
    {.method = "GET",
     .pattern = "/openapi.json",
     .endpoint = api_openapi,
     .summary = "This interface as an OpenAPI document",
     .kind = API_DOCUMENT,
     .schema = "Document"},
};
#define ROUTE_COUNT (sizeof ROUTES / sizeof *ROUTES)

const api_route *api_routes(size_t *ret_count)
{
    *ret_count = ROUTE_COUNT;
    return ROUTES;
}

/* ---- matching ---- */

/* Whether the path of a target fits a route's pattern. ret_parameter is the text that the
 * pattern's {…} stands for. */
static bool has_path(const api_route *route, const char *target, api_segment *ret_parameter)
{
    const char *pattern = route->pattern;
    for (; *pattern && *pattern != '{' && *pattern == *target; pattern++)
        target++;
    size_t length = *pattern == '{' ? strcspn(target, "/?") : 0;
    *ret_parameter = (api_segment){target, length};
    bool ends = target[length] == '\0' || target[length] == '?';
    return ends && (*pattern == '{' ? length > 0 : *pattern == '\0');
}

/* The first route from `route` on that has the path of a target; NULL if there is none. */
static const api_route *next_of_path(const api_route *route, const char *target,
                                     api_segment *ret_parameter)
{
    for (; route < ROUTES + ROUTE_COUNT; route++)
        if (has_path(route, target, ret_parameter))
            return route;
    return NULL;
}

/* Whether a request's method is that of a route; HEAD is answered like GET. */
static bool has_method(const api_route *route, const char *method)
{
    return strcmp(strcmp(method, "HEAD") == 0 ? "GET" : method, route->method) == 0;
}

api_match api_match_route(const char *method, const char *target)
{
    api_match match = {.route = NULL};
    api_segment parameter;
    const api_route *route = next_of_path(ROUTES, target, &parameter);
    for (; route; route = next_of_path(route + 1, target, &parameter)) {
        match.parameter = parameter;
        if (!match.guard)
            match.guard = route->guard;
        if (!match.route && has_method(route, method))
            match.route = route;
    }
    return match;
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
    const api_route *route = api_match_route(method, target).route;
    return route ? (size_t)(route - ROUTES) : ROUTE_COUNT;
}

bool api_is_probe(const char *target)
{
    api_segment parameter;
    const api_route *route = next_of_path(ROUTES, target, &parameter);
    return route && route->probe;
}

/* ---- answers where nothing matches ---- */

/* Write the methods that a path answers, "GET, HEAD, POST, OPTIONS"; nothing if it has no
 * route. */
static void write_allowed_methods(const char *target, char *dst, size_t size)
{
    api_segment parameter;
    size_t used = 0;
    dst[0] = '\0';
    const api_route *route = next_of_path(ROUTES, target, &parameter);
    for (; route; route = next_of_path(route + 1, target, &parameter))
        used += (size_t)snprintf(dst + used, size - used, "%s%s, ", route->method,
                                 strcmp(route->method, "GET") == 0 ? ", HEAD" : "");
    if (used > 0)
        snprintf(dst + used, size - used, "OPTIONS");
}

/* The answer to OPTIONS, which is also what a browser's preflight request needs (CORS). */
static api_reply *answer_options(const char *allow)
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

api_reply *api_answer_without_route(const char *method, const char *target)
{
    char allow[64], detail[160];
    write_allowed_methods(target, allow, sizeof allow);
    if (!allow[0])
        return api_problem(API_NOT_FOUND,
                           "nothing is served at this path; GET /v1/schemes lists the "
                           "schemes, GET /openapi.json describes every path",
                           NULL, NULL);
    if (strcmp(method, "OPTIONS") == 0)
        return answer_options(allow);
    snprintf(detail, sizeof detail, "this path only answers %s", allow);
    api_reply *reply = api_problem(API_METHOD_NOT_ALLOWED, detail, NULL, NULL);
    api_reply_add(reply, "Allow", "%s", allow);
    return reply;
}
