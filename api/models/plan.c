/* The plan of a config: finds the row of its model type and applies it. */
#include "models/plan.h"
#include "models/planning.h"

#include "models/other_files.h"

#include "json/document.h"

#include <stdlib.h>

/* Plan a config.json by the row of its model type. */
static void plan_config(model_planner *planner, json_t *object)
{
    model_config config = {.planner = planner, .object = object, .path = ""};
    config.type = find_model_type(&config);
    if (!config.type)
        return;
    planner->plan->model_type = config.type->name;
    planner->plan->family = config.type->family;
    model_open_arguments(&config);
    model_plan_components(&config);
    if (planner->is_full)
        pe_error_add(planner->error, PE_OUT_OF_RANGE, "body", "",
                     "a config of at most %d components with %d parts in all, in at most %d "
                     "objects",
                     API_MODEL_COMPONENTS, API_MODEL_PARTS, API_MODEL_OBJECTS);
    model_trim_plan(planner, object);
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
    model_planner planner = {.plan = plan,
                             .types = &model_all_types,
                             .limits = limits,
                             .error = reterr,
                             .used = json_object(),
                             .known = json_object(),
                             .paths = json_object()};
    json_array_append_new(plan->kept, planner.paths);
    plan->paths = planner.paths;
    plan->config = model_translate(config, plan->notes, planner.paths, reterr);
    if (plan->config && json_array_append_new(plan->kept, plan->config) == 0)
        plan_config(&planner, plan->config);
    json_decref(planner.used);
    json_decref(planner.known);
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
