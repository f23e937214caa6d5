/* Positions on grids, which have facts, and what takes the place of positions. */
#include "models/types.h"

#include "json/document.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static double or_nan(double number)
{
    return number > 0 ? number : NAN;
}

/* The width of a head: its key, or width / heads. */
static void add_head(const model_config *config, const grid_facts *facts, api_model_part *part)
{
    model_number head = facts->head_keys
                            ? model_integer(config, facts->head_keys, or_nan(facts->head))
                            : (model_number){.value = NAN};
    if (isnan(head.value) && (facts->heads_keys || facts->width_keys || !facts->head_keys)) {
        model_number width =
            model_required(config, facts->width_keys ? facts->width_keys : "hidden_size",
                           or_nan(facts->width), 1);
        model_number heads = model_required(
            config, facts->heads_keys ? facts->heads_keys : "num_attention_heads",
            or_nan(facts->heads), 1);
        head.value = floor(width.value / heads.value);
        head.from =
            model_keep(config->planner, json_sprintf("%s / %s", width.from, heads.from));
    }
    model_fact_number(part, "head_dim", head.value, head.from);
    model_fact_number(part, "rotary_dim", head.value, head.from);
}

/* The grid of the image: that of the request, or of the config. */
static void add_cells(const model_config *config, const grid_facts *facts, api_model_part *part)
{
    const api_model_options *options = config->planner->plan->options;
    model_number patch = model_integer(
        config, facts->patch_keys ? facts->patch_keys : "patch_size", or_nan(facts->patch));
    const char *from = "query";
    double height = (double)options->height, width = (double)options->width;
    if (height == 0 && facts->image > 0) {
        model_number image = model_integer(config, "image_size", facts->image);
        height = width = image.value;
        from = image.from;
    }
    if (height == 0 || !(patch.value >= 1))
        return;
    double cells[2] = {floor(height / patch.value), floor(width / patch.value)};
    model_fact(part, "grid",
               json_pack("[o,o]", api_document_number(cells[0]), api_document_number(cells[1])),
               from);
    model_fact_number(part, "rows", cells[0] * cells[1] + facts->more, from);
}

/* A copy of a value with integers for reals that are integral, also in a list. */
static json_t *copy_number(const json_t *value)
{
    if (json_is_number(value))
        return api_document_number(json_number_value(value));
    if (!json_is_array(value))
        return json_deep_copy(value);
    json_t *list = json_array();
    for (size_t i = 0; i < json_array_size(value); i++)
        json_array_append_new(list, copy_number(json_array_get(value, i)));
    return list;
}

/* Numbers of the config that are facts as they are, or lists of them. */
static void add_numbers(const model_config *config, const grid_facts *facts,
                        api_model_part *part)
{
    for (size_t i = 0; facts->numbers[i]; i += 3) {
        const char *from;
        json_t *value = model_find(config, facts->numbers[i + 1], &from);
        json_error_t ignored;
        if (value && !json_is_object(value))
            model_fact(part, facts->numbers[i], copy_number(value), from);
        else if (*facts->numbers[i + 2])
            model_fact(part, facts->numbers[i],
                       json_loads(facts->numbers[i + 2], JSON_DECODE_ANY, &ignored),
                       model_default_of(config));
    }
}

/* The rows and the indices of a table of relative positions in a window: (2w-1)^2 and w^2. */
static void add_window(const model_config *config, api_model_part *part)
{
    const char *from;
    const json_t *given = model_find(config, "window_size", &from);
    double window[2];
    for (size_t axis = 0; axis < 2; axis++) {
        window[axis] = json_is_array(given) ? json_number_value(json_array_get(given, axis))
                                            : model_integer(config, "window_size", 7).value;
        if (!(window[axis] >= 1 && window[axis] <= 4096)) {
            model_refuse(config->planner, from, given, "a window of 1 to 4096 cells a side");
            return;
        }
    }
    double cells = window[0] * window[1];
    if (!given)
        from = model_default_of(config);
    model_fact(
        part, "window",
        json_pack("[o,o]", api_document_number(window[0]), api_document_number(window[1])),
        from);
    model_fact_number(part, "rows", (2 * window[0] - 1) * (2 * window[1] - 1), from);
    model_fact(part, "index",
               json_pack("[o,o]", api_document_number(cells), api_document_number(cells)),
               from);
}

void model_plan_grid(model_config *config, const void *grid_rule)
{
    const grid_facts *facts = grid_rule;
    api_model_part *part = model_part_new(config, facts->suffix, facts->kind);
    bool rotary = strncmp(facts->kind, "rope", 4) == 0;
    if (rotary) {
        part->pairing = facts->interleaved ? "interleaved" : "half";
        if (strcmp(facts->kind, "rope_nd") != 0)
            add_head(config, facts, part);
        model_number theta =
            facts->theta_keys && !*facts->theta_keys
                ? (model_number){false, facts->theta, model_default_of(config)}
                : model_real(config, facts->theta_keys ? facts->theta_keys : "rope_theta",
                             facts->theta);
        model_config inside = model_object(config, "rope_parameters");
        model_number theta_inside = model_real(&inside, "rope_theta", NAN);
        if (theta_inside.given && !(facts->theta_keys && !*facts->theta_keys))
            theta = theta_inside;
        model_fact_number(part, "rope_theta", theta.value, theta.from);
        model_fact_text(part, "layout", part->pairing, model_default_of(config));
    }
    if (strcmp(facts->kind, "swin_relative_bias") == 0 && !facts->suffix)
        add_window(config, part);
    if (facts->image > 0 || facts->patch > 0)
        add_cells(config, facts, part);
    for (size_t i = 0; facts->facts[i]; i += 2)
        model_fact_text(part, facts->facts[i], facts->facts[i + 1], model_default_of(config));
    add_numbers(config, facts, part);
    if (facts->note)
        model_note(part->notes, "%s", facts->note);
    model_note(part->notes, "This release has no scheme for it; these are its facts.");
    model_use(config, part, NULL);
}

void model_plan_word(model_config *config, const void *word_rule)
{
    const word_facts *facts = word_rule;
    if (!facts->kind) {
        model_note(config->planner->plan->notes, "%s", facts->note);
        return;
    }
    api_model_part *part = model_part_new(config, facts->kind, facts->kind);
    part->state = API_PART_NOTHING;
    model_note(part->notes, "%s", facts->note);
    if (facts->keys) {
        model_number number = model_integer(config, facts->keys, NAN);
        model_fact_number(part, "size", number.value, number.from);
    }
}

void model_plan_temperature(model_config *config, const void *temperature_rule)
{
    const temperature_facts *facts = temperature_rule;
    const char *from;
    if (facts->llama4) {
        if (!model_flag(config, "attn_temperature_tuning", true, &from))
            return;
        model_number floor_scale = model_real(config, "floor_scale", 8192);
        model_number scale = model_real(config, "attn_scale", 0.1);
        api_model_part *part =
            model_part_new(config, "attention_temperature", "attention_temperature");
        part->state = API_PART_NOTHING;
        model_fact_number(part, "floor_scale", floor_scale.value, floor_scale.from);
        model_fact_number(part, "attn_scale", scale.value, scale.from);
        model_note(part->notes,
                   "Layers without rope multiply queries by 1 + %g ln(1 + floor((position + 1) "
                   "/ %g)).",
                   scale.value, floor_scale.value);
        return;
    }
    model_config dictionary = model_object(config, "rope_parameters");
    model_config older = model_object(config, "rope_scaling");
    if (json_object_size(older.object) > 0)
        dictionary = older;
    model_number beta = model_real(&dictionary, "llama_4_scaling_beta", NAN);
    model_number length = model_real(&dictionary, "original_max_position_embeddings", 16384);
    if (isnan(beta.value))
        return;
    api_model_part *part =
        model_part_new(config, "attention_temperature", "attention_temperature");
    part->state = API_PART_NOTHING;
    model_fact_number(part, "attn_scale", beta.value, beta.from);
    model_fact_number(part, "floor_scale", length.value, length.from);
    model_note(part->notes,
               "Every layer multiplies queries by 1 + %g ln(1 + floor(position / %g)).",
               beta.value, length.value);
}
