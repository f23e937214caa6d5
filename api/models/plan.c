/* The plan of a config: finds the row of its model type and applies it. */
#include "models/plan.h"

#include "models/spellings.h"
#include "models/types.h"

#include "json/document.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A printable list of strings: "a, b". Also takes one string. */
static void write_names(const json_t *list, char *dst, size_t size)
{
    size_t used = 0;
    dst[0] = '\0';
    if (json_is_string(list))
        snprintf(dst, size, "%s", json_string_value(list));
    for (size_t i = 0; i < json_array_size(list) && used + 1 < size; i++) {
        const char *name = json_string_value(json_array_get(list, i));
        int written =
            snprintf(dst + used, size - used, "%s%s", i > 0 ? ", " : "", name ? name : "?");
        used += written > 0 ? (size_t)written : 0;
    }
}

/* Up to three model types that begin like a name, as a text. */
static void write_relatives(const char *name, char *dst, size_t size)
{
    size_t used = 0, found = 0, length = strcspn(name, "-_0123456789.");
    dst[0] = '\0';
    for (size_t i = 0; length >= 3 && i < model_type_count() && found < 3; i++) {
        const char *known = model_type_at(i)->name;
        if (strncmp(known, name, length) != 0 || used + strlen(known) + 3 > size)
            continue;
        used += (size_t)snprintf(dst + used, size - used, "%s%s", found ? ", " : "", known);
        found++;
    }
}

/* Refuse a config whose model type has no row, with what the config says of itself. */
static void refuse_type(const model_config *config, const char *name, pe_error *reterr)
{
    char classes[80], relatives[64];
    const char *names[512];
    size_t count = model_type_count() < 512 ? model_type_count() : 512;
    for (size_t i = 0; i < count; i++)
        names[i] = model_type_at(i)->name;
    write_names(json_object_get(config->object, "architectures"), classes, sizeof classes);
    write_relatives(name ? name : "", relatives, sizeof relatives);
    bool custom = model_has(config, "auto_map");
    pe_problem *problem = pe_error_add(
        reterr, PE_OUT_OF_RANGE, "model_type", name ? name : "",
        "one that GET /v1/models lists%s%s%s%s%s%s%s", relatives[0] ? ", such as " : "",
        relatives, classes[0] || custom ? "; the config has" : "",
        classes[0] ? " architectures " : "", classes, classes[0] && custom ? " and" : "",
        custom ? " auto_map, so its code comes with the checkpoint" : "");
    problem->reason = name ? PE_REASON_CHOICE : PE_REASON_MISSING;
    pe_problem_suggest(problem, name ? pe_nearest(name, names, count) : NULL);
}

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
    const component_facts text = {
        .name = "text", .keys = "text_config", .type = config->type->name};
    const component_facts vision = {
        .name = "vision", .keys = "vision_config", .type = "vit", .only_if_given = true};
    const component_facts audio = {
        .name = "audio", .keys = "audio_config", .type = "whisper", .only_if_given = true};
    model_note(config->planner->plan->notes,
               "model_type is that of the text, but the config has a text_config: each "
               "component is read by its own model_type.");
    model_plan_component(config, &text);
    model_plan_component(config, &vision);
    model_plan_component(config, &audio);
}

/* Fill a plan that is empty. */
static void make_plan(api_model_plan *plan, json_t *object, const pe_limits *limits,
                      pe_error *reterr)
{
    model_planner planner = {
        .plan = plan, .limits = limits, .error = reterr, .used = json_object()};
    json_t *translated = model_translate(object, plan->notes, reterr);
    if (!translated) {
        json_decref(planner.used);
        return;
    }
    json_array_append_new(plan->kept, translated);
    object = translated;
    model_config config = {.planner = &planner, .object = object, .path = ""};
    const char *name = json_string_value(json_object_get(object, "model_type"));
    const char *class_name = json_string_value(json_object_get(object, "_class_name"));
    if (!name || (class_name && model_type_find(class_name)))
        name = class_name ? class_name : name;
    config.type = name ? model_type_find(name) : NULL;
    if (!config.type) {
        refuse_type(&config, name, reterr);
        json_decref(planner.used);
        return;
    }
    plan->model_type = config.type->name;
    plan->family = config.type->family;
    if (config.type->component && !has_components(config.type) &&
        json_is_object(json_object_get(object, "text_config")))
        plan_components(&config);
    else
        model_plan_type(&config);
    model_list_unused(&planner, object);
    model_note_left_out(&planner, object, "");
    if (planner.is_full)
        pe_error_add(reterr, PE_OUT_OF_RANGE, "body", "",
                     "a config of at most %d components with %d parts in all",
                     API_MODEL_COMPONENTS, API_MODEL_PARTS);
    model_keep_asked(&planner);
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
    return model_type_count();
}

api_model_type_name api_model_type_at(size_t index)
{
    const model_type *type = model_type_at(index);
    return (api_model_type_name){type->name, type->family};
}
