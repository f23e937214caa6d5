/* The service, the calls that its endpoints answer, and the endpoints. */
#ifndef API_CALL_H
#define API_CALL_H

#include "api.h"

struct api_service {
    const api_host *host;
    pe_cache *cache;
    api_reply *out_of_memory;          /* prepared at the start, since it needs memory itself */
    struct api_fixed_documents *fixed; /* documents that are built once */
    const struct api_route *routes;
    size_t route_count;
};

/* One request while an endpoint answers it. */
typedef struct api_call {
    const api_service *service;
    const api_request *request;
    const char *query;                 /* NULL if the target has no `?` */
    const char *pattern;               /* that the path fits: "/v1/sets/{name}" */
    const char *parameter;             /* the text of the path's {…}, or "" */
    bool head;                         /* the method is HEAD: the reply gets no body */
    api_progress *progress;            /* see api_not_yet */
    struct api_found_sets *found_sets; /* see api_read_set */
} api_call;

/* What a route needs. */
typedef enum api_right {
    API_RIGHT_NONE,   /* everybody may ask */
    API_RIGHT_TABLES, /* to compute on a table in the body; changes nothing */
    API_RIGHT_STORE,  /* to read the files of sets, and to change them */
} api_right;

/* An endpoint answers a call. NULL if memory ran out, or after api_not_yet. */
typedef api_reply *api_endpoint(const api_call *call);

/* A guard refuses a call: true, with the reply in ret_refusal, which is NULL if memory ran out
 * for it. False lets the call in. */
typedef bool api_guard(const api_call *call, api_reply **ret_refusal);

/* A header of the request, NULL if absent. */
static inline const char *api_call_header(const api_call *call, api_header header)
{
    const api_request *request = call->request;
    return request->header ? request->header(request->context, header) : NULL;
}

/* Note that a call cannot be answered yet, and why. Returns NULL, for the endpoint to return.
 */
static inline api_reply *api_not_yet(const api_call *call, api_progress progress)
{
    *call->progress = progress;
    return NULL;
}

/* Whether work of a price, in multiply-adds, may begin in this call: it is not to be quick, and
 * the price is within what may be spent. False: the price has been told and the call noted as
 * API_LATER. */
static inline bool api_may_begin(const api_call *call, double price)
{
    const api_request *request = call->request;
    uint64_t whole = price < 0x1p63 ? (uint64_t)price : (uint64_t)1 << 63;
    if (!request->quick && (request->spend == 0 || whole <= request->spend))
        return true;
    if (request->ret_price)
        *request->ret_price = whole;
    *call->progress = API_LATER;
    return false;
}

api_endpoint api_list_schemes, api_describe_scheme;
api_endpoint api_get_encoding, api_post_encoding;
api_endpoint api_get_similarity, api_post_similarity;
api_endpoint api_post_batch;
api_endpoint api_post_compare, api_post_identify, api_post_convert, api_post_apply,
    api_post_apply_model;
api_endpoint api_list_models, api_post_model, api_get_model, api_post_model_comparison;
api_endpoint api_list_sets, api_get_set, api_put_set, api_delete_set;
api_guard api_refuse_upload;
api_endpoint api_get_asset;
api_endpoint api_get_info, api_health_live, api_health_ready, api_get_metrics, api_get_openapi;

#endif
