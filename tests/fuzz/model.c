/* Configs of models. The input is a line with a query, and then a config.json, another
 * description of a model, or the head of a GGUF file. Whatever it says, the plan is made or
 * refused. A plan can be written as JSON; its layers use parts that it has; and its arguments
 * make the same request again. */
#include "support/fuzz.h"

#include "http/arguments.h"
#include "models/config_text.h"
#include "models/gguf.h"
#include "models/plan.h"
#include "json/document.h"

#include <string.h>

static void check_layers(const api_model_plan *plan)
{
    for (size_t i = 0; i < plan->component_count; i++) {
        const api_model_component *component = &plan->components[i];
        for (size_t layer = 0; layer < component->layer_count; layer++) {
            int32_t part = component->layers[layer];
            fuzz_check(part >= -1 && part < (int32_t)plan->part_count, "part %d", (int)part);
            fuzz_check(part < 0 || plan->parts[part].component == i, "part %d of another",
                       (int)part);
        }
    }
}

static void check_part(const api_model_part *part)
{
    pe_error error;
    fuzz_check((part->scheme != NULL) == (part->request != NULL), "%s", part->name);
    fuzz_check(part->state != API_PART_COMPUTED || part->request, "%s", part->name);
    if (!part->request)
        return;
    char *key = fuzz_key(pe_scheme_find(part->scheme), part->arguments, part->count, &error);
    fuzz_check(key && strcmp(key, pe_request_key(part->request, &(size_t){0})) == 0, "%s",
               part->name);
    free(key);
    for (size_t i = 0; i < part->count; i++) {
        json_t *from = api_origin_describe(part->from[i]);
        fuzz_check(json_string_length(from) > 0, "%s comes from nowhere",
                   part->arguments[i].name);
        json_decref(from);
    }
}

static void check_plan(const api_model_plan *plan)
{
    check_layers(plan);
    for (size_t i = 0; i < plan->part_count; i++)
        check_part(&plan->parts[i]);
    char *text = api_document_readable(api_model_plan_describe(plan));
    json_t *read = text ? json_loads(text, JSON_REJECT_DUPLICATES, NULL) : NULL;
    fuzz_check(json_is_object(read), "%s", text ? text : "no text");
    json_decref(read);
    free(text);
}

/* Plan a config with options. */
static void plan_config(json_t *config, const api_model_options *options)
{
    pe_error error;
    api_model_plan *plan;
    if (api_model_plan_new(config, options, &FUZZ_LIMITS, &plan, &error) != PE_OK) {
        fuzz_check_error(&error);
        return;
    }
    check_plan(plan);
    api_model_plan_free(plan);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    api_arguments arguments;
    api_model_options options;
    pe_error error;
    const uint8_t *end = size ? memchr(data, '\n', size) : NULL;
    size_t line = end ? (size_t)(end - data) : size, rest = end ? size - line - 1 : 0;
    char *query = fuzz_copy(data, line), *text = fuzz_exact(end ? end + 1 : NULL, rest);
    pe_error_init(&error);
    api_document_begin();
    api_arguments_from_query(query, &arguments, &error);
    api_model_options_read(&arguments, &options, &error);
    if (error.count > 0)
        fuzz_check_error(&error);
    pe_error_init(&error);
    json_t *config = api_gguf_begins(text, rest) ? api_gguf_read(text, rest, &error)
                                                 : api_config_read(text, rest, &error);
    if (config)
        plan_config(config, &options);
    else
        fuzz_check_error(&error);
    json_decref(config);
    api_model_options_done(&options);
    api_arguments_done(&arguments);
    free(text);
    free(query);
    return 0;
}
