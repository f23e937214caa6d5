/* Rotary parts of a component: one table, one for each of two types of layers, or one for short
 * and one for long sequences. */
#include "models/rotary.h"

#include "json/document.h"

#include <math.h>
#include <string.h>

static const char PROMPT[] = "mrope"; /* the kind of a part for a prompt with a picture */

static double add_numbers(const json_t *numbers)
{
    double sum = 0;
    for (size_t i = 0; i < json_array_size(numbers); i++)
        sum += json_number_value(json_array_get(numbers, i));
    return sum;
}

/* The sections of M-RoPE, those of the config or of the class, which the caller drops. NULL:
 * all pairs turn by one position. */
static json_t *read_sections(const model_config *config, const rotary_keys *keys,
                             api_origin *ret_from)
{
    const rotary_facts *facts = keys->facts;
    *ret_from = keys->sections_from;
    if (keys->sections)
        return json_incref(keys->sections);
    if (facts->sections[0] == 0)
        return NULL;
    json_t *sections = json_array();
    for (size_t i = 0; i < 3; i++)
        json_array_append_new(sections, api_document_number(facts->sections[i]));
    *ret_from = model_describe_default(config);
    if (add_numbers(sections) == floor(model_rotary_width(keys) / 2))
        return sections;
    json_decref(sections); /* the class's own are for heads of another width */
    return NULL;
}

/* Whether the part is for a prompt with a picture. */
static bool is_prompt(const model_config *config, const rotary_keys *keys)
{
    api_origin from;
    json_t *sections = read_sections(config, keys, &from);
    bool has_sections = sections != NULL;
    json_decref(sections);
    return has_sections && model_has_picture(config, keys->facts->picture);
}

/* What M-RoPE adds: which of three positions each frequency takes. */
static void add_sections(const model_config *config, const rotary_keys *keys,
                         api_model_part *part)
{
    const rotary_facts *facts = keys->facts;
    api_origin from;
    json_t *sections = read_sections(config, keys, &from);
    if (!sections)
        return;
    double sum = add_numbers(sections), wanted = floor(model_rotary_width(keys) / 2);
    if (sum != wanted && !isnan(wanted))
        model_refuse(config->planner, from, NULL,
                     "numbers whose sum is that of the pairs of columns, %g; it is %g", wanted,
                     sum);
    json_t *whole = json_array();
    for (size_t i = 0; i < json_array_size(sections); i++)
        json_array_append_new(
            whole, api_document_number(json_number_value(json_array_get(sections, i))));
    model_fact(part, "mrope_section", whole, from);
    model_fact(part, "mrope_interleaved", json_boolean(facts->sections_interleaved),
               model_describe_default(config));
    const char *axes = facts->axes ? facts->axes : "thw";
    model_fact(part, "axes", json_pack("[s#,s#,s#]", axes, 1, axes + 1, 1, axes + 2, 1),
               model_describe_default(config));
    const char *order = facts->axes                   ? "alternating"
                        : facts->sections_interleaved ? "interleaved"
                                                      : "chunked";
    if (strcmp(part->kind, PROMPT) == 0) {
        model_argument_list(config, part, "mrope_section", sections, from);
        model_argument(config, part, "section_order", order, model_describe_default(config));
    } else {
        model_note(part->notes,
                   "M-RoPE: a token of a picture has three positions, and mrope_section says "
                   "which frequencies take which. These tables are those of text, whose "
                   "positions are equal. %s, with section_order=%s.",
                   facts->picture
                       ? "image= and frames= give those of a prompt with a picture or a video"
                       : "For a prompt with pictures give these arguments to the scheme mrope",
                   order);
    }
    json_decref(sections);
}

static void add_facts(const rotary_keys *keys, api_model_part *part)
{
    double width = model_rotary_width(keys);
    model_fact_number(part, "head_dim", keys->head.value, keys->head.from);
    if (width != keys->head.value)
        model_fact_number(part, "rotary_dim", width,
                          isnan(keys->width.value) ? keys->partial.from : keys->width.from);
    else
        model_fact_number(part, "rotary_dim", width,
                          keys->partial.given ? keys->partial.from
                                              : MODEL_REMARK("the whole head"));
    model_fact_number(part, "rope_theta", keys->theta.value, keys->theta.from);
    model_fact_text(part, "layout", part->pairing, keys->interleaved_from);
}

/* How much transformers multiplies the scores by, outside of the tables. */
static void add_softmax_scale(const rotary_keys *keys, api_model_part *part)
{
    if (!keys->facts->softmax_scale)
        return;
    model_number mscale = model_real(&keys->dictionary, "mscale_all_dim", NAN);
    model_number factor = model_real(&keys->dictionary, "factor", NAN);
    if (isnan(mscale.value) || mscale.value == 0 || isnan(factor.value))
        return;
    double scale = factor.value <= 1 ? 1 : 0.1 * mscale.value * log(factor.value) + 1;
    model_fact_number(part, "softmax_scale_factor", scale * scale, mscale.from);
    model_note(part->notes, "DeepSeek's code multiplies the scores by softmax_scale_factor, "
                            "(0.1 mscale_all_dim ln factor + 1)^2; the tables do not hold it.");
}

/* The position of row 0: that of the request, or of the component's first token. */
static void add_first_position(const model_config *config, api_model_part *part)
{
    bool asked = config->planner->plan->options->offset != NULL;
    model_argument_offset(config, part, asked ? 0 : config->first,
                          model_describe_default(config));
    if (config->first == 0)
        return;
    model_fact_number(part, "first_position", config->first, model_describe_default(config));
    model_note(part->notes, "The model's first token has position %g, not 0%s.", config->first,
               asked ? "; offset of the request says which one row 0 has" : "");
}

/* An odd width w has (w + 1) / 2 frequencies theta^(-2i/w): those of w + 1 columns with
 * another theta. */
static void add_odd_columns(const model_config *config, const rotary_keys *keys, double width,
                            api_model_part *part)
{
    double theta = pow(keys->theta.value, (width + 1) / width);
    model_argument_number(config, part, "dim", width + 1,
                          model_add_remark(config, keys->partial.from, ", one column more"));
    model_argument_number(
        config, part, "rope_theta", theta,
        model_add_remark(config, keys->theta.from, "^(%g/%g)", width + 1, width));
    model_note(part->notes,
               "The width is odd: the class has %g frequencies theta^(-2i/%g) and turns %g "
               "columns.",
               (width + 1) / 2, width, width + 1);
}

/* The columns that turn, and theta. */
static void add_columns(const model_config *config, const rotary_keys *keys,
                        api_model_part *part)
{
    double width = model_rotary_width(keys);
    bool whole = isnan(keys->width.value);
    if (keys->facts->floored && fmod(width, 2) == 1 && width < keys->head.value &&
        strcmp(keys->type, "default") == 0) {
        add_odd_columns(config, keys, width, part);
        return;
    }
    if (whole)
        model_argument_number(config, part, "dim", keys->head.value, keys->head.from);
    else
        model_argument_number(config, part, "dim", keys->width.value, keys->width.from);
    model_argument_number(config, part, "rope_theta", keys->theta.value, keys->theta.from);
    if (whole && keys->partial.value != 1)
        model_argument_number(config, part, "partial_rotary_factor", keys->partial.value,
                              keys->partial.from);
}

/* Plan one table. */
static api_model_part *plan_table(const model_config *config, const rotary_keys *keys,
                                  const char *suffix, double seq_len)
{
    const api_model_options *options = config->planner->plan->options;
    const rotary_facts *facts = keys->facts;
    bool prompt = is_prompt(config, keys);
    api_model_part *part = model_part_new(config, suffix, prompt ? PROMPT : "rope");
    part->pairing = keys->interleaved ? "interleaved" : "half";
    add_facts(keys, part);
    if (prompt) {
        model_add_prompt(config, facts->picture, keys->longest, part);
    } else {
        model_argument_length(config, part, keys->longest, API_MODEL_ROWS);
        add_first_position(config, part);
    }
    add_columns(config, keys, part);
    model_argument(config, part, "layout", part->pairing, keys->interleaved_from);
    if (options->table)
        model_argument(config, part, "table", options->table, MODEL_QUERY);
    model_rotary_type(config, keys, seq_len, part);
    add_sections(config, keys, part);
    add_softmax_scale(keys, part);
    if (facts->reversed)
        model_note(part->notes, "This model turns by minus the angle: take -sin for sin.");
    if (facts->note)
        model_note(part->notes, "%s", facts->note);
    if (prompt)
        model_part_finish(config, part, "mrope",
                          "cos sin inv_freq position_ids axis rope_delta");
    else
        model_part_finish(config, part, "rope", "cos sin inv_freq");
    return part;
}

/* Whether a layer before the mixtures of experts turns whatever its type: Cohere 2's, where
 * every one of them is of full attention. */
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

/* Let the layers that turn use a part. */
static void use_where_turning(model_config *config, const rotary_facts *facts,
                              const api_model_part *part)
{
    const char *still = facts->still;
    model_plan_layers(config, NULL);
    if (still && facts->still_if &&
        json_is_null(json_object_get(config->object, facts->still_if)))
        still = NULL;
    if (facts->still_if)
        model_use_key(config->planner->used, model_origin(config, facts->still_if));
    model_use(config, part, NULL);
    api_model_component *component = &config->planner->plan->components[config->component];
    size_t without = 0;
    for (size_t i = 0; still && i < component->layer_count; i++)
        if (model_lists(still, component->types[i]) &&
            !(facts->turning_prefix && is_turning_prefix(config, i))) {
            component->layers[i] = -1;
            without++;
        }
    if (without > 0)
        model_note(part->notes, "Layers of the type %s have no positions.", still);
}

/* Let the layers use a part: as their own, or as what turns beside it. */
static void use_table(model_config *config, const rotary_facts *facts, api_model_part *part)
{
    if (facts->besides)
        model_use_besides(config, part, NULL);
    else
        use_where_turning(config, facts, part);
}

/* The suffix of a rule's table for sequences of one kind of length. */
static const char *name_length(const model_config *config, const char *suffix, const char *name)
{
    return suffix ? model_keep(config->planner, json_sprintf("%s.%s", suffix, name)) : name;
}

/* Two tables of longrope: sequences up to the original length have other divisors than longer
 * ones. With seq_len the request has chosen one. */
static void plan_both_lengths(model_config *config, rotary_keys *keys)
{
    const rotary_facts *facts = keys->facts;
    if (isnan(keys->original.value))
        keys->original = keys->longest;
    if (config->planner->plan->options->seq_len > 0) {
        use_table(config, facts, plan_table(config, keys, facts->suffix, 0));
        return;
    }
    api_model_part *brief =
        plan_table(config, keys, name_length(config, facts->suffix, "short_context"),
                   keys->original.value);
    model_note(brief->notes,
               "For sequences of up to %.0f positions; a module starts with these.",
               keys->original.value);
    use_table(config, facts, brief);
    if (keys->longest.value > keys->original.value) {
        api_model_part *extended =
            plan_table(config, keys, name_length(config, facts->suffix, "long_context"),
                       keys->longest.value);
        model_note(extended->notes, "For longer sequences: every layer takes these instead of "
                                    "short_context.");
    }
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
        model_refuse(config->planner, from, NULL, "a list of %zu numbers, one for each layer",
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
        const api_model_part *part = plan_table(config, &keys, name, 0);
        for (size_t other = i; other < component->layer_count; other++)
            if (model_list_number(thetas, other) == theta)
                component->layers[other] = (int32_t)(part - plan->parts);
    }
    if (has_still)
        model_note(plan->notes, "Layers whose item of %s is 0 have no positions.", from.path);
}

/* Whether the config says that nothing turns: a dictionary whose theta is null. */
static bool is_still(const model_config *config, const rotary_facts *facts)
{
    model_config dictionary = model_object(config, "rope_parameters");
    const char key[] = "rope_theta";
    if (!facts->still_without_theta || !json_is_null(json_object_get(dictionary.object, key)))
        return false;
    model_use_key(config->planner->used, model_origin(&dictionary, key));
    model_note(config->planner->plan->notes,
               "No positions: rope_parameters.rope_theta is null.");
    return true;
}

/* Two tables, for layers of two kinds. */
static void plan_both_kinds(model_config *config, const rotary_facts *facts)
{
    const char *names[] = {facts->full_name ? facts->full_name : "full_attention",
                           facts->local_name ? facts->local_name : "sliding_attention"};
    const char *types[] = {facts->full_types ? facts->full_types : names[0],
                           facts->local_types ? facts->local_types : names[1]};
    for (size_t i = 0; i < 2; i++) {
        if (!model_has_layers(config, types[i]))
            continue;
        rotary_keys keys = model_rotary_keys(config, facts, names[i], i == 1);
        model_use(config, plan_table(config, &keys, names[i], 0), types[i]);
    }
}

void model_plan_rotary(model_config *config, const void *rotary_rule)
{
    const rotary_facts *facts = rotary_rule;
    api_origin from;
    const json_t *thetas =
        facts->thetas_key ? model_number_list(config, facts->thetas_key, &from) : NULL;
    if (is_still(config, facts))
        return;
    if (thetas) {
        plan_thetas(config, facts, thetas, from);
    } else if (facts->local_theta > 0) {
        plan_both_kinds(config, facts);
    } else {
        rotary_keys keys = model_rotary_keys(config, facts, NULL, false);
        if (model_rotary_is_longrope(&keys))
            plan_both_lengths(config, &keys);
        else
            use_table(config, facts, plan_table(config, &keys, facts->suffix, 0));
    }
}
