/* The pages: the visualiser at `/`, the API reference at `/docs`, and what they load. The host
 * provides each file in one or both content codings with its entity tag, so that nothing is
 * computed here. */
#include "bytes/body.h"
#include "call.h"
#include "http/arguments.h"
#include "http/coding.h"
#include "http/etag.h"
#include "replies/problem.h"
#include "replies/reply.h"

#include <string.h>

/* The pages load everything from this origin, and have no inline script or style. They show and
 * draw pictures that they have made or fetched themselves (blob:). */
#define POLICY                                                                                 \
    "default-src 'self'; img-src 'self' blob:; base-uri 'none'; form-action 'none'; "          \
    "object-src 'none'"

/* What a query says about frames: whether it has the pair embed=1. */
static bool is_embedded(const char *query)
{
    static const char embedded[] = "embed=1";
    for (api_query_pair pair; api_query_next(&query, &pair);)
        if (pair.size == strlen(embedded) && memcmp(pair.text, embedded, pair.size) == 0)
            return true;
    return false;
}

/* How a file may be shown in frames. */
typedef enum framing {
    FRAMED_BY_ALL,     /* by pages of every origin */
    FRAMED_BY_ALLOWED, /* by those that the host allows, and by its own */
    FRAMED_BY_OWN,
} framing;

/* Pages of others may show the visualiser in a frame as ?embed=1: then it has nothing that
 * changes anything, and no more than CORS gives them anyway. All of it they may show where the
 * operator says so. */
static framing choose_framing(const api_call *call, const api_asset *asset)
{
    if (strcmp(asset->path, "/") != 0)
        return FRAMED_BY_OWN;
    if (is_embedded(call->query))
        return FRAMED_BY_ALL;
    return call->service->host->frame_ancestors ? FRAMED_BY_ALLOWED : FRAMED_BY_OWN;
}

static void add_policy(api_reply *reply, const api_call *call, framing how)
{
    static const char name[] = "Content-Security-Policy";
    if (how == FRAMED_BY_OWN)
        api_reply_add(reply, name, POLICY "; frame-ancestors 'self'");
    else if (how == FRAMED_BY_ALLOWED)
        api_reply_add(reply, name, POLICY "; frame-ancestors 'self' %s",
                      call->service->host->frame_ancestors);
    else
        api_reply_add(reply, name, POLICY);
}

static const api_asset *find_asset(const api_call *call)
{
    const api_host *host = call->service->host;
    const char *path = call->request->target;
    size_t length = strcspn(path, "?");
    for (size_t i = 0; i < host->asset_count; i++)
        if (strlen(host->assets[i].path) == length &&
            memcmp(host->assets[i].path, path, length) == 0)
            return &host->assets[i];
    return NULL;
}

/* Choose the content coding of a file; NULL if none is acceptable. A large file comes as gzip
 * alone, also to clients that say nothing about codings (RFC 9110, section 12.5.3). */
static const api_asset_form *choose_form(const api_call *call, const api_asset *asset,
                                         api_coding *ret_coding)
{
    const char *accepted = api_call_header(call, API_HEADER_ACCEPT_ENCODING);
    api_codings codings = api_accept_codings(accepted);
    if (!asset->plain.data) {
        *ret_coding = API_GZIP;
        return !accepted || codings.gzip_admitted ? &asset->gzip : NULL;
    }
    if (!api_choose_coding(codings, asset->gzip.data != NULL, ret_coding))
        return NULL;
    return *ret_coding == API_GZIP ? &asset->gzip : &asset->plain;
}

/* What is served of a file. */
typedef struct served {
    const api_asset *asset;
    api_coding coding;
    framing framing;
    const char *etag;
} served;

/* A new reply with the fields of a file. NULL without memory. */
static api_reply *new_reply(const api_call *call, const served *file, unsigned status)
{
    bool page = strncmp(file->asset->path, "/assets/", strlen("/assets/")) != 0;
    api_reply *reply = api_reply_new(status);
    api_reply_add(reply, "ETag", "%s", file->etag);
    api_reply_add(reply, "Cache-Control", "%s",
                  page ? "no-cache" : "public, max-age=31536000, immutable");
    api_reply_add(reply, "Vary", "Accept-Encoding");
    add_policy(reply, call, file->framing);
    api_reply_add(reply, "Referrer-Policy", "no-referrer");
    if (file->coding == API_GZIP)
        api_reply_add(reply, "Content-Encoding", "gzip");
    if (status == 200)
        api_reply_add(reply, "Content-Type", "%s", file->asset->media_type);
    return reply;
}

/* Answer with a body, whose reference is taken over, unless the request's conditions decide. */
static api_reply *answer_asset(const api_call *call, const served *file, api_body *body)
{
    api_reply *problem;
    const unsigned status = api_status_by_conditions(call, file->etag, &problem);
    if (status != 412)
        return api_reply_with_body(new_reply(call, file, status), body,
                                   call->head || status == 304);
    api_body_unref(body);
    return problem;
}

api_reply *api_get_asset(const api_call *call)
{
    api_coding coding;
    const api_asset *asset = find_asset(call);
    if (!asset)
        return api_problem(
            API_NOT_FOUND,
            call->service->host->asset_count > 0
                ? "no file is served at this path; GET / and GET /docs serve the pages"
                : "only posenc-server serves pages",
            NULL, NULL);
    const api_asset_form *form = choose_form(call, asset, &coding);
    if (!form)
        return api_problem(API_NOT_ACCEPTABLE,
                           asset->plain.data ? "Accept-Encoding must admit identity or gzip"
                                             : "Accept-Encoding must admit gzip",
                           NULL, NULL);
    served file = {asset, coding, choose_framing(call, asset), form->etag};
    return answer_asset(
        call, &file,
        api_body_from_table(NULL, NULL, &(api_segment){form->data, form->size}, 1));
}
