/* /v1/encodings/{scheme}: the tensors of a scheme. /v1/similarity/{scheme}: how similar their
 * rows are. */
#include "http/arguments.h"
#include "replies/problem.h"
#include "representations/representation.h"
#include "service.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

/* Answer a request whose arguments have been read; `error` has what is wrong with them so far.
 */
static api_reply *answer(const api_call *call, const pe_scheme *scheme,
                         api_arguments *arguments, pe_error *error, bool post)
{
    api_representation representation;
    api_reply *reply;
    if (api_representation_select(&representation, call, scheme, arguments, error, &reply)) {
        representation.post = post;
        reply = api_representation_reply(&representation);
    }
    api_representation_done(&representation);
    api_arguments_done(arguments);
    return reply;
}

static api_reply *answer_get(const api_call *call, const pe_scheme *scheme)
{
    api_arguments arguments;
    pe_error error;
    if (!scheme)
        return api_problem_of_scheme(call->parameter);
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
        return api_problem_of_scheme(call->parameter);
    if (!is_json(api_call_header(call, API_HEADER_CONTENT_TYPE))) {
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
                     "left out with POST, whose body holds all parameters");
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
