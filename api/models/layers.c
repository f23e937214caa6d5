/* Which layer of a component uses which part. */
#include "models/planning.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Whether a type of layers has no positions in any model, such as "conv". */
static bool has_no_positions(const char *layer_type)
{
    return model_lists("linear_attention conv mamba mamba2 recurrent cross_attention no_rope "
                       "linear lightning_attention",
                       layer_type);
}

static api_model_component *find_component(const model_config *config)
{
    return &config->planner->plan->components[config->component];
}

/* Whether the layers of the component have been read. */
static bool is_counted(const model_config *config)
{
    return find_component(config)->counted.kind != API_ORIGIN_OTHER;
}

/* Make room for a component's layers, which use no part yet. */
static bool make_layers(model_config *config, size_t count)
{
    api_model_component *component = find_component(config);
    component->layers = malloc(count * sizeof *component->layers);
    component->types = malloc(count * sizeof *component->types);
    if (!component->layers || !component->types) {
        pe_error_add(config->planner->error, PE_NO_MEMORY, "", "", "memory for the layers");
        return false;
    }
    component->layer_count = count;
    for (size_t i = 0; i < count; i++) {
        component->layers[i] = -1;
        component->types[i] = "";
    }
    return true;
}

/* The types of layers that transformers allows, and their older names. */
static const char LAYER_TYPES[] =
    "full_attention sliding_attention chunked_attention window_attention linear_attention "
    "attention conv mamba hybrid hybrid_sliding moe dense sparse deepseek_sparse_attention "
    "compressed_sparse_attention heavily_compressed_attention minimax_m3_sparse";

/* Types from a list of names, one for each layer. */
static void read_types(model_config *config, const json_t *list, api_origin from,
                       const layer_facts *facts)
{
    api_model_component *component = find_component(config);
    if (json_array_size(list) != component->layer_count) {
        model_refuse(config, from, NULL, "a list of %zu items, one for each layer; it has %zu",
                     component->layer_count, json_array_size(list));
        return;
    }
    for (size_t i = 0; i < component->layer_count; i++) {
        const char *type = json_string_value(json_array_get(list, i));
        if (!type) {
            model_refuse(config, from, json_array_get(list, i), "a list of strings");
            return;
        }
        bool known = has_no_positions(type) || model_lists(LAYER_TYPES, type) ||
                     (facts->full && strcmp(type, facts->full) == 0) ||
                     (facts->other && strcmp(type, facts->other) == 0);
        if (!known) {
            model_refuse_choice(config, from, json_array_get(list, i), LAYER_TYPES);
            return;
        }
        component->types[i] = type; /* the plan keeps the config */
    }
}

/* Types from a list of numbers, one for each layer: 0 is `full`. */
static void read_flags(model_config *config, const json_t *list, api_origin from,
                       const layer_facts *facts)
{
    api_model_component *component = find_component(config);
    size_t given = json_array_size(list);
    if (given < component->layer_count ||
        (given > component->layer_count && !model_lists(facts->pattern, "cut"))) {
        model_refuse(config, from, NULL,
                     "a list of %zu numbers, one for each layer; it has %zu",
                     component->layer_count, given);
        return;
    }
    for (size_t i = 0; i < component->layer_count; i++)
        component->types[i] = model_list_number(list, i) == 0 ? facts->full : facts->other;
}

/* Types from a list of the indices of `full` layers. Indices of no layer mean nothing, as in
 * files whose layers were cut. */
static void read_indices(model_config *config, const json_t *list, const layer_facts *facts)
{
    api_model_component *component = find_component(config);
    for (size_t i = 0; i < component->layer_count; i++)
        component->types[i] = facts->other;
    for (size_t i = 0; i < json_array_size(list); i++) {
        double index =
            json_is_number(json_array_get(list, i)) ? model_list_number(list, i) : -1;
        if (index >= 0 && index < (double)component->layer_count)
            component->types[(size_t)index] = facts->full;
    }
}

/* A pattern such as "LLLG"; NULL, with a problem, if it has other letters. */
static const char *read_letters(const model_config *config, const char *keys)
{
    api_origin from;
    const json_t *given = model_find(config, keys, &from);
    const char *letters = json_string_value(given);
    model_use_key(config->planner->used, from);
    if (*letters && letters[strspn(letters, "LG")] == '\0')
        return letters;
    model_refuse(config, from, given,
                 "an integer, or a text of the letters L, a sliding layer, and G, a full one");
    return NULL;
}

/* One of how many layers is `full`. */
static double read_period(const model_config *config, const layer_facts *facts)
{
    model_number every = model_integer(config, facts->every_keys, facts->every);
    model_use_key(config->planner->used, every.from);
    if (every.given && every.value < 1)
        model_refuse(config, every.from, NULL, "an integer, at least 1");
    return every.value;
}

/* How many `full` layers come before the pattern. */
static size_t read_prefix(const model_config *config, const layer_facts *facts)
{
    if (!facts->prefix_key)
        return 0;
    model_number count = model_integer(config, facts->prefix_key, 0);
    model_use_key(config->planner->used, count.from);
    return count.value > 0 && count.value <= API_MODEL_LAYERS ? (size_t)count.value : 0;
}

/* Types by a pattern that repeats: every so many layers, or by a text such as "LLLG". */
static void repeat_types(model_config *config, const layer_facts *facts)
{
    api_model_component *component = find_component(config);
    const char *full = facts->full ? facts->full : "full_attention";
    const char *other = facts->other ? facts->other : "sliding_attention";
    api_origin from;
    const char *letters = NULL;
    double every = facts->every;
    if (facts->every_keys && json_is_string(model_find(config, facts->every_keys, &from)))
        letters = read_letters(config, facts->every_keys);
    else if (facts->every_keys)
        every = read_period(config, facts);
    const size_t period = letters ? strlen(letters) : 0, count = component->layer_count,
                 prefix = read_prefix(config, facts);
    for (size_t i = 0; i < count; i++) {
        double place =
            (double)i - (double)prefix + (model_lists(facts->pattern, "first") ? 0 : 1);
        if (model_lists(facts->pattern, "from_end"))
            place = (double)(count - 1 - i);
        bool is_full = i < prefix || every < 1 || fmod(place, every) == 0;
        if (period > 0)
            is_full = letters[i % period] != 'L';
        if (i + 1 == count &&
            (model_lists(facts->pattern, "last") ||
             (model_lists(facts->pattern, "or_last") && (double)count < every)))
            is_full = true;
        component->types[i] = is_full ? full : other;
    }
}

/* The indices of `full` layers: those of the config or of the class; NULL: there are none. */
static json_t *read_list_of_indices(model_config *config, const layer_facts *facts)
{
    api_origin from;
    json_t *list =
        facts->indices_key ? model_number_list(config, facts->indices_key, &from) : NULL;
    if (list)
        model_use_key(config->planner->used, from);
    return list || !facts->indices ? list : model_keep_json(config->planner, facts->indices);
}

bool model_plan_stages(model_config *config, const double depths[], size_t count,
                       api_origin from)
{
    double layers = 0;
    size_t next = 0;
    for (size_t i = 0; i < count; i++)
        layers += depths[i];
    if (is_counted(config)) /* more components than a plan has room for */
        return true;
    find_component(config)->counted = from;
    if (layers > API_MODEL_LAYERS) {
        model_refuse(config, from, NULL, "at most %d layers together", API_MODEL_LAYERS);
        return false;
    }
    if (!make_layers(config, (size_t)layers))
        return false;
    for (size_t i = 0; i < count; i++) {
        const char *type = model_keep(config->planner, json_sprintf("stage%d", (int)i + 1));
        for (size_t layer = 0; layer < (size_t)depths[i]; layer++)
            find_component(config)->types[next++] = type;
    }
    return true;
}

void model_plan_layers(model_config *config, const void *layer_rule)
{
    static const layer_facts PLAIN = {0};
    const layer_facts *facts = layer_rule ? layer_rule : &PLAIN;
    if (is_counted(config))
        return;
    api_origin from;
    model_number count =
        model_integer(config, facts->count_keys ? facts->count_keys : "num_hidden_layers", NAN);
    find_component(config)->counted = count.from;
    if (!count.given) {
        if (facts->every == 1 && !model_list(config, "layer_types|layers_block_type", &from))
            find_component(config)->only = facts->full ? facts->full : "full_attention";
        return;
    }
    if (count.value < 1 || count.value > API_MODEL_LAYERS) {
        model_refuse(config, count.from, NULL, "a number of layers from 1 to %d",
                     API_MODEL_LAYERS);
        return;
    }
    if (!make_layers(config, (size_t)count.value))
        return;
    json_t *types =
        facts->own_types ? NULL : model_list(config, "layer_types|layers_block_type", &from);
    if (types) {
        model_use_key(config->planner->used, from);
        read_types(config, types, from, facts);
        return;
    }
    json_t *flags =
        facts->flags_key ? model_number_list(config, facts->flags_key, &from) : NULL;
    json_t *indices = read_list_of_indices(config, facts);
    if (flags)
        model_use_key(config->planner->used, from);
    if (json_array_size(flags) > 0)
        read_flags(config, flags, from, facts);
    else if (indices)
        read_indices(config, indices, facts);
    else if (facts->every > 0 || (facts->every_keys && model_has(config, facts->every_keys)))
        repeat_types(config, facts);
}

void model_use(model_config *config, const api_model_part *part, const char *layer_types)
{
    model_plan_layers(config, NULL);
    api_model_component *component = find_component(config);
    int32_t index = (int32_t)(part - config->planner->plan->parts);
    for (size_t i = 0; i < component->layer_count; i++) {
        const char *type = component->types[i];
        bool uses = layer_types ? model_lists(layer_types, type) : !has_no_positions(type);
        if (uses && component->layers[i] < 0)
            component->layers[i] = index;
    }
}

void model_use_besides(model_config *config, api_model_part *part, const char *layer_type)
{
    model_plan_layers(config, NULL);
    const api_model_component *component = find_component(config);
    part->second = json_array();
    for (size_t i = 0; i < component->layer_count; i++)
        if (layer_type ? strcmp(component->types[i], layer_type) == 0
                       : component->layers[i] >= 0)
            json_array_append_new(part->second, json_integer((json_int_t)i));
}

/* Let the layers that turn use a part. */
static void use_where_turning(model_config *config, const rotary_facts *facts,
                              const api_model_part *part)
{
    const char *still = facts->still;
    if (still && facts->still_if &&
        json_is_null(json_object_get(config->object, facts->still_if)))
        still = NULL;
    if (facts->still_if)
        model_use_key(config->planner->used, model_origin(config, facts->still_if));
    model_use(config, part, NULL);
    api_model_component *component = find_component(config);
    size_t without = 0;
    for (size_t i = 0; still && i < component->layer_count; i++)
        if (model_lists(still, component->types[i])) {
            component->layers[i] = -1;
            without++;
        }
    if (without > 0)
        model_note(part->notes, "Layers of the type %s have no positions.", still);
}

void model_use_rotary(model_config *config, const rotary_facts *facts, api_model_part *part)
{
    if (facts->besides)
        model_use_besides(config, part, NULL);
    else
        use_where_turning(config, facts, part);
}

bool model_has_layers(model_config *config, const char *layer_types)
{
    model_plan_layers(config, NULL);
    const api_model_component *component = find_component(config);
    for (size_t i = 0; i < component->layer_count; i++)
        if (model_lists(layer_types, component->types[i]))
            return true;
    const char *only = component->only;
    return component->layer_count == 0 && (!only || model_lists(layer_types, only));
}
