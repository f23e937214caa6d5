/* The service's entry points: answering a request, judging its head, and replies for what only
 * the transport sees. */
#include "bytes/memory_budget.h"
#include "files/found_sets.h"
#include "http/arguments.h"
#include "replies/access.h"
#include "replies/fixed_documents.h"
#include "replies/problem.h"
#include "replies/reply.h"
#include "replies/table_post.h"
#include "representations/shortcut.h"
#include "routes.h"
#include "json/document.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* Room for the text of the path's {…}. No name that exists is as long, so that a text that is
 * cut is as unknown as the whole one. */
#define PARAMETER_ROOM 80

/* Begin the call of a request that has been matched; its parameter is copied to `parameter`. */
static api_call begin_call(const api_service *service, const api_request *request,
                           const api_match *match, char parameter[PARAMETER_ROOM],
                           api_progress *progress)
{
    size_t room = PARAMETER_ROOM - 1;
    size_t size = match->parameter.size < room ? match->parameter.size : room;
    if (size > 0)
        memcpy(parameter, match->parameter.data, size);
    parameter[size] = '\0';
    return (api_call){.service = service,
                      .request = request,
                      .query = match->query,
                      .pattern = match->pattern,
                      .parameter = parameter,
                      .head = strcmp(request->method, "HEAD") == 0,
                      .progress = progress};
}

/* The refusal that a guard has made, or without memory the reply that was prepared. */
static api_reply *close_refusal(const api_call *call, api_reply *refusal)
{
    return refusal ? refusal : api_reply_ref(call->service->out_of_memory);
}

/* Whether a call lacks the right that its path needs. ret_refusal is the answer then, never
 * NULL. */
static bool lacks_right(const api_call *call, const api_match *match, api_reply **ret_refusal)
{
    api_reply *refusal = NULL;
    if (!api_refuse_access(call, match->right, &refusal))
        return false;
    *ret_refusal = close_refusal(call, refusal);
    return true;
}

/* The kinds of routes whose bodies are parsed when they are answered. */
#define PARSED                                                                                 \
    (API_TENSORS_BY_POST | API_BATCH | API_PLAN_BY_POST | API_PLAN_COMPARISON | API_TABLES)

/* Refuse a body in a content coding: only gzip'ed answers are known here (RFC 9110, section
 * 12.5.3). Only routes that take a body look at the field. */
static bool is_coded(const api_call *call, const api_match *match, api_reply **ret_refusal)
{
    const char *coding = api_call_header(call, API_HEADER_CONTENT_ENCODING);
    if (!coding || !match->route || strcasecmp(coding, "identity") == 0 ||
        !(match->route->kind & (PARSED | API_UPLOAD)))
        return false;
    api_reply *refusal = api_problem(
        API_UNSUPPORTED_MEDIA_TYPE,
        "the body has a Content-Encoding; send it as it is, without one", NULL, NULL);
    api_reply_add(refusal, "Accept-Encoding", "identity");
    *ret_refusal = close_refusal(call, refusal);
    return true;
}

#define WITHOUT_ARGUMENTS (API_DOCUMENT | API_SETS | API_SET | API_UPLOAD | API_REMOVAL)

/* Refuse arguments of a document or a set, which take none. */
static bool has_arguments(const api_call *call, const api_match *match, api_reply **ret_refusal)
{
    api_arguments arguments;
    pe_error error;
    if (!match->route || !(match->route->kind & WITHOUT_ARGUMENTS) || !call->query)
        return false;
    pe_error_init(&error);
    api_arguments_from_query(call->query, &arguments, &error);
    if (arguments.count > 0) /* whatever else is wrong with them */
        pe_error_init(&error);
    for (size_t i = 0; i < arguments.count; i++)
        pe_error_add(&error, PE_MALFORMED, arguments.items[i].name, "",
                     "left out: this path has no parameters")
            ->reason = PE_REASON_UNKNOWN;
    api_arguments_done(&arguments);
    if (error.count > 0)
        *ret_refusal = close_refusal(call, api_problem_from_error(&error));
    return error.count > 0;
}

/* A longer body is parsed by a worker alone: even a short one may hold many values, and names
 * that are compared with all known ones. Of a table the head is parsed, which has a limit. */
#define QUICK_BODY  ((size_t)4 << 10)
#define PARSE_PRICE 64 /* multiply-adds for a byte */
#define HEAD_MAX    ((size_t)1 << 20)

/* Whether the body may be parsed in this call. False: it is left to a worker, unread. */
static bool may_parse(const api_call *call, const api_match *match)
{
    const api_request *request = call->request;
    size_t size = request->body_size;
    if (!request->quick || !match->route || !(match->route->kind & PARSED) ||
        size <= QUICK_BODY)
        return true;
    if ((match->route->kind & API_TABLES) && size > HEAD_MAX)
        size = HEAD_MAX;
    return api_may_begin(call, (double)(PARSE_PRICE * size));
}

static bool is_printable_ascii(const char *text)
{
    for (; *text; text++)
        if (*text <= ' ' || *text > '~')
            return false;
    return true;
}

/* Answer a request by its route. */
static api_reply *answer_route(const api_service *service, const api_request *request,
                               const api_match *match, api_progress *progress)
{
    char parameter[PARAMETER_ROOM];
    api_found_sets found_sets = {.count = 0};
    api_call call = begin_call(service, request, match, parameter, progress);
    api_reply *reply;
    call.found_sets = &found_sets;
    if (!lacks_right(&call, match, &reply) && !is_coded(&call, match, &reply) &&
        !has_arguments(&call, match, &reply)) {
        if (!match->route)
            reply = api_answer_without_route(request->method, request->target);
        else
            reply = may_parse(&call, match) ? match->route->endpoint(&call) : NULL;
        if (match->right == API_RIGHT_STORE ||
            (found_sets.count > 0 && !service->host->stored_for_all))
            api_reply_close(reply);
    }
    api_found_sets_done(&found_sets);
    return reply;
}

static bool is_too_long(const api_service *service, const char *target, api_reply **ret_refusal)
{
    if (strlen(target) <= service->host->target_bytes)
        return false;
    *ret_refusal = api_problem(
        API_TARGET_TOO_LONG,
        "the request target is too long; send long lists in a JSON body, by POST", NULL, NULL);
    return true;
}

/* Answer a request. NULL without memory, or where `progress` is set. */
static api_reply *dispatch_request(const api_service *service, const api_request *request,
                                   api_progress *progress)
{
    const char *target = request->target;
    api_reply *refusal = NULL;
    if (is_too_long(service, target, &refusal))
        return refusal;
    if (target[0] != '/' || !is_printable_ascii(target))
        return api_problem(API_MALFORMED,
                           "the request target must be a path, or http:// with a host and a "
                           "path, of printable ASCII; "
                           "percent-encode other characters",
                           NULL, NULL);
    api_match match = api_match_route(request->method, target);
    return answer_route(service, request, &match, progress);
}

api_reply *api_judge_head(api_service *service, const api_request *request, api_head *ret_head)
{
    char parameter[PARAMETER_ROOM];
    api_progress progress;
    api_document_begin();
    api_match match = api_match_route(request->method, request->target);
    *ret_head =
        (api_head){.route = api_route_index(&match), .body_limit = service->host->body_bytes};
    api_call call = begin_call(service, request, &match, parameter, &progress);
    api_reply *refusal = NULL;
    if (is_too_long(service, request->target, &refusal) ||
        lacks_right(&call, &match, &refusal) || is_coded(&call, &match, &refusal) ||
        has_arguments(&call, &match, &refusal))
        return refusal;
    if (!match.route || !match.route->check_head)
        return NULL;
    ret_head->spooled = (match.route->kind & API_TABLES) != 0;
    ret_head->body_limit =
        ret_head->spooled ? service->host->table_body_bytes : service->host->upload_bytes;
    return match.route->check_head(&call, &refusal) ? close_refusal(&call, refusal) : NULL;
}

/* The reply to a computation that was ended: before the deadline, if the server stops. Takes
 * over the reply. */
static api_reply *excuse_end(const api_service *service, api_reply *reply)
{
    const api_host *host = service->host;
    if (!reply || api_reply_refusal(reply) != API_REFUSAL_COMPUTE_DEADLINE ||
        host->readiness(host->context) != API_DRAINING)
        return reply;
    api_reply_unref(reply);
    return api_problem_of_end();
}

api_progress api_handle(api_service *service, const api_request *request, api_reply **ret_reply)
{
    api_progress progress = API_DONE;
    if (request->ret_price)
        *request->ret_price = 0;
    api_reply *reply = api_shortcut_reply(service, request);
    api_document_begin();
    if (!reply) {
        /* what is quick is small, and each event thread does one thing at a time */
        api_reserve_begin(request->quick ? NULL : service->host->memory);
        reply = excuse_end(service, dispatch_request(service, request, &progress));
        api_reserve_end();
    }
    if (progress == API_DONE)
        *ret_reply = reply ? reply : api_reply_ref(service->out_of_memory);
    return progress;
}

uint64_t api_moment(const api_service *service)
{
    return pe_cache_moment(service->cache);
}

/* ---- what only the transport sees ---- */

static const struct {
    api_code code;
    const char *detail; /* NULL: the answer is the reply that was prepared at the start */
} FAULTS[] = {
    [API_FAULT_PAYLOAD_TOO_LARGE] = {API_PAYLOAD_TOO_LARGE,
                                     "the body is too large; GET /v1/info states the limits"},
    [API_FAULT_UNAVAILABLE] = {API_UNAVAILABLE, NULL},
    [API_FAULT_OVERLOADED] = {API_UNAVAILABLE, "too many computations are waiting; try again"},
    [API_FAULT_MALFORMED] = {API_MALFORMED, "the message is not framed as HTTP/1.1 asks"},
    [API_FAULT_NOT_IMPLEMENTED] =
        {API_NOT_IMPLEMENTED, "the message is framed in a way that this server does not know"},
};

api_reply *api_fault_reply_explained(api_service *service, api_fault fault, const char *detail)
{
    api_document_begin();
    api_reply *reply = detail ? api_problem(FAULTS[fault].code, detail, NULL, NULL) : NULL;
    return reply ? reply : api_reply_ref(service->out_of_memory);
}

api_reply *api_fault_reply(api_service *service, api_fault fault)
{
    return api_fault_reply_explained(service, fault, FAULTS[fault].detail);
}

/* ---- start and end ---- */

api_service *api_service_new(const api_host *host, pe_cache *cache)
{
    api_service *service = calloc(1, sizeof *service);
    if (!service)
        return NULL;
    service->host = host;
    service->cache = cache;
    service->routes = api_route_table(&service->route_count);
    api_document_watch_memory();
    service->out_of_memory = api_problem(
        API_OUT_OF_MEMORY, "the server is out of memory; try again later", NULL, NULL);
    service->fixed = api_fixed_documents_new();
    if (service->out_of_memory && service->fixed)
        return service;
    api_service_free(service);
    return NULL;
}

void api_service_free(api_service *service)
{
    if (!service)
        return;
    api_fixed_documents_free(service->fixed);
    api_reply_unref(service->out_of_memory);
    free(service);
}
