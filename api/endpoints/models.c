/* /v1/models: the plan of the position tensors of a model, from its config.json or its name. */
#include "call.h"
#include "http/accept.h"
#include "http/arguments.h"
#include "models/config_text.h"
#include "models/gguf.h"
#include "models/known_models.h"
#include "models/plan.h"
#include "models/row_source.h"
#include "models/tensors.h"
#include "replies/cacheable.h"
#include "replies/document.h"
#include "replies/fixed_documents.h"
#include "replies/json_post.h"
#include "replies/problem.h"
#include "replies/reply.h"
#include "json/schema.h"

#include <stdio.h>
#include <string.h>

static bool is_post(const api_call *call)
{
    return strcmp(call->request->method, "POST") == 0;
}

/* A plan of more layers is described by a worker. */
#define QUICK_LAYERS 1024

static json_t *build_list(const api_call *call)
{
    (void)call;
    json_t *types = json_array(), *models = json_array(), *parameters = json_array();
    size_t row_count;
    const pe_parameter *rows = api_model_option_rows(&row_count);
    for (size_t i = 0; i < api_model_type_count(); i++) {
        api_model_type_name type = api_model_type_get(i);
        json_array_append_new(types, json_pack("{s:s, s:s, s:o}", "model_type", type.model_type,
                                               "title", type.family, "source",
                                               model_source_describe(type.model_type, NULL)));
    }
    for (size_t i = 0; i < api_known_model_count(); i++) {
        const api_known_model *model = api_known_model_get(i);
        json_array_append_new(models, json_pack("{s:s, s:s, s:o}", "name", model->name,
                                                "source", model->source, "config",
                                                json_loads(model->config, 0, NULL)));
    }
    for (size_t i = 0; i < row_count; i++)
        json_array_append_new(parameters, api_describe_parameter(&rows[i]));
    return json_pack("{s:o, s:o, s:o}", "models", models, "model_types", types, "parameters",
                     parameters);
}

api_reply *api_list_models(const api_call *call)
{
    return api_reply_fixed(call, API_FIXED_MODELS, build_list);
}

/* Whether the answer is the plan. A range with a star is no wish for a file of tensors. */
static bool wants_plan(const api_call *call, const api_model_options *options)
{
    const char *accept = api_call_header(call, API_HEADER_ACCEPT);
    int named;
    if (options->answer != API_MODEL_BY_ACCEPT)
        return options->answer == API_MODEL_PLAN;
    unsigned json = api_accept_quality(accept, "application/json", &named);
    unsigned file = api_accept_quality(accept, "application/vnd.safetensors", &named);
    return json > 0 && (json >= file || named < 3);
}

/* The plan as a document, kept by its tag where the request is a GET. */
static api_reply *answer_plan(const api_call *call, const api_model_plan *plan)
{
    api_body *body = api_document_readable_body(api_model_plan_describe(plan));
    api_reply *reply =
        is_post(call) ? api_text_reply(call, api_passing_reply(200, "application/json"), body)
                      : api_body_cacheable(call, body, "public, no-cache");
    if (plan->options->answer == API_MODEL_BY_ACCEPT)
        api_reply_vary(reply, "Accept");
    return reply;
}

/* Whether a plan has more layers than an event thread should list. */
static bool is_long(const api_model_plan *plan)
{
    size_t layers = 0;
    for (size_t i = 0; i < plan->component_count; i++)
        layers += plan->components[i].layer_count;
    return layers > QUICK_LAYERS;
}

/* Answer by a plan or its tensors; NULL with a problem. */
static api_reply *answer_model(const api_call *call, api_segment config,
                               const api_model_plan *plan, pe_error *error)
{
    const api_model_options *options = plan->options;
    api_reply *refusal = NULL;
    api_model_refuse_unused(&plan, 1, error);
    if (error->count > 0)
        return NULL;
    if (call->request->quick && is_long(plan))
        return api_not_yet(call, API_LATER);
    if (!wants_plan(call, options))
        return api_model_tensors_reply(call, plan, config, !is_post(call));
    if (options->set && !api_model_check_set(call, plan, &refusal))
        return refusal;
    return answer_plan(call, plan);
}

static api_reply *answer_options(const api_call *call, api_segment config,
                                 const api_model_options *options, pe_error *error)
{
    api_model_plan *plan = NULL;
    api_reply *reply = NULL;
    json_t *read = api_gguf_begins(config.data, config.size)
                       ? api_gguf_read(config.data, config.size, error)
                       : api_config_read(config.data, config.size, error);
    if (read &&
        api_model_plan_new(read, options, &call->service->host->limits, &plan, error) == PE_OK)
        reply = answer_model(call, config, plan, error);
    api_model_plan_free(plan);
    json_decref(read);
    return error->count > 0 ? api_problem_from_error(error) : reply;
}

static api_reply *answer_config(const api_call *call, api_segment config)
{
    api_arguments arguments;
    api_model_options options;
    pe_error error;
    pe_error_init(&error);
    api_arguments_from_query(call->query, &arguments, &error);
    api_model_options_read(&arguments, &options, &error);
    api_reply *reply = error.count > 0 ? api_problem_from_error(&error)
                                       : answer_options(call, config, &options, &error);
    api_model_options_done(&options);
    api_arguments_done(&arguments);
    return reply;
}

api_reply *api_post_model(const api_call *call)
{
    const api_request *request = call->request;
    api_reply *refusal;
    if (api_is_gguf_body(call))
        return answer_config(call, (api_segment){request->body, request->body_size});
    if (!api_is_json_body(call, "@config.json", &refusal))
        return refusal;
    if (request->body_size > API_CONFIG_BYTES)
        return api_problem(API_PAYLOAD_TOO_LARGE, "a config.json has at most 1 MiB", NULL,
                           NULL);
    return answer_config(call, (api_segment){request->body, request->body_size});
}

static api_reply *refuse_name(const char *name)
{
    char detail[240];
    const char *near = api_known_model_suggest(name);
    snprintf(detail, sizeof detail,
             "no model is known as \"%.60s\"; %s%s%sGET /v1/models lists them; of any other, "
             "send the config.json of its repository: POST /v1/models",
             name, near ? "did you mean \"" : "", near ? near : "", near ? "\"? " : "");
    return api_problem(API_NOT_FOUND,
                       api_is_utf8(name, strlen(name)) ? detail : "no such model", near, NULL);
}

api_reply *api_get_model(const api_call *call)
{
    const api_known_model *model = api_known_model_find(call->parameter);
    return model ? answer_config(call, (api_segment){model->config, strlen(model->config)})
                 : refuse_name(call->parameter);
}
