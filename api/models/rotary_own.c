/* What single classes do with rotary keys that no other one does: their rows name these
 * functions. */
#include "models/rotary_planning.h"

#include <string.h>

/* ---- the keys of a table ---- */

/* Of a dictionary that is not by types of layers, yarn's attention_factor is 1. */
void model_own_deepseek_v4(const model_config *config, rotary_keys *keys)
{
    (void)config;
    keys->is_level = keys->is_flat;
}

/* Release 4.53 reads rope_theta in attn_config. */
void model_own_dbrx(const model_config *config, rotary_keys *keys)
{
    if (config->planner->plan->options->convention != API_CONVENTION_4_53)
        return;
    model_config object = model_object(config, "attn_config");
    if (isnan(model_real(&keys->dictionary, "rope_theta", NAN).value))
        keys->theta = model_real(&object, "rope_theta", 10000);
}

/* As many columns as the model has turn where rotary_dim is null or 0. */
void model_own_gptj(const model_config *config, rotary_keys *keys)
{
    if (json_is_null(json_object_get(config->object, "rotary_dim")) || keys->width.value == 0) {
        keys->width = model_required(config, "hidden_size", NAN, 1);
        keys->width.from = model_origin(config, "rotary_dim");
    }
}

/* With a factor beside the rope_type is dynamic. */
void model_own_nomic(const model_config *config, rotary_keys *keys)
{
    keys->longest = model_integer(config, "max_trained_positions", 2048);
    if (!model_has(config, "rotary_scaling_factor"))
        return;
    keys->type = "dynamic";
    keys->dictionary = *config;
}

/* yarn is longrope, as su is. */
void model_own_phi3(const model_config *config, rotary_keys *keys)
{
    (void)config;
    if (strcmp(keys->type, "yarn") == 0)
        keys->type = "longrope";
}

/* A head has twice the quotient's columns. */
void model_own_zamba2(const model_config *config, rotary_keys *keys)
{
    if (keys->head.given)
        return;
    keys->head.value *= 2;
    keys->head.from = model_add_remark(config, keys->head.from, ", doubled");
}

/* ---- tables, and the layers that use them ---- */

/* Of the dictionaries theta and the partial factor are read by types of layers alone. */
void model_plan_deepseek_v4(model_config *config, const void *rotary_rule)
{
    static const char *const NAMES[2] = {"compress", "main"};
    static const char *const TYPES[2] = {
        "compressed_sparse_attention heavily_compressed_attention", "sliding_attention"};
    static const char *const DICTIONARIES[2] = {"rope_scaling", "rope_parameters"};
    model_config own = *config;
    own.object = json_copy(config->object);
    json_array_append_new(config->planner->plan->kept, own.object);
    for (size_t i = 0; i < 2; i++) {
        json_t *copy = json_copy(json_object_get(own.object, DICTIONARIES[i]));
        json_object_del(copy, "rope_theta");
        json_object_del(copy, "partial_rotary_factor");
        json_object_set_new(own.object, DICTIONARIES[i], copy);
    }
    model_plan_both_kinds(&own, rotary_rule, NAMES, TYPES);
}

void model_plan_zaya(model_config *config, const void *rotary_rule)
{
    static const char *const NAMES[2] = {"hybrid", "hybrid_sliding"};
    model_plan_both_kinds(config, rotary_rule, NAMES, NAMES);
}

/* A table for each theta of a list that has one for each layer. */
static void plan_thetas(model_config *config, const rotary_facts *facts, const json_t *thetas,
                        api_origin from)
{
    const api_model_plan *plan = config->planner->plan;
    const api_model_component *component = &plan->components[config->component];
    model_plan_layers(config, NULL);
    model_use_key(config->planner->used, from);
    if (json_array_size(thetas) != component->layer_count) {
        model_refuse(config, from, NULL, "a list of %zu numbers, one for each layer",
                     component->layer_count);
        return;
    }
    bool has_still = false;
    for (size_t i = 0; i < component->layer_count; i++) {
        const double theta = model_list_number(thetas, i);
        has_still |= theta == 0;
        if (theta == 0 || component->layers[i] >= 0)
            continue;
        if (config->planner->is_full)
            return;
        rotary_keys keys = model_rotary_keys(config, facts, NULL, false);
        keys.theta = (model_number){true, theta, from};
        char number[PE_PRINT_MAX];
        pe_print_number(number, theta);
        const char *name = model_keep(config->planner, json_sprintf("theta_%s", number));
        const api_model_part *part = model_plan_table(config, &keys, name);
        for (size_t other = i; other < component->layer_count; other++)
            if (model_list_number(thetas, other) == theta)
                component->layers[other] = (int32_t)(part - plan->parts);
    }
    if (has_still)
        model_note(plan->notes, "Layers whose item of %s is 0 have no positions.", from.path);
}

void model_plan_layer_thetas(model_config *config, const void *rotary_rule)
{
    api_origin from;
    const json_t *thetas = model_number_list(config, "layer_rope_theta", &from);
    if (thetas)
        plan_thetas(config, rotary_rule, thetas, from);
    else
        model_plan_rotary(config, rotary_rule);
}

void model_plan_olmo_hybrid(model_config *config, const void *rotary_rule)
{
    model_config dictionary = model_object(config, "rope_parameters");
    if (!json_is_null(json_object_get(dictionary.object, "rope_theta"))) {
        model_plan_rotary(config, rotary_rule);
        return;
    }
    model_use_key(config->planner->used, model_origin(&dictionary, "rope_theta"));
    model_note(config->planner->plan->notes,
               "No positions: rope_parameters.rope_theta is null.");
}

/* Whether a layer is a dense one before the mixtures of experts, where every one of them is of
 * full attention. */
static bool is_turning_prefix(const model_config *config, size_t layer)
{
    api_origin from;
    const json_t *types = model_list(config, "mlp_layer_types", &from);
    const char *type = json_string_value(json_array_get(types, layer));
    model_number count = model_integer(config, "first_k_dense_replace", 0);
    model_number period = model_integer(config, "prefix_dense_sliding_window_pattern", 1);
    bool is_dense = types ? type && strcmp(type, "dense") == 0 : (double)layer < count.value;
    if (is_dense)
        model_use_key(config->planner->used, types ? from : count.from);
    return is_dense && period.value == 1;
}

void model_plan_cohere2_moe(model_config *config, const void *rotary_rule)
{
    api_model_plan *plan = config->planner->plan;
    model_plan_rotary(config, rotary_rule);
    api_model_component *component = &plan->components[config->component];
    for (size_t i = 0; i < component->layer_count; i++)
        if (component->layers[i] < 0 && is_turning_prefix(config, i))
            component->layers[i] = (int32_t)plan->part_count - 1;
}
