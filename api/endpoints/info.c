/* /v1/info, the /health paths and /metrics: the state of the server. */
#include "bytes/body.h"
#include "call.h"
#include "formats/registry.h"
#include "replies/cacheable.h"
#include "replies/document.h"
#include "replies/reply.h"
#include "json/schema.h"

#include <string.h>

static json_t *describe_limits(const api_host *host)
{
    json_t *limits = json_object();
    for (size_t i = 0; i < host->published_count; i++) {
        const api_limit *limit = &host->published[i];
        json_object_set_new(limits, limit->name,
                            json_pack("{s:I, s:s, s:s}", "value", (json_int_t)limit->value,
                                      "unit", limit->unit, "help", limit->help));
    }
    return limits;
}

static json_t *describe_formats(void)
{
    json_t *formats = json_array();
    for (size_t i = 0; i < api_format_count(); i++) {
        const api_format *format = api_format_get(i);
        json_t *options = json_array();
        for (size_t o = 0; o < format->option_count; o++)
            json_array_append_new(options, api_describe_parameter(&format->options[o]));
        json_array_append_new(formats, json_pack("{s:s, s:s, s:s, s:s, s:o}", "name",
                                                 format->name, "media_type", format->media_type,
                                                 "extension", format->extension, "help",
                                                 format->help, "options", options));
    }
    return formats;
}

static json_t *describe_dtypes(void)
{
    json_t *dtypes = json_array();
    size_t common;
    const pe_parameter *dtype = pe_common_parameters(&common); /* it is the first one */
    for (size_t i = 0; dtype->choices[i]; i++)
        json_array_append_new(dtypes, json_string(dtype->choices[i]));
    return dtypes;
}

/* Who may do what, as api_refuse_access and api_read_set decide it. */
static json_t *describe_access(const api_host *host)
{
    const char *local = host->local ? "loopback" : "closed";
    const char *const tables[] = {
        [API_OPEN] = "open", [API_OPEN_TO_KEYS] = "key", [API_OPEN_LOCALLY] = local};
    return json_pack("{s:s, s:s, s:s}", "store", host->api_key ? "key" : local, "tables",
                     tables[host->tables], "stored", host->stored_for_all ? "all" : "own");
}

static json_t *describe_store(const api_store *store)
{
    uint64_t sets, bytes;
    store->totals(store->context, &sets, &bytes);
    return json_pack("{s:s, s:I, s:I}", "kind", store->kind, "sets", (json_int_t)sets, "bytes",
                     (json_int_t)bytes);
}

static json_t *describe_service(const api_host *host)
{
    static const char *const FORMS[] = {
#define FORM(name, word) [API_FORM_##name] = (word),
        API_FORMS(FORM)
#undef FORM
    };
    return json_pack("{s:s, s:s, s:s, s:I, s:o, s:o, s:o, s:o, s:o, s:s*}", "name", "posenc",
                     "form", FORMS[host->form], "version", PE_VERSION, "schemes",
                     (json_int_t)pe_scheme_count(), "dtypes", describe_dtypes(), "formats",
                     describe_formats(), "store", describe_store(host->store), "access",
                     describe_access(host), "limits", describe_limits(host), "source",
                     host->source_url);
}

api_reply *api_get_info(const api_call *call)
{
    return api_body_cacheable(call, api_document_body(describe_service(call->service->host)),
                              "public, no-cache");
}

/* The reply of a health check: {"status": …}. */
static api_reply *status_reply(const api_call *call, unsigned code, const char *status)
{
    api_reply *reply = api_reply_new(code);
    api_reply_add(reply, "Cache-Control", "no-store");
    if (code == 503)
        api_reply_add(reply, "Retry-After", "1");
    return api_document_reply(reply, json_pack("{s:s}", "status", status), "application/json",
                              call->head);
}

api_reply *api_health_live(const api_call *call)
{
    return status_reply(call, 200, "live");
}

api_reply *api_health_ready(const api_call *call)
{
    const api_host *host = call->service->host;
    const bool ready = host->readiness(host->context) == API_READY;
    return status_reply(call, ready ? 200 : 503, ready ? "ready" : "draining");
}

api_reply *api_get_metrics(const api_call *call)
{
    const api_host *host = call->service->host;
    char *text = host->metrics(host->context);
    api_reply *reply = api_reply_new(200);
    api_reply_add(reply, "Cache-Control", "no-store");
    api_reply_add(reply, "Content-Type", "text/plain; version=0.0.4; charset=utf-8");
    return api_text_reply(call, reply, text ? api_body_from_text(text, strlen(text)) : NULL);
}
