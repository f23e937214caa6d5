/* /v1/encodings/{scheme}: the tensors of a scheme. /v1/similarity/{scheme}: how similar their
 * rows are. */
#include "call.h"
#include "http/arguments.h"
#include "replies/json_post.h"
#include "replies/problem.h"
#include "representations/representation.h"

#include <stdio.h>

/* Answer a request whose arguments have been read; `error` has what is wrong with them so far.
 */
static api_reply *answer_with_tensors(const api_call *call, const pe_scheme *scheme,
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
    return answer_with_tensors(call, scheme, &arguments, &error, false);
}

static api_reply *answer_post(const api_call *call, const pe_scheme *scheme)
{
    api_arguments arguments;
    pe_error error;
    if (!scheme)
        return api_problem_of_scheme(call->parameter);
    char body[96];
    api_reply *refusal;
    snprintf(body, sizeof body, "{\"%s\": 4}", pe_scheme_describe(scheme)->parameters[0].name);
    if (!api_is_json_post(call, body, &refusal))
        return refusal;
    pe_error_init(&error);
    if (!api_arguments_from_json(call->request->body, call->request->body_size, &arguments,
                                 &error))
        return api_problem_from_error(&error);
    return answer_with_tensors(call, scheme, &arguments, &error, true);
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
