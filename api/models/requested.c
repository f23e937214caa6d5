/* The components that a request asks for: the others are planned, since names are only known
 * then, and left out. */
#include "models/types.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Whether a list of names, joined by commas, has a name, or one of something inside of it. */
static bool has_name(const char *list, const char *name, bool or_inside)
{
    size_t length = strlen(name);
    for (const char *at = list; at; at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL) {
        char after = strncmp(at, name, length) == 0 ? at[length] : 'x';
        if (after == '\0' || after == ',' || (or_inside && (after == '_' || after == '.')))
            return true;
    }
    return false;
}

bool model_is_requested(const model_planner *planner, const char *name)
{
    const char *list = planner->plan->options->components;
    return !list || has_name(list, name, true);
}

/* ---- names ---- */

static void refuse_name(model_planner *planner, const char *name)
{
    const api_model_plan *plan = planner->plan;
    const char *names[API_MODEL_COMPONENTS];
    char list[200];
    size_t used = 0;
    list[0] = '\0';
    for (size_t i = 0; i < plan->component_count; i++) {
        names[i] = plan->components[i].name;
        if (used < sizeof list)
            used += (size_t)snprintf(list + used, sizeof list - used, "%s%s", i ? ", " : "",
                                     names[i]);
    }
    pe_problem *problem = pe_error_add(planner->error, PE_OUT_OF_RANGE, "components", name,
                                       "names of the model's components, which are %s", list);
    pe_problem_suggest(problem, pe_find_nearest_name(name, names, plan->component_count));
}

/* Refuse what is no name of a component. */
static void check_names(model_planner *planner)
{
    const api_model_plan *plan = planner->plan;
    for (const char *at = plan->options->components; at;
         at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL) {
        char name[64];
        bool known = false;
        snprintf(name, sizeof name, "%.*s", (int)strcspn(at, ","), at);
        for (size_t i = 0; i < plan->component_count && !known; i++)
            known = strcmp(plan->components[i].name, name) == 0;
        if (!known)
            refuse_name(planner, name);
    }
}

/* ---- leaving out ---- */

/* Leave out the parts of components without a place: ret_places[i] is the new index of part i,
 * or -1. */
static void keep_parts(api_model_plan *plan, const int32_t component_places[],
                       int32_t ret_places[])
{
    size_t kept = 0;
    for (size_t i = 0; i < plan->part_count; i++) {
        int32_t component = component_places[plan->parts[i].component];
        ret_places[i] = component < 0 ? -1 : (int32_t)kept;
        if (component < 0) {
            model_part_done(&plan->parts[i]);
            continue;
        }
        plan->parts[kept] = plan->parts[i];
        plan->parts[kept++].component = (size_t)component;
    }
    plan->part_count = kept;
}

static void keep_components(api_model_plan *plan, const int32_t part_places[])
{
    size_t kept = 0;
    for (size_t i = 0; i < plan->component_count; i++) {
        api_model_component component = plan->components[i];
        if (!has_name(plan->options->components, component.name, false)) {
            free(component.layers);
            free(component.types);
            continue;
        }
        for (size_t layer = 0; layer < component.layer_count; layer++)
            if (component.layers[layer] >= 0)
                component.layers[layer] = part_places[component.layers[layer]];
        plan->components[kept++] = component;
    }
    plan->component_count = kept;
}

void model_keep_asked(model_planner *planner)
{
    api_model_plan *plan = planner->plan;
    int32_t component_places[API_MODEL_COMPONENTS], part_places[API_MODEL_PARTS], place = 0;
    if (!plan->options->components || planner->error->count > 0)
        return;
    check_names(planner);
    for (size_t i = 0; i < plan->component_count; i++) {
        const char *name = plan->components[i].name;
        component_places[i] = has_name(plan->options->components, name, false) ? place++ : -1;
    }
    keep_parts(plan, component_places, part_places);
    keep_components(plan, part_places);
}
