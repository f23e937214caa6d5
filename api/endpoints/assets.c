/* The pages: the visualiser at `/`, the API reference at `/docs`, and what they load. The host
 * provides each file in one or both content codings with its entity tag, so that nothing is
 * computed here. */
#include "bytes/body.h"
#include "call.h"
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

/* Pages of others may show the visualiser in a frame as ?embed=1 alone: then it has nothing
 * that changes anything, and no more than CORS gives them anyway. */
static const char *choose_policy(const api_call *call, const api_asset *asset)
{
    static const char embedded[] = "embed=1";
    const char *pair = strcmp(asset->path, "/") == 0 ? call->query : NULL;
    while (pair) {
        size_t length = strcspn(pair, "&");
        if (length == strlen(embedded) && memcmp(pair, embedded, length) == 0)
            return POLICY;
        pair = pair[length] ? pair + length + 1 : NULL;
    }
    return POLICY "; frame-ancestors 'self'";
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

/* A new reply with the fields of a file. NULL without memory. */
static api_reply *new_reply(const api_call *call, const api_asset *asset,
                            const api_asset_form *form, api_coding coding, unsigned status)
{
    bool page = strncmp(asset->path, "/assets/", strlen("/assets/")) != 0;
    api_reply *reply = api_reply_new(status);
    api_reply_add(reply, "ETag", "%s", form->etag);
    api_reply_add(reply, "Cache-Control", "%s",
                  page ? "no-cache" : "public, max-age=31536000, immutable");
    api_reply_add(reply, "Vary", "Accept-Encoding");
    api_reply_add(reply, "Content-Security-Policy", "%s", choose_policy(call, asset));
    api_reply_add(reply, "Referrer-Policy", "no-referrer");
    if (coding == API_GZIP)
        api_reply_add(reply, "Content-Encoding", "gzip");
    if (status == 200)
        api_reply_add(reply, "Content-Type", "%s", asset->media_type);
    return reply;
}

api_reply *api_get_asset(const api_call *call)
{
    api_coding coding;
    const api_asset *asset = find_asset(call);
    if (!asset)
        return api_problem(
            API_NOT_FOUND,
            "no file is served at this path; GET / and GET /docs serve the pages", NULL, NULL);
    const api_asset_form *form = choose_form(call, asset, &coding);
    if (!form)
        return api_problem(API_NOT_ACCEPTABLE,
                           asset->plain.data ? "Accept-Encoding must admit identity or gzip"
                                             : "Accept-Encoding must admit gzip",
                           NULL, NULL);
    const api_conditions conditions = api_judge_conditions(call, form->etag);
    if (conditions == API_IF_MATCH_FAILS)
        return api_problem_of_if_match(form->etag);
    bool matches = conditions == API_IF_NONE_MATCH_FAILS;
    api_body *body = api_body_from_table(NULL, NULL, &(api_segment){form->data, form->size}, 1);
    return api_reply_with_body(new_reply(call, asset, form, coding, matches ? 304 : 200), body,
                               call->head || matches);
}
