/* The table of routes, matching requests with it, and the answers where nothing matches. */
#include "routes.h"

#include "path_suggestion.h"
#include "replies/problem.h"
#include "replies/reply.h"
#include "replies/table_post.h"

#include <stdio.h>
#include <string.h>

/* The first pattern that fits a target is its path. The routes of one path are neighbours and
 * need the same right.
 */
static const api_route ROUTES[] = {
    {.method = "GET",
     .pattern = "/",
     .operation = "get_page",
     .endpoint = api_get_asset,
     .summary = "The visualiser",
     .tag = "web",
     .kind = API_ASSET},
    {.method = "GET",
     .pattern = "/docs",
     .operation = "get_docs",
     .endpoint = api_get_asset,
     .summary = "This reference in the browser",
     .tag = "web",
     .kind = API_ASSET},
    {.method = "GET",
     .pattern = "/assets/{file}",
     .operation = "get_asset",
     .endpoint = api_get_asset,
     .summary = "What these pages load",
     .tag = "web",
     .kind = API_ASSET},
    {.method = "GET",
     .pattern = "/v1/schemes",
     .operation = "list_schemes",
     .endpoint = api_list_schemes,
     .summary = "All schemes with their parameters",
     .tag = "schemes",
     .kind = API_DOCUMENT,
     .schema = "Schemes"},
    {.method = "GET",
     .pattern = "/v1/schemes/{scheme}",
     .operation = "get_scheme",
     .endpoint = api_describe_scheme,
     .summary = "One scheme with its parameters",
     .tag = "schemes",
     .kind = API_DOCUMENT,
     .schema = "Scheme"},
    {.method = "GET",
     .pattern = "/v1/encodings/{scheme}",
     .operation = "get_encoding",
     .endpoint = api_get_encoding,
     .summary = "The tensors of a scheme",
     .tag = "encodings",
     .kind = API_TENSORS,
     .schema = "Tensors"},
    {.method = "POST",
     .pattern = "/v1/encodings/{scheme}",
     .operation = "post_encoding",
     .endpoint = api_post_encoding,
     .summary = "The tensors of a scheme, asked for by a JSON object",
     .tag = "encodings",
     .kind = API_TENSORS_BY_POST,
     .schema = "Tensors"},
    {.method = "GET",
     .pattern = "/v1/similarity/{scheme}",
     .operation = "get_similarity",
     .endpoint = api_get_similarity,
     .summary = "Distances or correlations between the positions of a scheme",
     .tag = "similarity",
     .kind = API_TENSORS,
     .schema = "Tensors"},
    {.method = "POST",
     .pattern = "/v1/similarity/{scheme}",
     .operation = "post_similarity",
     .endpoint = api_post_similarity,
     .summary = "The same, asked for by a JSON object",
     .tag = "similarity",
     .kind = API_TENSORS_BY_POST,
     .schema = "Tensors"},
    {.method = "POST",
     .pattern = "/v1/batch",
     .operation = "post_batch",
     .endpoint = api_post_batch,
     .summary = "The tensors of many requests in one reply",
     .tag = "encodings",
     .kind = API_BATCH,
     .schema = "Batch"},
    {.method = "POST",
     .pattern = "/v1/compare/{scheme}",
     .operation = "compare_table",
     .endpoint = api_post_compare,
     .summary = "A table of yours, compared with the exact one",
     .tag = "tables",
     .kind = API_COMPARISON,
     .schema = "Comparison",
     .right = API_RIGHT_TABLES,
     .check_head = api_refuse_table_head},
    {.method = "POST",
     .pattern = "/v1/identify",
     .operation = "identify_table",
     .endpoint = api_post_identify,
     .summary = "Which request made a table of yours",
     .tag = "tables",
     .kind = API_IDENTIFICATION,
     .schema = "Identity",
     .right = API_RIGHT_TABLES,
     .check_head = api_refuse_table_head},
    {.method = "POST",
     .pattern = "/v1/convert/rope",
     .operation = "convert_rope",
     .endpoint = api_post_convert,
     .summary = "Weights or tables of yours, converted from one rotary pairing to the other",
     .tag = "tables",
     .kind = API_CONVERSION,
     .right = API_RIGHT_TABLES,
     .check_head = api_refuse_table_head},
    {.method = "POST",
     .pattern = "/v1/apply",
     .operation = "apply_model",
     .endpoint = api_post_apply_model,
     .summary = "Tensors of yours, with the encoding of a layer of a model applied exactly",
     .tag = "tables",
     .kind = API_MODEL_APPLICATION,
     .schema = "Judgement",
     .right = API_RIGHT_TABLES,
     .check_head = api_refuse_table_head},
    {.method = "POST",
     .pattern = "/v1/apply/{scheme}",
     .operation = "apply_scheme",
     .endpoint = api_post_apply,
     .summary =
         "Queries, keys, scores or embeddings of yours, with an encoding applied exactly",
     .tag = "tables",
     .kind = API_APPLICATION,
     .schema = "Judgement",
     .right = API_RIGHT_TABLES,
     .check_head = api_refuse_table_head},
    {.method = "GET",
     .pattern = "/v1/models",
     .operation = "list_models",
     .endpoint = api_list_models,
     .summary = "Model types, and well-known models by name",
     .tag = "models",
     .kind = API_DOCUMENT,
     .schema = "Models"},
    {.method = "POST",
     .pattern = "/v1/models",
     .operation = "plan_model",
     .endpoint = api_post_model,
     .summary = "Which positions a model has, by its config.json: the plan, or the tensors",
     .tag = "models",
     .kind = API_PLAN_BY_POST,
     .schema = "Plan"},
    {.method = "POST",
     .pattern = "/v1/models/compare",
     .operation = "compare_models",
     .endpoint = api_post_model_comparison,
     .summary = "Whether two descriptions of a model agree: parts, layers, tables",
     .tag = "models",
     .kind = API_PLAN_COMPARISON,
     .schema = "ModelComparison"},
    {.method = "GET",
     .pattern = "/v1/models/{model}",
     .operation = "get_model",
     .slashes = true,
     .endpoint = api_get_model,
     .summary = "The same of a well-known model, by its name",
     .tag = "models",
     .kind = API_PLAN,
     .schema = "Plan"},
    {.method = "GET",
     .pattern = "/v1/sets",
     .operation = "list_sets",
     .old_pattern = "/v1/parameters",
     .endpoint = api_list_sets,
     .summary = "The sets of trained tensors",
     .tag = "sets",
     .kind = API_SETS,
     .schema = "TensorSets",
     .old_schema = "OldTensorSets",
     .right = API_RIGHT_STORE},
    {.method = "GET",
     .pattern = "/v1/sets/{name}",
     .operation = "get_set",
     .old_pattern = "/v1/parameters/{name}",
     .endpoint = api_get_set,
     .summary = "One set as it was uploaded",
     .tag = "sets",
     .kind = API_SET,
     .right = API_RIGHT_STORE},
    {.method = "PUT",
     .pattern = "/v1/sets/{name}",
     .operation = "put_set",
     .old_pattern = "/v1/parameters/{name}",
     .endpoint = api_put_set,
     .summary = "Store a set, or replace it",
     .tag = "sets",
     .kind = API_UPLOAD,
     .schema = "TensorSet",
     .right = API_RIGHT_STORE,
     .check_head = api_refuse_upload},
    {.method = "DELETE",
     .pattern = "/v1/sets/{name}",
     .operation = "delete_set",
     .old_pattern = "/v1/parameters/{name}",
     .endpoint = api_delete_set,
     .summary = "Remove a set",
     .tag = "sets",
     .kind = API_REMOVAL,
     .right = API_RIGHT_STORE},
    {.method = "GET",
     .pattern = "/v1/info",
     .operation = "get_info",
     .endpoint = api_get_info,
     .summary = "Version, limits and formats",
     .tag = "service",
     .kind = API_DOCUMENT,
     .schema = "Info"},
    {.method = "GET",
     .pattern = "/health/live",
     .operation = "check_liveness",
     .endpoint = api_health_live,
     .summary = "Whether the process answers",
     .tag = "service",
     .kind = API_STATE,
     .schema = "State",
     .probe = true},
    {.method = "GET",
     .pattern = "/health/ready",
     .operation = "check_readiness",
     .endpoint = api_health_ready,
     .summary = "Whether new requests are welcome",
     .tag = "service",
     .kind = API_STATE,
     .schema = "State",
     .probe = true},
    {.method = "GET",
     .pattern = "/metrics",
     .operation = "get_metrics",
     .endpoint = api_get_metrics,
     .summary = "Metrics as Prometheus text",
     .tag = "service",
     .kind = API_TEXT,
     .probe = true},
    {.method = "GET",
     .pattern = "/openapi.json",
     .operation = "get_openapi",
     .endpoint = api_get_openapi,
     .summary = "This interface as an OpenAPI document",
     .tag = "service",
     .kind = API_DOCUMENT,
     .schema = "Document"},
};
#define ROUTE_COUNT (sizeof ROUTES / sizeof *ROUTES)

const api_route *api_route_table(size_t *ret_count)
{
    *ret_count = ROUTE_COUNT;
    return ROUTES;
}

/* ---- matching ---- */

/* The path of a target, matched with a pattern. */
typedef struct path_match {
    const api_route *route; /* the first one of the path; NULL if there is none */
    const char *pattern;    /* by which it was found */
    api_segment parameter;  /* what the pattern's {…} stands for */
    const char *end;        /* the end of the path, in the target */
} path_match;

/* Whether the path of a target fits a pattern, which may be NULL, of ret_match->route. */
static bool has_path(const char *target, const char *pattern, path_match *ret_match)
{
    const char *end = target;
    if (!pattern)
        return false;
    ret_match->pattern = pattern;
    for (; *pattern && *pattern != '{' && *pattern == *end; pattern++)
        end++;
    ret_match->parameter = (api_segment){end, 0};
    if (*pattern == '{') {
        while (*end && (*end != '/' || ret_match->route->slashes) && *end != '?')
            end++;
        ret_match->parameter.size = (size_t)(end - (const char *)ret_match->parameter.data);
    }
    ret_match->end = end;
    bool ends = *end == '\0' || *end == '?';
    return ends && (*pattern == '{' ? ret_match->parameter.size > 0 : *pattern == '\0');
}

static path_match match_path(const char *target)
{
    path_match match;
    for (match.route = ROUTES; match.route < ROUTES + ROUTE_COUNT; match.route++)
        if (has_path(target, match.route->pattern, &match) ||
            has_path(target, match.route->old_pattern, &match))
            return match;
    return (path_match){.route = NULL};
}

/* The next route of the same path, NULL after the last one. */
static const api_route *next_of_path(const api_route *route)
{
    const api_route *next = route + 1;
    bool same = next < ROUTES + ROUTE_COUNT && strcmp(next->pattern, route->pattern) == 0;
    return same ? next : NULL;
}

/* Whether a request's method is that of a route; HEAD is answered like GET. */
static bool has_method(const api_route *route, const char *method)
{
    return strcmp(strcmp(method, "HEAD") == 0 ? "GET" : method, route->method) == 0;
}

api_match api_match_route(const char *method, const char *target)
{
    path_match path = match_path(target);
    const api_route *route = path.route;
    if (!route)
        return (api_match){.route = NULL};
    api_match match = {.pattern = path.pattern,
                       .right = route->right,
                       .parameter = path.parameter,
                       .query = *path.end == '?' ? path.end + 1 : NULL};
    while (route && !has_method(route, method))
        route = next_of_path(route);
    match.route = route;
    return match;
}

size_t api_route_count(void)
{
    return ROUTE_COUNT + 1;
}

api_route_name api_route_name_get(size_t index)
{
    return index < ROUTE_COUNT ? (api_route_name){ROUTES[index].method, ROUTES[index].pattern}
                               : (api_route_name){"other", "other"};
}

size_t api_route_index(const api_match *match)
{
    return match->route ? (size_t)(match->route - ROUTES) : ROUTE_COUNT;
}

size_t api_route_find(const char *method, const char *target)
{
    const api_match match = api_match_route(method, target);
    return api_route_index(&match);
}

bool api_is_probe(const char *target)
{
    const api_route *route = match_path(target).route;
    return route && route->probe;
}

/* ---- answers where nothing matches ---- */

/* Write the methods that a path answers, "GET, HEAD, POST, OPTIONS"; nothing if it has no
 * route. */
static void write_allowed_methods(const char *target, char *dst, size_t size)
{
    size_t used = 0;
    dst[0] = '\0';
    for (const api_route *route = match_path(target).route; route; route = next_of_path(route))
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
    char allow[64], detail[400], path[240];
    write_allowed_methods(target, allow, sizeof allow);
    if (!allow[0]) {
        bool near = api_suggest_path(ROUTES, ROUTE_COUNT, target, path, sizeof path);
        snprintf(detail, sizeof detail,
                 "nothing is served at this path; %s%s%sGET /v1/schemes lists the schemes, GET "
                 "/docs describes every path",
                 near ? "did you mean " : "", near ? path : "", near ? "? " : "");
        return api_problem(API_NOT_FOUND, detail, near ? path : NULL, NULL);
    }
    if (strcmp(method, "OPTIONS") == 0)
        return answer_options(allow);
    snprintf(detail, sizeof detail, "this path only answers %s", allow);
    api_reply *reply = api_problem(API_METHOD_NOT_ALLOWED, detail, NULL, NULL);
    api_reply_add(reply, "Allow", "%s", allow);
    return reply;
}
