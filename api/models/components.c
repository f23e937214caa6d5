/* Rules about components: a model of several, and stacks that share one object. */
#include "models/planning.h"

#include <stdio.h>
#include <string.h>

/* Add a component to the plan, for the config. */
static void add_component(model_config *config, const char *name)
{
    api_model_plan *plan = config->planner->plan;
    if (plan->component_count == API_MODEL_COMPONENTS) {
        config->planner->is_full = true; /* what follows is added to the last one */
        config->component = API_MODEL_COMPONENTS - 1;
        return;
    }
    config->component = plan->component_count++;
    plan->components[config->component] = (api_model_component){
        .name = name, .model_type = config->type->name, .path = config->path};
}

/* The words that a key has in any condition of a row; the plan keeps them. */
static const char *join_words(const model_config *config, const char *key)
{
    const char *words = "";
    const model_rule *rule = model_type_rules(config->planner->types, config->type);
    for (; rule->plan || rule->key; rule++)
        if (rule->key && strcmp(rule->key, key) == 0)
            words = model_keep(config->planner,
                               json_sprintf("%s %s %s %s", words, rule->is, rule->otherwise,
                                            rule->others ? rule->others : ""));
    return words;
}

/* Whether a rule's condition holds: the word of the key is one of those of the rule. */
static bool meets_condition(const model_config *config, const model_rule *rule)
{
    api_origin from;
    if (!*rule->is) /* WHEN_ABSENT */
        return !model_has(config, rule->key);
    if (rule->only_4_53 && config->planner->plan->options->convention != API_CONVENTION_4_53)
        return true;
    const char *word =
        model_choice(config, rule->key, join_words(config, rule->key), rule->otherwise, &from);
    return model_lists(rule->is, word);
}

/* Apply the rules of config->type to the config. */
static void plan_type(model_config *config)
{
    const model_type *type = config->type;
    model_config current = *config;
    if (config->planner->objects++ == API_MODEL_OBJECTS) /* each has rules that read it */
        config->planner->is_full = true;
    if (config->planner->is_full)
        return;
    if (type->component)
        add_component(&current, config->name ? config->name : type->component);
    bool skip = false;
    const model_rule *rule = model_type_rules(config->planner->types, type);
    for (; rule->plan || rule->key; rule++) {
        if (!rule->plan)
            skip = !meets_condition(&current, rule);
        else if (!skip)
            rule->plan(&current, rule->facts);
        else
            skip = false;
    }
    if (type->component)
        model_plan_layers(&current, NULL);
}

/* Note that a component names a type that its class does not look at, unless that says nothing
 * new: it is the parent's, or that of the row. */
static void note_type(const model_config *inner, const char *name, api_origin from,
                      const char *row)
{
    if (*name && strcmp(name, row) != 0 && strcmp(name, inner->parent->type->name) != 0 &&
        strncmp(row, name, strlen(name)) != 0)
        model_note(inner->planner->plan->notes,
                   "%s is %s, which the class does not look at: it is read as %s.", from.path,
                   name, row);
}

/* The row of a component's own model_type, or of the default. An empty text is none, as
 * transformers wrote it once. NULL: unknown, which is a problem or a note. */
static const model_type *find_type(const model_config *inner, const component_facts *facts)
{
    api_origin from;
    const char *name = model_string(inner, "model_type", &from);
    if (name && facts->ignore_type)
        note_type(inner, name, from, facts->type);
    if (!name || !*name || facts->ignore_type)
        return facts->type ? model_type_find(inner->planner->types, facts->type) : NULL;
    const model_type *type = model_type_find(inner->planner->types, name);
    if (!type && facts->optional)
        model_note(inner->planner->plan->notes,
                   "%s is %s, which this release does not know: that component is left out.",
                   from.path, name);
    else if (!type)
        pe_problem_suggest(model_refuse(inner, from,
                                        json_object_get(inner->object, "model_type"),
                                        "a model type that GET /v1/models lists"),
                           model_type_suggest(inner->planner->types, name));
    return type;
}

/* Plan the object of a component by its own type. */
static void plan_object(model_config *inner, const component_facts *facts)
{
    inner->type = find_type(inner, facts);
    if (inner->type)
        plan_type(inner);
}

/* The same for a component that was not asked for: what is wrong in it does not matter. */
static void plan_unasked(model_config *inner, const component_facts *facts)
{
    model_planner *planner = inner->planner;
    pe_error *kept = planner->error, own;
    pe_error_init(&own);
    planner->error = &own;
    planner->is_unasked = true;
    plan_object(inner, facts);
    planner->is_unasked = false;
    planner->error = kept;
    if (own.status == PE_NO_MEMORY)
        pe_error_add(kept, PE_NO_MEMORY, "", "", "memory for the plan");
}

void model_plan_component(model_config *config, const void *component_rule)
{
    const component_facts *facts = component_rule;
    model_config inner = model_object(config, facts->keys);
    inner.parent = config;
    if (facts->values && (!inner.object || facts->merged))
        inner.fallback = model_keep_json(config->planner, facts->values);
    inner.name =
        config->name && config->path && *config->path
            ? model_keep(config->planner, json_sprintf("%s_%s", config->name, facts->name))
            : facts->name;
    if (!inner.object && facts->only_if_given)
        return;
    if (!inner.object && facts->flat) {
        inner = *config;
        inner.parent = config;
        inner.name = facts->name;
        inner.type = model_type_find(inner.planner->types, facts->type);
        plan_type(&inner);
    } else if (config->planner->is_unasked || model_is_requested(config->planner, inner.name)) {
        plan_object(&inner, facts);
    } else {
        plan_unasked(&inner, facts);
    }
}

void model_plan_stack(model_config *config, const void *stack_rule)
{
    const stack_facts *facts = stack_rule;
    api_model_plan *plan = config->planner->plan;
    api_model_component *component = &plan->components[config->component];
    const char *name = facts->name;
    if (config->name && config->path && *config->path)
        name = model_keep(config->planner, json_sprintf("%s.%s", config->name, facts->name));
    bool fresh = component->counted.kind == API_ORIGIN_OTHER &&
                 (plan->part_count == 0 ||
                  plan->parts[plan->part_count - 1].component != config->component);
    if (fresh)
        component->name = name;
    else
        add_component(config, name);
    model_plan_layers(config, &facts->layers);
}

void model_plan_first_position(model_config *config, const void *position)
{
    config->first = *(const double *)position;
}

void model_plan_depth_pro(model_config *config, const void *component_rule)
{
    const component_facts *facts = component_rule;
    model_config own = *config;
    json_t *side = json_object_get(config->object, "patch_size");
    json_t *object = json_object_get(config->object, facts->keys);
    own.object = json_copy(config->object);
    json_array_append_new(config->planner->plan->kept, own.object);
    if (json_is_number(side)) {
        object = object ? json_copy(object) : json_object();
        json_object_set(object, "image_size", side);
        json_object_set_new(own.object, facts->keys, object);
        model_use_key(config->planner->used, model_origin(config, "patch_size"));
    }
    model_plan_component(&own, facts);
}

/* ---- the whole config ---- */

/* Whether the row itself says which components a model has. */
static bool has_components(const model_config *config)
{
    const model_rule *rule = model_type_rules(config->planner->types, config->type);
    while ((rule->plan || rule->key) && rule->plan != model_plan_component)
        rule++;
    return rule->plan != NULL;
}

/* Plan a config that names the type of its text, but holds components. */
static void plan_usual_components(model_config *config)
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

void model_plan_components(model_config *config)
{
    if (config->type->component && !has_components(config) &&
        json_is_object(json_object_get(config->object, "text_config")))
        plan_usual_components(config);
    else
        plan_type(config);
}
