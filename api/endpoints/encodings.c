/* /v1/encodings/{scheme}: the tensors themselves; /v1/similarity/{scheme}: how alike its rows
 * are.
 */
#include "../arguments.h"
#include "../document.h"
#include "../encoding.h"
#include "../problem.h"
#include "../service.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

static api_reply *answer(const api_call *call, const pe_scheme *scheme,
                         api_arguments *arguments, pe_error *error, bool post)
{
    api_encoding encoding;
    api_reply *reply;
    if (api_encoding_read(&encoding, call, scheme, arguments, error, &reply)) {
        encoding.post = post;
        reply = api_encoding_reply(&encoding);
    }
    api_encoding_done(&encoding);
    api_arguments_done(arguments);
    return reply;
}

static api_reply *answer_get(const api_call *call, const pe_scheme *scheme)
{
    api_arguments arguments;
    pe_error error;
    if (!scheme)
        return api_unknown_scheme(call->parameter);
    pe_error_init(&error);
    api_arguments_from_query(call->query, &arguments, &error);
    return answer(call, scheme, &arguments, &error, false);
}

/* Whether a Content-Type is JSON, with or without parameters. */
static bool is_json(const char *content_type)
{
    static const char json[] = "application/json";
    if (!content_type || strncasecmp(content_type, json, sizeof json - 1) != 0)
        return false;
    const char *rest = content_type + sizeof json - 1;
    rest += strspn(rest, " \t");
    return *rest == '\0' || *rest == ';';
}

static api_reply *answer_post(const api_call *call, const pe_scheme *scheme)
{
    api_arguments arguments;
    pe_error error;
    if (!scheme)
        return api_unknown_scheme(call->parameter);
    if (!is_json(api_call_header(call, "Content-Type"))) {
        char detail[256];
        const pe_scheme_info *info = pe_scheme_describe(scheme);
        snprintf(detail, sizeof detail,
                 "Content-Type must be application/json; with curl: curl --json "
                 "'{\"%s\": 4}' …%s",
                 info->parameters[0].name, call->request->target);
        return api_problem(API_UNSUPPORTED_MEDIA_TYPE, detail, NULL, NULL);
    }
    pe_error_init(&error);
    if (call->query) {
        pe_error_add(&error, PE_MALFORMED, "query", "",
                     "no query string with POST: the body holds every parameter");
        return api_problem_from_error(&error);
    }
    if (!api_arguments_from_json(call->request->body, call->request->body_size, &arguments,
                                 &error))
        return api_problem_from_error(&error);
    return answer(call, scheme, &arguments, &error, true);
}

api_reply *api_get_encoding(const api_call *call)
{
    return answer_get(call, pe_scheme_find(call->parameter));
}

api_reply *api_post_encoding(const api_call *call)
{
    return answer_post(call, pe_scheme_find(call->parameter));
}

api_reply *api_get_similarity(const api_call *call)
{
    return answer_get(call, pe_similarity_find(call->parameter));
}

api_reply *api_post_similarity(const api_call *call)
{
    return answer_post(call, pe_similarity_find(call->parameter));
}

bool api_has_similarity(const pe_scheme *scheme, const pe_limits *limits)
{
    char query[256];
    api_arguments arguments;
    pe_request *request = NULL;
    pe_error error;
    const pe_scheme_info *info = pe_scheme_describe(scheme);
    snprintf(query, sizeof query, "%s&metric=l2", info->example);
    pe_error_init(&error);
    api_arguments_from_query(query, &arguments, &error);
    if (error.status == PE_OK)
        pe_request_new(pe_similarity_find(info->name), arguments.items, arguments.count, limits,
                       &request, &error);
    if (error.status == PE_NO_MEMORY)
        api_document_spoil();
    bool has = request != NULL;
    pe_request_free(request);
    api_arguments_done(&arguments);
    return has;
}
