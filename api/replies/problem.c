/* Problem documents. */
#include "replies/problem.h"

#include "http/etag.h"
#include "replies/document.h"
#include "replies/reply.h"
#include "replies/wording.h"
#include "json/document.h"

#include <stdio.h>
#include <stdlib.h>

/* What an api_code becomes: an HTTP status, the stable name and title of the problem document,
 * and for refusals of correct requests the reason that metrics count. */
static const struct {
    unsigned status;
    const char *name, *title;
    api_refusal refusal;
} CODES[] = {
    [API_MALFORMED] = {400, "malformed", "The request is malformed", API_REFUSAL_NONE},
    [API_NOT_FOUND] = {404, "not_found", "There is nothing at this path", API_REFUSAL_NONE},
    [API_UNKNOWN_SCHEME] = {404, "unknown_scheme", "There is no such scheme", API_REFUSAL_NONE},
    [API_UNKNOWN_SET] = {404, "unknown_set", "There is no such set", API_REFUSAL_NONE},
    [API_UNAUTHORIZED] = {401, "unauthorized", "The bearer token is missing or wrong",
                          API_REFUSAL_UNAUTHORIZED},
    [API_FORBIDDEN] = {403, "forbidden", "This is not open to the request",
                       API_REFUSAL_FORBIDDEN},
    [API_METHOD_NOT_ALLOWED] = {405, "method_not_allowed", "The method is not allowed here",
                                API_REFUSAL_NONE},
    [API_NOT_ACCEPTABLE] = {406, "not_acceptable", "No acceptable representation",
                            API_REFUSAL_NONE},
    [API_PRECONDITION_FAILED] = {412, "precondition_failed", "The condition does not hold",
                                 API_REFUSAL_NONE},
    [API_PAYLOAD_TOO_LARGE] = {413, "payload_too_large", "The body is too large",
                               API_REFUSAL_BODY_TOO_LARGE},
    [API_TARGET_TOO_LONG] = {414, "target_too_long", "The request target is too long",
                             API_REFUSAL_TARGET_TOO_LONG},
    [API_UNSUPPORTED_MEDIA_TYPE] = {415, "unsupported_media_type",
                                    "The media type of the body is not supported",
                                    API_REFUSAL_NONE},
    [API_RANGE_NOT_SATISFIABLE] = {416, "range_not_satisfiable", "There are no such bytes",
                                   API_REFUSAL_NONE},
    [API_OUT_OF_RANGE] = {422, "out_of_range", "A value is outside its range",
                          API_REFUSAL_NONE},
    [API_TOO_LARGE] = {422, "too_large", "The result would be too large",
                       API_REFUSAL_RESULT_TOO_LARGE},
    [API_NOT_IMPLEMENTED] = {501, "not_implemented",
                             "The request needs something that is not implemented",
                             API_REFUSAL_NONE},
    [API_UNAVAILABLE] = {503, "unavailable", "The service cannot answer now", API_REFUSAL_NONE},
    [API_OUT_OF_MEMORY] = {503, "unavailable", "The service cannot answer now",
                           API_REFUSAL_OUT_OF_MEMORY},
    /* No 5xx: these say that another try, or another node, may help. Proxies and clients repeat
     * them and count them against the node, but the next node would compute as long in vain. */
    [API_OVERDUE] = {422, "deadline_exceeded", "The computation took too long",
                     API_REFUSAL_COMPUTE_DEADLINE},
    [API_ENDING] = {503, "unavailable", "The service cannot answer now",
                    API_REFUSAL_COMPUTE_DEADLINE},
    [API_STORE_BROKEN] = {503, "unavailable", "The service cannot answer now",
                          API_REFUSAL_STORE_FAILED},
    [API_STORE_AWAY] = {503, "store_unavailable", "The sets cannot be reached now",
                        API_REFUSAL_STORE_FAILED},
    [API_STORE_IS_FULL] = {507, "store_full", "The store has no room for this",
                           API_REFUSAL_STORE_FULL},
};

/* The code of a failure of the library. */
static api_code find_code(pe_status status)
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

/* Set a member, unless the text is NULL or empty. */
static void set_text(json_t *object, const char *name, const char *text)
{
    if (text && *text)
        json_object_set_new(object, name, json_string(text));
}

/* The text that a wording function writes, as a JSON string. */
static json_t *write_words(void (*word)(const pe_error *error, const pe_problem *problem,
                                        api_text *text),
                           const pe_error *error, const pe_problem *problem)
{
    api_text text = {0};
    word(error, problem, &text);
    json_t *string = text.failed ? NULL : json_stringn(text.data, text.size);
    if (!string)
        api_document_spoil();
    api_text_done(&text);
    return string;
}

static json_t *list_errors(const pe_error *error)
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
        json_object_set_new(item, "allowed", write_words(api_word_allowed, error, problem));
        json_object_set_new(item, "message", write_words(api_word_message, error, problem));
        set_text(item, "did_you_mean", problem->did_you_mean);
        json_array_append_new(errors, item);
    }
    return errors;
}

/* The document of a code. Takes over the list of errors, and what explains them, which may be
 * NULL; `dropped` more of them are not in it. */
static api_reply *problem_reply(api_code code, const char *detail, const char *did_you_mean,
                                json_t *errors, size_t dropped, json_t *explanation)
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
    if (errors)
        json_object_set_new(document, "errors", errors);
    if (dropped)
        json_object_set_new(document, "errors_dropped", json_integer((json_int_t)dropped));
    if (explanation)
        json_object_set_new(document, "explanation", explanation);
    api_reply *reply = api_reply_new(status);
    api_reply_add(reply, "Cache-Control", "no-store");
    api_reply_add(reply, "Link",
                  "</docs>; rel=\"service-doc\", </openapi.json>; rel=\"service-desc\"");
    api_reply_set_refusal(reply, CODES[code].refusal);
    if (status == 503)
        api_reply_add(reply, "Retry-After", "1");
    return api_document_reply(reply, document, "application/problem+json", false);
}

api_reply *api_problem(api_code code, const char *detail, const char *did_you_mean,
                       const pe_error *error)
{
    return problem_reply(code, detail, did_you_mean, error ? list_errors(error) : NULL,
                         error ? error->dropped : 0, NULL);
}

/* The document of a problem, to be freed by json_decref; NULL if the reply is none or memory
 * ran out. */
static json_t *read_problem(const api_reply *reply)
{
    const api_segment *segments;
    api_body *body = api_reply_body(reply);
    if (!body || api_body_is_stream(body) || api_body_segments(body, &segments) != 1)
        return NULL;
    json_t *document = json_loadb(segments[0].data, segments[0].size, 0, NULL);
    if (json_is_string(json_object_get(document, "detail")))
        return document;
    json_decref(document);
    return NULL;
}

static const char *find_text(const json_t *document, const char *name)
{
    const char *text = json_string_value(json_object_get(document, name));
    return text ? text : "";
}

bool api_reply_explain(const api_reply *reply, char *dst, size_t size)
{
    json_t *document = read_problem(reply);
    if (!document)
        return false;
    const json_t *errors = json_object_get(document, "errors");
    size_t used = (size_t)snprintf(dst, size, "%s: %s", find_text(document, "title"),
                                   find_text(document, "detail"));
    for (size_t i = 0; json_array_size(errors) > 1 && i < json_array_size(errors); i++)
        if (used < size)
            used += (size_t)snprintf(dst + used, size - used, "\n  %s",
                                     find_text(json_array_get(errors, i), "message"));
    const char *sentence = find_text(json_object_get(document, "explanation"), "sentence");
    if (*sentence && used < size)
        snprintf(dst + used, size - used, "\n  %s", sentence);
    json_decref(document);
    return true;
}

unsigned api_status_by_conditions(const api_call *call, const char *tag,
                                  api_reply **ret_problem)
{
    char detail[128];
    const api_conditions conditions = api_judge_conditions(call, tag);
    if (conditions != API_IF_MATCH_FAILS)
        return conditions == API_IF_NONE_MATCH_FAILS ? 304 : 200;
    snprintf(detail, sizeof detail, "If-Match must name the current entity tag, %s", tag);
    *ret_problem = api_problem(API_PRECONDITION_FAILED, detail, NULL, NULL);
    return 412;
}

api_reply *api_problem_of_range(uint64_t whole)
{
    char detail[128];
    snprintf(detail, sizeof detail, "Range must begin within the %llu bytes that there are",
             (unsigned long long)whole);
    api_reply *reply = api_problem(API_RANGE_NOT_SATISFIABLE, detail, NULL, NULL);
    api_reply_add(reply, "Content-Range", "bytes */%llu", (unsigned long long)whole);
    return reply;
}

api_reply *api_problem_of_end(void)
{
    return api_problem(API_ENDING, "the server stops, and has ended the computation; try again",
                       NULL, NULL);
}

api_reply *api_problem_of_store(api_store_status status)
{
    if (status == API_STORE_UNAVAILABLE)
        return api_problem(API_STORE_AWAY,
                           "the database of the sets cannot be reached; try again "
                           "later, and ask then whether a change was made",
                           NULL, NULL);
    return api_problem(API_STORE_BROKEN, "the store cannot be read or written; try again later",
                       NULL, NULL);
}

api_reply *api_problem_explained(const pe_error *error, json_t *explanation)
{
    api_text text = {0};
    const char *suggestion = NULL;
    for (size_t i = 0; i < error->count && !suggestion; i++)
        if (error->problems[i].did_you_mean[0])
            suggestion = error->problems[i].did_you_mean;
    api_word_detail(error, &text);
    char *detail = api_text_take(&text);
    if (!detail) {
        json_decref(explanation);
        return NULL;
    }
    api_reply *reply = problem_reply(find_code(error->status), detail, suggestion,
                                     list_errors(error), error->dropped, explanation);
    free(detail);
    return reply;
}

api_reply *api_problem_from_error(const pe_error *error)
{
    return api_problem_explained(error, NULL);
}

#define NAMES_MAX 256

/* The names of all schemes. Returns their number. */
static size_t list_schemes(const char *names[NAMES_MAX])
{
    size_t count = 0;
    for (; count < pe_scheme_count() && count < NAMES_MAX; count++)
        names[count] = pe_scheme_describe(pe_scheme_at(count))->name;
    return count;
}

void api_error_add_scheme(pe_error *error, const char *name)
{
    const char *names[NAMES_MAX];
    size_t count = list_schemes(names);
    pe_problem *problem = pe_error_add(error, PE_OUT_OF_RANGE, "scheme", name,
                                       "one of those that GET /v1/schemes lists");
    pe_problem_suggest(problem, pe_find_nearest_name(name, names, count));
}

api_reply *api_problem_of_scheme(const char *name)
{
    const char *names[NAMES_MAX];
    const char *nearest = pe_find_nearest_name(name, names, list_schemes(names));
    char detail[256];
    snprintf(detail, sizeof detail,
             "there is no scheme \"%s\"; %s%s%sGET /v1/schemes lists them", name,
             nearest ? "did you mean \"" : "", nearest ? nearest : "", nearest ? "\"? " : "");
    return api_problem(API_UNKNOWN_SCHEME, detail, nearest, NULL);
}

#define JOINT_ERRORS_MAX  64 /* listed */
#define JOINT_DETAILS_MAX 3  /* requests that `detail` speaks of */

void api_joint_problem_add(api_joint_problem *joint, int index, const char *name,
                           const pe_error *error)
{
    if (joint->requests == 0) {
        pe_error_init(&joint->worst);
        joint->errors = json_array();
    }
    const size_t room = JOINT_ERRORS_MAX - json_array_size(joint->errors);
    const size_t kept = error->count < room ? error->count : room;
    pe_error counted = {.status = error->status,
                        .dropped = error->dropped + error->count - kept};
    json_t *errors = kept > 0 ? list_errors(error) : NULL; /* each names all that is allowed */
    for (size_t i = 0; i < kept; i++) {
        json_t *item = json_array_get(errors, i);
        if (index >= 0)
            json_object_set_new(item, "request", json_integer(index));
        if (name)
            json_object_set_new(item, "name", json_string(name));
        json_array_append(joint->errors, item);
    }
    json_decref(errors);
    pe_error_append(&joint->worst, &counted);
    if (joint->requests++ >= JOINT_DETAILS_MAX)
        return;
    api_text_add(&joint->detail, "%s", joint->requests > 1 ? "; " : "");
    if (index >= 0)
        api_text_add(&joint->detail, "requests[%d]%s%s%s: ", index, name ? " (" : "",
                     name ? name : "", name ? ")" : "");
    api_word_detail(error, &joint->detail);
}

api_reply *api_joint_problem_reply(const api_joint_problem *joint)
{
    char more[64] = "";
    if (joint->requests > JOINT_DETAILS_MAX)
        snprintf(more, sizeof more, "; and %zu requests more",
                 joint->requests - JOINT_DETAILS_MAX);
    api_text detail = {0};
    api_text_put(&detail, joint->detail.data, joint->detail.size);
    api_text_add(&detail, "%s", more);
    char *text = joint->detail.failed ? NULL : api_text_take(&detail);
    api_text_done(&detail);
    if (!text)
        return NULL;
    api_reply *reply = problem_reply(find_code(joint->worst.status), text, NULL,
                                     json_incref(joint->errors), joint->worst.dropped, NULL);
    free(text);
    return reply;
}

void api_joint_problem_done(api_joint_problem *joint)
{
    json_decref(joint->errors);
    api_text_done(&joint->detail);
}
