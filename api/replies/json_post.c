/* What every POST of a JSON object must be like. */
#include "replies/json_post.h"

#include "replies/problem.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

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

bool api_is_json_body(const api_call *call, const char *example, api_reply **ret_refusal)
{
    if (is_json(api_call_header(call, API_HEADER_CONTENT_TYPE)))
        return true;
    char detail[320];
    snprintf(detail, sizeof detail,
             "Content-Type must be application/json; with curl: curl --json '%s' …%s", example,
             call->request->target);
    *ret_refusal = api_problem(API_UNSUPPORTED_MEDIA_TYPE, detail, NULL, NULL);
    return false;
}

bool api_is_gguf_body(const api_call *call)
{
    const api_request *request = call->request;
    const char *type = api_call_header(call, API_HEADER_CONTENT_TYPE);
    return type && strcasecmp(type, "application/octet-stream") == 0 &&
           request->body_size >= 4 && memcmp(request->body, "GGUF", 4) == 0;
}

bool api_is_json_post(const api_call *call, const char *example, api_reply **ret_refusal)
{
    if (!api_is_json_body(call, example, ret_refusal))
        return false;
    if (call->query) {
        pe_error error;
        pe_error_init(&error);
        pe_error_add(&error, PE_MALFORMED, "query", "",
                     "left out with POST, whose body holds all parameters");
        *ret_refusal = api_problem_from_error(&error);
        return false;
    }
    return true;
}
