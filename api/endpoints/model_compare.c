/* /v1/models/compare: whether two descriptions of one model agree. */
#include "call.h"

#include "bytes/base64.h"
#include "bytes/body.h"
#include "bytes/memory_budget.h"
#include "http/arguments.h"
#include "models/config_text.h"
#include "models/difference.h"
#include "models/gguf.h"
#include "models/known_models.h"
#include "replies/cacheable.h"
#include "replies/document.h"
#include "replies/json_post.h"
#include "replies/problem.h"
#include "replies/reply.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const SIDES[] = {"first", "second"};

/* One comparison on its way. */
typedef struct comparing {
    const api_call *call;
    api_model_options options; /* of both */
    pe_options *own;
    json_t *configs[2];
    api_model_plan *plans[2];
} comparing;

/* ---- the two configs ---- */

/* The head of a GGUF file in base64, read; NULL with a problem. */
static json_t *read_base64(const char *text, size_t size, pe_error *error)
{
    size_t bytes = 0;
    bool wrong;
    json_t *read = NULL;
    char *decoded = api_base64_decode(text, size, &bytes, &wrong);
    if (!decoded && !wrong)
        pe_error_add(error, PE_NO_MEMORY, "", "", "memory for the body");
    else if (wrong || !api_gguf_begins(decoded, bytes))
        pe_error_add(error, PE_MALFORMED, "gguf", "", "the beginning of a GGUF file in base64");
    else
        read = api_gguf_read(decoded, bytes, error);
    free(decoded);
    return read;
}

/* The config that one member of the body means, as a new reference; NULL with a problem. */
static json_t *read_side(const json_t *side, pe_error *error)
{
    const json_t *gguf = json_object_get(side, "gguf");
    if (json_is_string(gguf))
        return read_base64(json_string_value(gguf), json_string_length(gguf), error);
    if (json_is_object(side))
        return json_incref((json_t *)side);
    const char *name = json_string_value(side);
    const api_known_model *model = name ? api_known_model_find(name) : NULL;
    if (model)
        return api_config_read(model->config, strlen(model->config), error);
    pe_problem *problem = pe_error_add(
        error, PE_OUT_OF_RANGE, "", name ? name : "",
        "a config.json, metadata of a GGUF file, {\"gguf\": the beginning of one in "
        "base64}, or the name of a model that GET /v1/models lists");
    if (name)
        pe_problem_suggest(problem, api_known_model_suggest(name));
    return NULL;
}

/* Say of which config the problems are: "second.head_dim". */
static void name_side(pe_error *error, size_t side)
{
    for (size_t i = 0; i < error->count && i < PE_PROBLEM_LIMIT; i++) {
        pe_problem *problem = &error->problems[i];
        char path[sizeof problem->parameter];
        bool whole = !problem->parameter[0] || strcmp(problem->parameter, "body") == 0;
        int written = snprintf(path, sizeof path, "%s%s%s", SIDES[side], whole ? "" : ".",
                               whole ? "" : problem->parameter);
        if (written > 0 && (size_t)written < sizeof path)
            memcpy(problem->parameter, path, (size_t)written + 1);
    }
}

static void read_sides(comparing *self, json_t *body, pe_error *error)
{
    for (size_t i = 0; i < 2 && error->count == 0; i++) {
        self->configs[i] = read_side(json_object_get(body, SIDES[i]), error);
        if (error->count > 0)
            name_side(error, i);
    }
}

static bool plan_sides(comparing *self, pe_error *error)
{
    const pe_limits *limits = &self->call->service->host->limits;
    for (size_t i = 0; i < 2 && error->count == 0; i++)
        if (api_model_plan_new(self->configs[i], &self->options, limits, &self->plans[i],
                               error) != PE_OK)
            name_side(error, i);
    if (error->count == 0)
        api_model_refuse_unused((const api_model_plan *const *)self->plans, 2, error);
    return error->count == 0;
}

/* ---- the answer ---- */

static api_reply *answer_difference(const comparing *self, pe_error *error)
{
    bool equal = false;
    uint64_t bytes;
    const double price = api_model_difference_price(self->plans[0], self->plans[1], &bytes);
    if (!api_may_begin(self->call, price))
        return NULL;
    if (!api_reserve(bytes, "the tables", error))
        return api_problem_from_error(error);
    json_t *document = api_model_difference(self->plans[0], self->plans[1],
                                            self->call->service->host->runner, &equal, error);
    api_body *body = api_document_readable_body(document);
    if (error->count > 0) {
        api_body_unref(body);
        return api_problem_from_error(error);
    }
    api_reply *reply = api_reply_new(
        pe_options_value(self->own, API_MODEL_COMPARE_STRICT)->integer && !equal ? 409 : 200);
    api_reply_add(reply, "Content-Type", "application/json");
    api_reply_add(reply, "Cache-Control", "no-store");
    return api_text_reply(self->call, reply, body);
}

/* Answer the two configs, which it takes over. */
static api_reply *answer_sides(comparing *self, pe_error *error)
{
    api_reply *reply = error->count == 0 && plan_sides(self, error)
                           ? answer_difference(self, error)
                           : api_problem_from_error(error);
    for (size_t i = 0; i < 2; i++) {
        if (self->plans[i])
            api_model_plan_free(self->plans[i]);
        json_decref(self->configs[i]);
    }
    return reply;
}

/* The body as an object of both configs; NULL with a problem. */
static json_t *read_body(const comparing *self, pe_error *error)
{
    const api_request *request = self->call->request;
    if (!api_gguf_begins(request->body, request->body_size))
        return api_config_read(request->body, request->body_size, error);
    json_t *gguf = api_gguf_read(request->body, request->body_size, error);
    const char *against = pe_options_text(self->own, API_MODEL_COMPARE_AGAINST);
    if (gguf && !against)
        pe_error_add(error, PE_OUT_OF_RANGE, "against", "",
                     "the name of a model that GET /v1/models lists, for a body that is a GGUF "
                     "file")
            ->reason = PE_REASON_MISSING;
    return gguf ? json_pack("{s:o, s:s*}", SIDES[0], gguf, SIDES[1], against) : NULL;
}

static api_reply *answer_body(comparing *self, pe_error *error)
{
    json_t *body = read_body(self, error);
    const char *key;
    json_t *value;
    json_object_foreach(body, key, value)
    {
        if (strcmp(key, SIDES[0]) == 0 || strcmp(key, SIDES[1]) == 0)
            continue;
        pe_error_add(error, PE_OUT_OF_RANGE, api_is_utf8(key, strlen(key)) ? key : "?", "",
                     "left out: the body has first and second, each with a config");
    }
    if (error->count == 0)
        read_sides(self, body, error);
    json_decref(body);
    return answer_sides(self, error);
}

api_reply *api_post_model_comparison(const api_call *call)
{
    comparing self = {.call = call};
    api_arguments arguments;
    api_reply *refusal;
    pe_error error;
    if (!api_is_gguf_body(call) &&
        !api_is_json_body(call, "{\"first\": …, \"second\": …}", &refusal))
        return refusal;
    pe_error_init(&error);
    api_arguments_from_query(call->query, &arguments, &error);
    self.own = pe_options_take(api_model_compare_options, API_MODEL_COMPARE_OPTIONS,
                               arguments.items, &arguments.count, &error);
    api_model_options_read(&arguments, &self.options, &error);
    api_reply *reply =
        error.count > 0 ? api_problem_from_error(&error) : answer_body(&self, &error);
    api_model_options_done(&self.options);
    pe_options_free(self.own);
    api_arguments_done(&arguments);
    return reply;
}
