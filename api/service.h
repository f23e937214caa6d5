/* The service, and how a request reaches its endpoint. */
#ifndef API_SERVICE_H
#define API_SERVICE_H

#include "api.h"

struct api_service {
    const api_host *host;
    pe_cache *cache;
    api_reply *out_of_memory; /* made beforehand */
};

/* One request on its way through an endpoint. */
typedef struct api_call {
    const api_service *service;
    const api_request *request;
    const char *query;      /* NULL if the target has no `?` */
    const char *parameter;  /* the path's {…} segment, or "" */
    bool head;              /* answer without a body */
    api_progress *progress; /* set where the endpoint cannot answer yet and returns NULL */
} api_call;

/* An endpoint answers a call; NULL where memory ran out. */
typedef api_reply *api_endpoint(const api_call *call);

/* A header of the request, NULL if absent. */
const char *api_call_header(const api_call *call, const char *name);

/* The answer where a path names no scheme. */
api_reply *api_unknown_scheme(const char *name);

/* Whether the rows of a scheme can be compared: its example's primary tensor is a real matrix.
 * For want of memory it spoils the document that asks. */
bool api_has_similarity(const pe_scheme *scheme, const pe_limits *limits);
/* Say that a call cannot be answered yet; returns NULL. */
api_reply *api_not_yet(const api_call *call, api_progress progress);

typedef struct api_route {
    const char *method, *pattern; /* a pattern may end in /{name} */
    api_endpoint *endpoint;
    const char *summary;
    api_endpoint *guard; /* refuses every request for the path, or returns NULL; or NULL */
    api_endpoint
        *precede; /* refuses a request before its body is read, or returns NULL; or NULL */
} api_route;

size_t api_routes(const api_route **ret_routes);

api_endpoint api_list_schemes, api_describe_scheme;
api_endpoint api_get_encoding, api_post_encoding;
api_endpoint api_get_similarity, api_post_similarity;
api_endpoint api_list_sets, api_get_set, api_put_set, api_delete_set, api_refuse_upload;
api_endpoint api_get_asset; /* documents of people, not part of the described interface */
api_endpoint api_info, api_health_live, api_health_ready, api_metrics, api_openapi;

#endif
