/* /v1/models: the plan of the position tensors of a model, from its config.json or its name. */
#include "http/arguments.h"
#include "models/config_text.h"
#include "models/known.h"
#include "models/plan.h"
#include "replies/cacheable.h"
#include "replies/json_post.h"
#include "replies/kept.h"
#include "replies/problem.h"
#include "replies/reply.h"
#include "service.h"
#include "json/document.h"
#include "json/schema.h"

#include <stdio.h>
#include <string.h>

/* A config of more bytes is read by a worker. */
#define QUICK_BYTES ((size_t)16 << 10)

static json_t *build_list(const api_call *call)
{
    (void)call;
    json_t *types = json_array(), *models = json_array(), *parameters = json_array();
    size_t rows;
    const pe_parameter *options = api_model_option_rows(&rows);
    for (size_t i = 0; i < api_model_type_count(); i++) {
        api_model_type_name type = api_model_type_at(i);
        json_array_append_new(types, json_pack("{s:s, s:s}", "model_type", type.model_type,
                                               "title", type.family));
    }
    for (size_t i = 0; i < api_known_model_count(); i++) {
        const api_known_model *model = api_known_model_at(i);
        json_array_append_new(models, json_pack("{s:s, s:s, s:o}", "name", model->name,
                                                "source", model->source, "config",
                                                json_loads(model->config, 0, NULL)));
    }
    for (size_t i = 0; i < rows; i++)
        json_array_append_new(parameters, api_describe_parameter(&options[i]));
    return json_pack("{s:o, s:o, s:o}", "models", models, "model_types", types, "parameters",
                     parameters);
}

api_reply *api_list_models(const api_call *call)
{
    return api_kept_reply(call, API_KEPT_MODELS, build_list);
}

/* The plan of a config as a text to send; NULL with a problem, or without memory. */
static api_body *plan_text(const api_call *call, const char *config_text, size_t size,
                           const api_model_options *options, pe_error *reterr)
{
    api_model_plan *plan;
    api_body *body = NULL;
    json_t *config = api_config_read(config_text, size, reterr);
    if (!config)
        return NULL;
    if (api_model_plan_new(config, options, &call->service->host->limits, &plan, reterr) ==
        PE_OK) {
        char *text = api_document_readable(api_model_plan_describe(plan));
        body = text ? api_body_from_text(text, strlen(text)) : NULL;
        api_model_plan_free(plan);
    }
    json_decref(config);
    return body;
}

/* Read the query and plan a config. Returns the text, or NULL with the refusal, which is NULL
 * without memory. */
static api_body *answer_config(const api_call *call, const char *config, size_t size,
                               api_reply **ret_refusal)
{
    api_arguments arguments;
    api_model_options options;
    pe_error error;
    api_body *body = NULL;
    pe_error_init(&error);
    *ret_refusal = NULL;
    api_arguments_from_query(call->query, &arguments, &error);
    api_model_options_read(&arguments, &options, &error);
    if (error.count == 0)
        body = plan_text(call, config, size, &options, &error);
    if (error.count > 0)
        *ret_refusal = api_problem_from_error(&error);
    api_arguments_done(&arguments);
    return body;
}

api_reply *api_post_model(const api_call *call)
{
    const api_request *request = call->request;
    api_reply *refusal;
    if (!api_is_json_body(call, "@config.json", &refusal))
        return refusal;
    if (request->body_size > API_CONFIG_BYTES)
        return api_problem(API_PAYLOAD_TOO_LARGE, "a config.json has at most 1 MiB", NULL,
                           NULL);
    if (request->quick && request->body_size > QUICK_BYTES)
        return api_not_yet(call, API_LATER);
    api_body *body = answer_config(call, request->body, request->body_size, &refusal);
    if (!body)
        return refusal;
    api_reply *reply = api_reply_new(200);
    api_reply_add(reply, "Content-Type", "application/json");
    api_reply_add(reply, "Cache-Control", "no-store");
    return api_text_reply(call, reply, body);
}

static api_reply *refuse_name(const char *name)
{
    const char *names[256];
    char detail[160];
    size_t count = api_known_model_count() < 256 ? api_known_model_count() : 256;
    for (size_t i = 0; i < count; i++)
        names[i] = api_known_model_at(i)->name;
    snprintf(detail, sizeof detail,
             "no model is known as \"%.60s\"; GET /v1/models lists them, POST takes any "
             "config.json",
             name);
    return api_problem(API_NOT_FOUND,
                       api_is_utf8(name, strlen(name)) ? detail : "no such model",
                       pe_nearest(name, names, count), NULL);
}

api_reply *api_get_model(const api_call *call)
{
    const api_known_model *model = api_known_model_find(call->parameter);
    api_reply *refusal;
    if (!model)
        return refuse_name(call->parameter);
    api_body *body = answer_config(call, model->config, strlen(model->config), &refusal);
    return body ? api_body_cacheable(call, body, "public, no-cache") : refusal;
}
