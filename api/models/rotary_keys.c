/* Rotary keys in their old and new spellings, and which one wins: as modeling_rope_utils of
 * Hugging Face's transformers 5 reads them.
 *
 * - rope_scaling wins over rope_parameters; an empty one counts as absent.
 * - rope_theta inside wins over the one beside it, and that over the class's.
 * - rope_type wins over type; "mrope" is default with sections, "su" is longrope.
 * - partial_rotary_factor inside wins over the one beside it.
 * - original_max_position_embeddings beside wins over the one inside. */
#include "models/rotary_planning.h"

#include <math.h>
#include <string.h>

/* Whether a dictionary holds one for each type of layers. */
static bool is_by_layer_type(json_t *dictionary)
{
    const char *key;
    json_t *value;
    json_object_foreach(dictionary, key, value)
    {
        if (json_is_object(value))
            return true;
    }
    return false;
}

/* The dictionary of a layer type, if the given one is by layer types; else itself. A class with
 * one table takes none of them. */
static model_config of_layer_type(const model_config *dictionary, const char *layer_type)
{
    bool has_own =
        layer_type && json_is_object(json_object_get(dictionary->object, layer_type));
    return has_own ? model_object(dictionary, layer_type) : *dictionary;
}

static const char KINDS[] = "full_attention sliding_attention";

/* Note where transformers makes something else of a dictionary than its author meant, which is
 * what this plan follows. */
static void note_dictionary(const model_config *config, const rotary_keys *keys,
                            const model_config *found, bool scaled)
{
    json_t *notes = config->planner->plan->notes;
    bool by_type = is_by_layer_type(found->object);
    if (by_type && !keys->layer_type)
        model_note(notes,
                   "%s is by types of layers, but the class has one table and takes none of "
                   "them, as in transformers.",
                   found->path);
    if (!keys->layer_type || by_type || !model_lists(KINDS, keys->layer_type) ||
        json_object_size(found->object) == 0)
        return;
    if (!scaled)
        model_note(notes,
                   "%s is not by types of layers: it is read for layers of full attention, "
                   "where transformers ignores it.",
                   found->path);
    else if (model_has(found, "type") && !model_has(found, "rope_type"))
        model_note(notes,
                   "%s has type and no rope_type: transformers ignores it in this class, which "
                   "reads rope_type alone.",
                   found->path);
}

static model_config find_dictionary(const model_config *config, rotary_keys *keys)
{
    const rotary_facts *facts = keys->facts;
    model_config none = *config, scaling = none;
    none.object = scaling.object = NULL;
    if (!facts->unscaled && !facts->no_scaling)
        scaling = model_object(config, "rope_scaling");
    bool older = config->planner->plan->options->convention == API_CONVENTION_4_53;
    if (older && model_has(config, "rope_parameters"))
        model_note(config->planner->plan->notes,
                   "rope_parameters is a key of release 5: release 4.53 does not read it, nor "
                   "a theta inside.");
    model_config parameters = model_object(config, "rope_parameters");
    if (older || facts->unscaled)
        parameters = none;
    bool scaled = json_object_size(scaling.object) > 0;
    model_config found = scaled ? scaling : parameters;
    if (scaled && json_object_size(parameters.object) > 0 &&
        !json_equal(scaling.object, parameters.object))
        model_note(config->planner->plan->notes, "%s wins over %s, as in transformers.",
                   scaling.path, parameters.path);
    if (json_object_size(found.object) == 0 && facts->parameters) {
        found = *config;
        found.path = NULL;
        found.object = model_keep_json(config->planner, facts->parameters);
        return of_layer_type(&found, keys->layer_type);
    }
    note_dictionary(config, keys, &found, scaled);
    model_config inner = of_layer_type(&found, keys->layer_type);
    keys->is_flat = inner.object == found.object;
    if (keys->is_local && !facts->local_scaled && keys->is_flat)
        inner.object = NULL; /* what is not by layer types is for full attention alone */
    return inner;
}

/* Say that a class of transformers without M-RoPE is asked for it. */
static void warn_of_mrope(const rotary_keys *keys)
{
    model_planner *planner = keys->dictionary.planner;
    if (!keys->facts->picture && keys->facts->sections[0] == 0 &&
        json_object_size(planner->paths) == 0)
        model_warn(planner, json_sprintf("%s is mrope, which transformers' %s does not know: "
                                         "code of its own turns tokens of pictures by three "
                                         "positions, and these tables are those of text.",
                                         keys->type_from.path, keys->dictionary.type->name));
}

static void read_type(rotary_keys *keys)
{
#define ROPE_TYPES "default linear dynamic yarn longrope llama3 proportional mrope su"
    const char *types = keys->facts->alpha ? ROPE_TYPES " xdrope"
                        : keys->facts->ntk ? ROPE_TYPES " ntk"
                                           : ROPE_TYPES;
    const char *type =
        model_choice(&keys->dictionary, "rope_type", types, "default", &keys->type_from);
    if (keys->dictionary.path && keys->type_from.kind == API_ORIGIN_DEFAULT &&
        model_has(&keys->dictionary, "factor"))
        model_note(keys->dictionary.planner->plan->notes,
                   "%s has factor but no rope_type: it scales nothing, as in transformers.",
                   keys->dictionary.path);
    keys->sections =
        model_list(&keys->dictionary, "mrope_section|xdrope_section", &keys->sections_from);
    if (strcmp(type, "mrope") == 0) {
        warn_of_mrope(keys);
        type = "default";
    }
    if (strcmp(type, "xdrope") == 0) /* HunYuan-VL's name */
        type = "dynamic";
    if (strcmp(type, "su") == 0)
        type = "longrope";
    if (strcmp(type, "ntk") == 0)
        type = "ntk_fixed";
    keys->type = type;
}

static void read_theta(const model_config *config, rotary_keys *keys)
{
    const rotary_facts *facts = keys->facts;
    bool local = keys->is_local;
    const char *names = local && facts->local_theta_keys ? facts->local_theta_keys
                        : facts->theta_keys              ? facts->theta_keys
                                                         : "rope_theta";
    double fallback = local && facts->local_theta > 0 ? facts->local_theta : facts->theta;
    bool older = config->planner->plan->options->convention == API_CONVENTION_4_53;
    if (older && facts->theta_4_53 > 0)
        fallback = facts->theta_4_53;
    if (fallback == 0)
        fallback = 10000;
    model_number beside = {false, fallback, model_default(config)};
    if (*names)
        beside = model_real(config, names, fallback);
    model_number inside = model_real(&keys->dictionary, "rope_theta", NAN);
    keys->theta = isnan(inside.value) ? beside : inside;
    if (beside.given && inside.given && beside.value != inside.value)
        model_note(config->planner->plan->notes, "%s wins over %s, as in transformers.",
                   model_word_origin(config, inside.from),
                   model_word_origin(config, beside.from));
    if (!keys->theta.given && facts->theta_4_53 > 0)
        model_note(config->planner->plan->notes,
                   "The config has no rope_theta: releases up to 4.53 take %g, later ones %g.",
                   facts->theta_4_53, facts->theta > 0 ? facts->theta : 10000);
}

/* hidden_size / num_attention_heads, which must be an integer. */
static model_number divide_width(const model_config *config, const rotary_facts *facts)
{
    model_number hidden = model_width(config, NULL, facts->hidden);
    model_number heads = model_heads(config, NULL, facts->heads);
    if (facts->floored)
        hidden.value -= fmod(hidden.value, heads.value);
    return model_divide(config, hidden, heads, ", or head_dim be given");
}

/* The width of a head: its key, the class's own, or a quotient, as where the key is null. */
static void read_head(const model_config *config, rotary_keys *keys)
{
    const rotary_facts *facts = keys->facts;
    bool global = facts->global_head > 0 && keys->layer_type && !keys->is_local;
    const char *names = global             ? facts->global_keys
                        : facts->head_keys ? facts->head_keys
                                           : "head_dim";
    double fallback = global ? facts->global_head : facts->head;
    model_number none = {.value = NAN};
    keys->head = *names ? model_integer(config, names, NAN) : none;
    if (keys->head.given && keys->head.value == 0) /* as Python's `or` */
        keys->head.given = false;
    api_origin from;
    bool is_null = strcmp(names, "head_dim") == 0 && model_find(config, "hidden_size", &from) &&
                   model_find(config, "num_attention_heads", &from) &&
                   json_is_null(json_object_get(config->object, names));
    if (!keys->head.given)
        keys->head = fallback > 0 && !is_null
                         ? (model_number){false, fallback, model_default(config)}
                         : divide_width(config, facts);
    if (keys->head.given && (keys->head.value < 1 || keys->head.value > 65536)) {
        model_refuse(config, keys->head.from, NULL, "from 1 to 65536 columns");
        keys->head.value = NAN;
    }
}

static void read_part_that_turns(const model_config *config, rotary_keys *keys)
{
    const rotary_facts *facts = keys->facts;
    static const char key[] = "partial_rotary_factor";
    const char *beside_keys = facts->partial_keys ? facts->partial_keys : key;
    double fallback = facts->partial > 0 ? facts->partial : 1;
    bool scaled = strcmp(keys->type, "default") != 0;
    keys->partial = (model_number){false, fallback, model_default(config)};
    keys->width = (model_number){.value = NAN};
    if (facts->width_key)
        keys->width = model_integer(config, facts->width_key, model_or_nan(facts->width));
    if (!isnan(keys->width.value) && strcmp(keys->type, "proportional") == 0) {
        keys->partial = keys->width; /* a law of whole heads */
        keys->partial.value /= keys->head.value;
        keys->width.value = NAN;
        return;
    }
    if (isnan(keys->width.value) && (facts->partial > 0 || scaled) && *beside_keys) {
        model_number beside = model_real(config, beside_keys, NAN);
        model_number inside = model_real(&keys->dictionary, key, NAN);
        if (beside.given)
            keys->partial = beside;
        if (inside.given)
            keys->partial = inside;
        if (inside.given && beside.given && inside.value != beside.value)
            model_note(config->planner->plan->notes,
                       "%s wins over %s, as in transformers since 5.16; up to 5.0 it is the "
                       "other way round.",
                       inside.from.path, beside.from.path);
    }
}

/* What MLX's configs have beside the keys of Hugging Face's: whether pairs are neighbours. */
#define MLX_PAIRING "rope_traditional"

rotary_keys model_rotary_keys(model_config *config, const rotary_facts *facts,
                              const char *layer_type, bool is_local)
{
    rotary_keys keys = {.facts = facts, .layer_type = layer_type, .is_local = is_local};
    keys.dictionary = find_dictionary(config, &keys);
    read_type(&keys);
    read_theta(config, &keys);
    read_head(config, &keys);
    read_part_that_turns(config, &keys);
    keys.longest =
        model_integer(config, "max_position_embeddings", model_or_nan(facts->length));
    keys.original = model_integer(config, "original_max_position_embeddings",
                                  model_or_nan(facts->original));
    if (isnan(keys.original.value) && strcmp(keys.type, "default") != 0)
        keys.original =
            model_integer(&keys.dictionary, "original_max_position_embeddings", NAN);
    keys.interleaved =
        model_flag(config, facts->interleave_key ? facts->interleave_key : MLX_PAIRING,
                   facts->interleaved, &keys.interleaved_from);
    if (facts->own)
        facts->own(config, &keys);
    if (keys.width.value > keys.head.value)
        model_refuse(config, keys.width.from, NULL, "at most %g, the columns of a head",
                     keys.head.value);
    return keys;
}
