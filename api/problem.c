/* Problem documents. */
#include "problem.h"

#include "document.h"
#include "reply.h"

#include <stdio.h>

static const struct {
    const char *name, *title;
    unsigned status;
} CODES[] = {
    [API_MALFORMED] = {"malformed", "The request is malformed", 400},
    [API_NOT_FOUND] = {"not_found", "There is nothing at this path", 404},
    [API_UNKNOWN_SCHEME] = {"unknown_scheme", "There is no such scheme", 404},
    [API_UNKNOWN_SET] = {"unknown_set", "There is no such stored set", 404},
    [API_UNAUTHORIZED] = {"unauthorized", "The bearer token is missing or wrong", 401},
    [API_FORBIDDEN] = {"forbidden", "The store is not open to this request", 403},
    [API_METHOD_NOT_ALLOWED] = {"method_not_allowed", "The method is not allowed here", 405},
    [API_NOT_ACCEPTABLE] = {"not_acceptable", "No acceptable representation", 406},
    [API_PRECONDITION_FAILED] = {"precondition_failed", "The condition does not hold", 412},
    [API_PAYLOAD_TOO_LARGE] = {"payload_too_large", "The body is too large", 413},
    [API_TARGET_TOO_LONG] = {"target_too_long", "The request target is too long", 414},
    [API_UNSUPPORTED_MEDIA_TYPE] = {"unsupported_media_type", "The body's type is unknown",
                                    415},
    [API_RANGE_NOT_SATISFIABLE] = {"range_not_satisfiable", "There are no such bytes", 416},
    [API_OUT_OF_RANGE] = {"out_of_range", "A value is outside its range", 422},
    [API_TOO_LARGE] = {"too_large", "The result would be too large", 422},
    [API_NOT_IMPLEMENTED] = {"not_implemented", "The request needs what is not known here",
                             501},
    [API_UNAVAILABLE] = {"unavailable", "The service cannot answer now", 503},
    [API_OUT_OF_MEMORY] = {"unavailable", "The service cannot answer now", 503},
    [API_OVERDUE] = {"unavailable", "The service cannot answer now", 503},
    [API_STORE_BROKEN] = {"unavailable", "The service cannot answer now", 503},
    [API_STORE_IS_FULL] = {"store_full", "The store has no room for this", 507},
};

/* The others are mistakes, not refusals. */
static const api_refusal REFUSALS[sizeof CODES / sizeof *CODES] = {
    [API_UNAUTHORIZED] = API_REFUSAL_UNAUTHORIZED,
    [API_FORBIDDEN] = API_REFUSAL_FORBIDDEN,
    [API_PAYLOAD_TOO_LARGE] = API_REFUSAL_BODY_TOO_LARGE,
    [API_TARGET_TOO_LONG] = API_REFUSAL_TARGET_TOO_LONG,
    [API_TOO_LARGE] = API_REFUSAL_RESULT_TOO_LARGE,
    [API_OUT_OF_MEMORY] = API_REFUSAL_OUT_OF_MEMORY,
    [API_OVERDUE] = API_REFUSAL_COMPUTE_DEADLINE,
    [API_STORE_BROKEN] = API_REFUSAL_STORE_FAILED,
    [API_STORE_IS_FULL] = API_REFUSAL_STORE_FULL,
};

static api_code code_of(pe_status status)
{
    switch (status) {
    case PE_OK:
        break;
    case PE_MALFORMED:
        return API_MALFORMED;
    case PE_OUT_OF_RANGE:
        return API_OUT_OF_RANGE;
    case PE_TOO_LARGE:
        return API_TOO_LARGE;
    case PE_CANCELLED:
        return API_OVERDUE;
    case PE_NO_MEMORY:
        return API_OUT_OF_MEMORY;
    }
    return API_UNAVAILABLE;
}

/* A member that is left out where the text is empty. */
static void set_text(json_t *object, const char *name, const char *text)
{
    if (text && *text)
        json_object_set_new(object, name, json_string(text));
}

static json_t *errors_of(const pe_error *error)
{
    json_t *errors = json_array();
    for (size_t i = 0; i < error->count; i++) {
        const pe_problem *problem = &error->problems[i];
        json_t *item = json_object();
        json_object_set_new(item, "parameter", json_string(problem->parameter));
        if (problem->given[0])
            json_object_set_new(item, "given", json_string(problem->given));
        else
            json_object_set_new(item, "given", json_null());
        json_object_set_new(item, "allowed", json_string(problem->allowed));
        set_text(item, "did_you_mean", problem->did_you_mean);
        json_array_append_new(errors, item);
    }
    return errors;
}

api_reply *api_problem(api_code code, const char *detail, const char *did_you_mean,
                       const pe_error *error)
{
    unsigned status = CODES[code].status;
    json_t *document = json_object();
    json_object_set_new(document, "type",
                        json_sprintf("urn:posenc:problem:%s", CODES[code].name));
    json_object_set_new(document, "title", json_string(CODES[code].title));
    json_object_set_new(document, "status", json_integer((json_int_t)status));
    json_object_set_new(document, "code", json_string(CODES[code].name));
    set_text(document, "detail", detail);
    set_text(document, "did_you_mean", did_you_mean);
    if (error) {
        json_object_set_new(document, "errors", errors_of(error));
        if (error->dropped)
            json_object_set_new(document, "errors_dropped",
                                json_integer((json_int_t)error->dropped));
    }
    api_reply *reply = api_reply_new(status);
    api_reply_add(reply, "Cache-Control", "no-store");
    api_reply_set_refusal(reply, REFUSALS[code]);
    if (status == 503)
        api_reply_add(reply, "Retry-After", "1");
    return api_document_reply(reply, document, "application/problem+json", false);
}

api_reply *api_problem_of_if_match(const api_etag *etag)
{
    char detail[128];
    snprintf(detail, sizeof detail, "If-Match does not name %s, the tag of what would come",
             etag->text);
    return api_problem(API_PRECONDITION_FAILED, detail, NULL, NULL);
}

api_reply *api_problem_of_range(uint64_t whole)
{
    char detail[128];
    snprintf(detail, sizeof detail, "Range lies behind the end: the whole is %llu bytes",
             (unsigned long long)whole);
    api_reply *reply = api_problem(API_RANGE_NOT_SATISFIABLE, detail, NULL, NULL);
    api_reply_add(reply, "Content-Range", "bytes */%llu", (unsigned long long)whole);
    return reply;
}

api_reply *api_problem_from_error(const pe_error *error)
{
    char detail[512];
    const pe_problem *first = &error->problems[0];
    const char *suggestion = NULL;
    for (size_t i = 0; i < error->count && !suggestion; i++)
        if (error->problems[i].did_you_mean[0])
            suggestion = error->problems[i].did_you_mean;
    if (error->count == 1 && first->parameter[0])
        snprintf(detail, sizeof detail, "%s: %s%s%s%s", first->parameter, first->allowed,
                 first->given[0] ? " (given: " : "", first->given, first->given[0] ? ")" : "");
    else if (error->count == 1)
        snprintf(detail, sizeof detail, "%s %s",
                 error->status == PE_CANCELLED ? "the computation needs" : "out of",
                 first->allowed);
    else
        snprintf(detail, sizeof detail,
                 "%zu parameters are wrong; errors lists each with what "
                 "is allowed",
                 error->count + error->dropped);
    return api_problem(code_of(error->status), detail, suggestion, error);
}
