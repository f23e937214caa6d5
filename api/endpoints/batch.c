/* /v1/batch: the tensors of many requests in one reply. */
#include "representations/batch.h"
#include "files/set_header.h"
#include "http/arguments.h"
#include "replies/json_post.h"
#include "replies/problem.h"

#include <stdio.h>
#include <string.h>

static const char *const FORMATS[] = {
    [API_BATCH_SAFETENSORS] = "safetensors", [API_BATCH_JSON] = "json"};
#define FORMAT_COUNT (sizeof FORMATS / sizeof *FORMATS)

/* Read the format that the batch names, or choose one by Accept; safetensors unless JSON is
 * preferred. False if Accept admits neither. */
static bool read_format(const api_call *call, const json_t *given, api_batch_format *ret_format,
                        pe_error *reterr)
{
    *ret_format = API_BATCH_SAFETENSORS;
    if (given && !json_is_null(given)) {
        const char *name = json_string_value(given);
        for (size_t i = 0; name && i < FORMAT_COUNT; i++)
            if (strcmp(name, FORMATS[i]) == 0) {
                *ret_format = (api_batch_format)i;
                return true;
            }
        pe_error_add_choice(reterr, "format", name ? name : "", FORMATS, FORMAT_COUNT);
        return true;
    }
    return api_batch_accept(call, ret_format);
}

/* Refuse members that a batch does not have. */
static void check_members(const json_t *object, pe_error *reterr)
{
    static const char *const MEMBERS[] = {"requests", "format"};
    const size_t count = sizeof MEMBERS / sizeof *MEMBERS;
    const char *name;
    json_t *value;
    json_object_foreach((json_t *)(uintptr_t)object, name, value)
    {
        size_t i = 0;
        while (i < count && strcmp(name, MEMBERS[i]) != 0)
            i++;
        if (i < count)
            continue;
        pe_problem *problem = pe_error_add(
            reterr, PE_MALFORMED, name, "",
            "left out: a batch has requests and format, a request everything else");
        pe_problem_suggest(problem, pe_find_nearest_name(name, MEMBERS, count));
    }
}

/* The list of requests; NULL if there is none, or if it has too many items. */
static const json_t *read_list(const json_t *object, pe_error *reterr)
{
    const json_t *list = json_object_get(object, "requests");
    char given[24];
    size_t count = json_array_size(list);
    if (json_is_array(list) && count > 0 && count <= API_BATCH_MAX)
        return list;
    snprintf(given, sizeof given, "%zu requests", count);
    pe_error_add(reterr, count > 0 ? PE_TOO_LARGE : PE_MALFORMED, "requests",
                 json_is_array(list) ? given : "",
                 "an array of 1 to %d objects: {\"name\": …, \"scheme\": …, and the parameters "
                 "of the scheme}",
                 API_BATCH_MAX);
    return NULL;
}

static bool is_name(const char *name)
{
    static const char LETTERS[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-";
    size_t length = strlen(name);
    return length > 0 && length < API_BATCH_NAME_BYTES && strspn(name, LETTERS) == length &&
           strcmp(name, API_SET_METADATA) != 0; /* which is no tensor in a safetensors file */
}

/* What a request has besides the parameters of its scheme. */
enum { NAME, SCHEME, NAME_COUNT };
static const pe_parameter NAMES[NAME_COUNT] = {
    [NAME] = {.name = "name",
              .type = PE_TEXT,
              .help = "what the tensors are called in the reply"},
    [SCHEME] = {.name = "scheme", .type = PE_TEXT, .help = "the scheme of the tensors"},
};

/* Check name and scheme of a request; the scheme is NULL if there is no such one. False: the
 * name is missing or wrong. */
static bool check_names(const pe_options *names, const pe_scheme **ret_scheme, pe_error *reterr)
{
    const char *name = pe_options_value(names, NAME)->text;
    const char *scheme = pe_options_value(names, SCHEME)->text;
    *ret_scheme = scheme ? pe_scheme_find(scheme) : NULL;
    bool named = name && is_name(name);
    if (!named)
        pe_error_add(reterr, PE_MALFORMED, "name", name ? name : "",
                     "given: 1 to %d of the characters A-Z, a-z, 0-9, _, . and -, but "
                     "not " API_SET_METADATA,
                     API_BATCH_NAME_BYTES - 1);
    if (!scheme)
        pe_error_add(reterr, PE_MALFORMED, "scheme", "",
                     "given; GET /v1/schemes lists the schemes");
    else if (!*ret_scheme)
        api_error_add_scheme(reterr, scheme);
    return named;
}

/* Read one request of the list. False: ret_reply is the answer to the whole. */
static bool add_request(api_batch *batch, int index, const json_t *item, api_reply **ret_reply)
{
    api_arguments arguments = {0};
    pe_options *names = NULL;
    const pe_scheme *scheme = NULL;
    bool named = false, read = true;
    pe_error error;
    pe_error_init(&error);
    if (json_is_object(item)) {
        api_arguments_from_object(item, &arguments, &error);
        names = api_options_take(NAMES, NAME_COUNT, &arguments, &error);
        named = check_names(names, &scheme, &error);
    } else {
        pe_error_add(&error, PE_MALFORMED, "request", "", "an object");
    }
    const char *name = named ? pe_options_value(names, NAME)->text : NULL;
    if (named && scheme)
        read = api_batch_add(batch, index, name, scheme, &arguments, &error, NULL, ret_reply);
    else
        api_joint_problem_add(&batch->problem, index, name, &error);
    api_arguments_done(&arguments);
    pe_options_free(names);
    return read;
}

/* Answer a body that is a JSON object. */
static api_reply *answer_batch(const api_call *call, const json_t *object)
{
    api_batch batch;
    api_batch_format format;
    pe_error error;
    api_reply *reply = NULL;
    pe_error_init(&error);
    if (!read_format(call, json_object_get(object, "format"), &format, &error))
        return api_problem(API_NOT_ACCEPTABLE,
                           "a batch is application/vnd.safetensors or application/json", NULL,
                           NULL);
    check_members(object, &error);
    const json_t *list = read_list(object, &error);
    bool begun = api_batch_begin(&batch, call), read = begun;
    if (begun && error.count > 0)
        api_joint_problem_add(&batch.problem, -1, NULL, &error);
    for (size_t i = 0; read && i < json_array_size(list); i++)
        read = add_request(&batch, (int)i, json_array_get(list, i), &reply);
    if (read)
        reply = api_batch_reply(&batch, format);
    api_batch_done(&batch);
    return reply;
}

api_reply *api_post_batch(const api_call *call)
{
    api_reply *refusal;
    pe_error error;
    if (!api_is_json_post(call,
                          "{\"requests\": [{\"name\": \"pe\", \"scheme\": \"sinusoidal\", "
                          "\"length\": 4, \"dim\": 8}]}",
                          &refusal))
        return refusal;
    pe_error_init(&error);
    json_t *object =
        api_object_from_json(call->request->body, call->request->body_size, &error);
    api_reply *reply = object ? answer_batch(call, object) : api_problem_from_error(&error);
    json_decref(object);
    return reply;
}
