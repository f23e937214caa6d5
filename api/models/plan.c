/* The plan of a config: finds the row of its model type and applies it. */
#include "models/plan.h"

#include "models/other_files.h"
#include "models/plan_parts.h"
#include "models/timm.h"

#include "json/document.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Whether the row itself says which components a model has. */
static bool has_components(const model_type *type)
{
    const model_rule *rule = type->rules;
    while ((rule->plan || rule->key) && rule->plan != model_plan_component)
        rule++;
    return rule->plan != NULL;
}

/* Plan a config that names the type of its text, but holds components. */
static void plan_components(model_config *config)
{
    const component_facts components[] = {
        {.name = "text", .keys = "text_config", .type = config->type->name},
        {.name = "vision", .keys = "vision_config", .type = "vit", .only_if_given = true},
        {.name = "audio", .keys = "audio_config", .type = "whisper", .only_if_given = true}};
    model_note(config->planner->plan->notes,
               "model_type is that of the text, but the config has a text_config: each "
               "component is read by its own model_type.");
    for (size_t i = 0; i < sizeof components / sizeof *components; i++)
        model_plan_component(config, &components[i]);
}

/* Fill a plan that is empty. */
static void make_plan(api_model_plan *plan, json_t *object, const pe_limits *limits,
                      pe_error *reterr)
{
    model_planner planner = {.plan = plan,
                             .types = &model_all_types,
                             .limits = limits,
                             .error = reterr,
                             .used = json_object()};
    json_t *translated = model_translate(object, plan->notes, reterr);
    if (!translated) {
        json_decref(planner.used);
        return;
    }
    json_array_append_new(plan->kept, translated);
    object = translated;
    model_config config = {.planner = &planner, .object = object, .path = ""};
    config.type = find_model_type(&config);
    if (!config.type) {
        json_decref(planner.used);
        return;
    }
    plan->model_type = config.type->name;
    plan->family = config.type->family;
    model_open_arguments(&config);
    if (config.type->component && !has_components(config.type) &&
        json_is_object(json_object_get(object, "text_config")))
        plan_components(&config);
    else
        model_plan_type(&config);
    if (planner.is_full)
        pe_error_add(reterr, PE_OUT_OF_RANGE, "body", "",
                     "a config of at most %d components with %d parts in all, in at most %d "
                     "objects",
                     API_MODEL_COMPONENTS, API_MODEL_PARTS, API_MODEL_OBJECTS);
    model_trim_plan(&planner, object);
    json_decref(planner.used);
}

pe_status api_model_plan_new(json_t *config, const api_model_options *options,
                             const pe_limits *limits, api_model_plan **ret_plan,
                             pe_error *reterr)
{
    api_model_plan *plan = calloc(1, sizeof *plan);
    pe_error_init(reterr);
    if (!plan) {
        pe_error_add(reterr, PE_NO_MEMORY, "", "", "memory for the plan");
        return PE_NO_MEMORY;
    }
    plan->options = options;
    plan->notes = json_array();
    plan->not_used = json_array();
    plan->kept = json_array();
    json_array_append(plan->kept, config);
    make_plan(plan, config, limits, reterr);
    if (api_document_failed()) { /* whatever else seems wrong may follow from it */
        pe_error_init(reterr);
        pe_error_add(reterr, PE_NO_MEMORY, "", "", "memory for the plan");
    }
    if (reterr->count > 0) {
        api_model_plan_free(plan);
        return reterr->status;
    }
    *ret_plan = plan;
    return PE_OK;
}

void api_model_plan_free(api_model_plan *plan)
{
    if (!plan)
        return;
    for (size_t i = 0; i < plan->component_count; i++) {
        free(plan->components[i].layers);
        free(plan->components[i].types);
    }
    for (size_t i = 0; i < plan->part_count; i++)
        model_part_done(&plan->parts[i]);
    model_part_done(&plan->parts[API_MODEL_PARTS]);
    json_decref(plan->notes);
    json_decref(plan->not_used);
    json_decref(plan->kept);
    free(plan);
}

size_t api_model_type_count(void)
{
    return model_all_types.count;
}

api_model_type_name api_model_type_get(size_t index)
{
    const model_type *type = &model_all_types.rows[index];
    return (api_model_type_name){type->name, type->family};
}
