/* Positions on grids, which have facts, and what takes the place of positions. */
#include "models/planning.h"

#include "json/document.h"

#include <math.h>
#include <string.h>

/* The width of a head: its key, or width / heads. */
static model_number add_head(const model_config *config, const grid_facts *facts,
                             api_model_part *part)
{
    model_number head = facts->head_keys
                            ? model_integer(config, facts->head_keys, model_or_nan(facts->head))
                            : (model_number){.value = NAN};
    if (isnan(head.value)) {
        model_number width = model_width(config, facts->width_keys, facts->width);
        head = model_divide(config, width, model_heads(config, facts->heads_keys, facts->heads),
                            "");
    }
    model_fact_number(part, "head_dim", head.value, head.from);
    model_fact_number(part, "rotary_dim", head.value, head.from);
    return head;
}

/* The cells of a grid along height and width, 0 where they are unknown. */
typedef struct cells {
    double height, width;
    api_origin from;
} cells;

/* The cells a side of the squares in which rows come. */
static model_number read_merge(const model_config *config, const grid_facts *facts)
{
    bool is_video = config->planner->plan->options->frames > 0;
    if (facts->in_order && !(is_video && strcmp(facts->in_order, "pictures") == 0))
        return (model_number){false, 1, model_default(config)};
    return model_integer(config, "spatial_merge_size", 2);
}

/* The grid of the image: that of the request, of the config, or as many cells as the row says.
 */
static cells read_cells(const model_config *config, const grid_facts *facts)
{
    const api_model_options *options = config->planner->plan->options;
    model_number patch = {true, facts->stride, MODEL_REMARK("the class")};
    if (facts->stride == 0)
        patch = model_integer(config, facts->patch_keys ? facts->patch_keys : "patch_size",
                              model_or_nan(facts->patch));
    model_number height = MODEL_HEIGHT(options), width = MODEL_WIDTH(options);
    if (height.value == 0 && facts->image > 0)
        height = width = model_required(config, "crop_size|image_size", facts->image, 1);
    if (height.value == 0 || !(patch.value >= 1))
        return (cells){facts->cells, facts->cells,
                       MODEL_REMARK("cells of an example, since the config has no image size")};
    double merge = facts->tube > 0 ? read_merge(config, facts).value : 1;
    return (cells){model_patches(config, height, patch.value, merge),
                   model_patches(config, width, patch.value, merge), height.from};
}

static void add_cells(const grid_facts *facts, const cells *grid, api_model_part *part)
{
    if (!(grid->height >= 1))
        return;
    model_fact_numbers(part, "grid", (double[]){grid->height, grid->width}, 2, grid->from);
    model_fact_number(part, "rows", grid->height * grid->width + facts->more, grid->from);
}

/* Frames of a video that share a cell, as the model counts them. */
static double read_frames(const model_config *config, const grid_facts *facts)
{
    double asked = (double)config->planner->plan->options->frames;
    model_number frames =
        model_integer(config, facts->frames_keys, facts->frames > 0 ? facts->frames : 1);
    model_number tube =
        model_integer(config, "tubelet_size", facts->tubelet > 0 ? facts->tubelet : 1);
    return floor((asked > 0 ? asked : frames.value) / (tube.value >= 1 ? tube.value : 1));
}

/* Rows and columns that are counted from the middle of the picture, frames from 0. */
static void add_first_cells(const model_config *config, const cells *grid, api_model_part *part)
{
    const double half[2] = {floor(grid->height / 2), floor(grid->width / 2)};
    const double first[3] = {0, half[0] - grid->height, half[1] - grid->width};
    model_argument_numbers(part, "first_index", first, 3, model_default(config));
    model_fact_number(part, "text_first", fmax(half[0], half[1]), model_default(config));
    model_note(part->notes,
               "Rows and columns are counted from -(n - floor(n / 2)); the first token of text "
               "has %g on all axes, the larger half of the picture's sides.",
               fmax(half[0], half[1]));
}

/* What a rotary table has on each axis. */
typedef struct turning {
    model_number head, theta;
} turning;

/* The arguments of the scheme axial_rope. */
static void add_axes(const model_config *config, const grid_facts *facts, const cells *grid,
                     const turning *turned, api_model_part *part)
{
    api_origin from;
    double sizes[3] = {1, grid->height, grid->width};
    const size_t skipped = facts->frames_keys ? 0 : 1;
    json_t *widths = model_list(config, "axes_dims_rope|rope_axes_dim|axes_dim", &from);
    if (facts->frames_keys) {
        sizes[0] = read_frames(config, facts);
        model_use_option(part, "frames");
    }
    model_argument(part, "preset", facts->preset, model_default(config));
    model_argument_numbers(part, "sizes", sizes + skipped, 3 - skipped, grid->from);
    if (facts->centred)
        add_first_cells(config, grid, part);
    model_argument_number(part, "dim", turned->head.value, turned->head.from);
    model_argument_number(part, "rope_theta", turned->theta.value, turned->theta.from);
    if (widths)
        model_argument_list(part, "widths", widths, from);
    if (facts->tube > 0) {
        model_number merge = read_merge(config, facts);
        model_number tube = model_integer(config, "temporal_patch_size", facts->tube);
        double frames = model_frames(config, tube.value);
        model_argument_number(part, "merge_size", merge.value, merge.from);
        if (frames > 0)
            model_argument_number(part, "repeats", frames, MODEL_OPTION("frames"));
        if (frames > 0)
            model_fact_number(part, "rows", grid->height * grid->width * frames,
                              MODEL_OPTION("frames"));
    }
    if (facts->prefix_keys) {
        model_number registers = model_integer(config, facts->prefix_keys, facts->prefix);
        model_argument_number(part, "prefix", registers.value + 1, registers.from);
    }
    model_argument(part, "table", config->planner->plan->options->table, MODEL_QUERY);
    model_part_finish(part, "axial_rope", "cos sin inv_freq coordinates");
}

/* The base of the frequencies of sinusoids, which a preset knows unless a key may change it. */
static void add_temperature(const model_config *config, const char *keys, double fallback,
                            const char *fact, const char *argument, api_model_part *part)
{
    model_number base = {false, fallback > 0 ? fallback : 10000, model_default(config)};
    if (keys)
        base = model_real(config, keys, base.value);
    model_fact_number(part, fact, base.value, base.from);
    if (keys)
        model_argument_number(part, argument, base.value, base.from);
}

/* The arguments of the scheme sinusoidal_2d. */
static void add_sines(const model_config *config, const grid_facts *facts, const cells *grid,
                      api_model_part *part)
{
    model_config holder = facts->object ? model_object(config, facts->object) : *config;
    model_number width = model_required(
        &holder, facts->width_keys ? facts->width_keys : "d_model|hidden_size|hidden_dim", 256,
        1);
    model_fact_number(part, "dim", width.value, width.from);
    model_fact_text(part, "center", facts->centre, model_default(config));
    model_argument(part, "preset", facts->preset, model_default(config));
    add_temperature(config, facts->theta_keys, facts->theta, "temperature", "base", part);
    if (facts->height_theta_keys)
        add_temperature(config, facts->height_theta_keys, facts->theta, "temperature_height",
                        "base_height", part);
    model_argument_number(part, "height", grid->height, grid->from);
    model_argument_number(part, "width", grid->width, grid->from);
    model_argument_number(part, "dim", width.value, width.from);
    model_part_finish(part, "sinusoidal_2d", "encoding");
}

/* The arguments of the scheme random_fourier. */
static void add_features(const model_config *config, const grid_facts *facts, const cells *grid,
                         api_model_part *part)
{
    model_number width = model_required(config, "hidden_size", facts->width, 2);
    const double sizes[2] = {grid->height, grid->width};
    part->state = API_PART_TRAINED;
    model_argument(part, "preset", facts->preset, model_default(config));
    model_argument_numbers(part, "sizes", sizes, 2, grid->from);
    model_argument_number(part, "features", floor(width.value / 2),
                          model_add_remark(config, width.from, " / 2"));
    model_part_finish(part, "random_fourier", "encoding");
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
        api_origin from;
        json_t *value = model_find(config, facts->numbers[i + 1], &from);
        json_error_t ignored;
        if (value && !json_is_object(value))
            model_fact(part, facts->numbers[i], copy_number(value), from);
        else if (*facts->numbers[i + 2])
            model_fact(part, facts->numbers[i],
                       json_loads(facts->numbers[i + 2], JSON_DECODE_ANY, &ignored),
                       model_default(config));
    }
}

/* The facts of rotary tables: width of a head, theta, layout. */
static turning add_rotary(const model_config *config, const grid_facts *facts,
                          api_model_part *part)
{
    bool fixed = facts->theta_keys && !*facts->theta_keys;
    const char *keys = facts->theta_keys ? facts->theta_keys : "rope_theta";
    model_number theta = {false, facts->theta > 0 ? facts->theta : 10000,
                          model_default(config)};
    if (!fixed)
        theta = model_real(config, keys, theta.value);
    part->pairing = facts->interleaved ? "interleaved" : "half";
    const model_number head = add_head(config, facts, part);
    if (!fixed) {
        model_config inside = model_object(config, "rope_parameters");
        model_number inner = model_real(&inside, "rope_theta", NAN);
        theta = inner.given ? inner : theta;
    }
    model_fact_number(part, "rope_theta", theta.value, theta.from);
    model_fact_text(part, "layout", part->pairing, model_default(config));
    return (turning){head, theta};
}

void model_plan_grid(model_config *config, const void *grid_rule)
{
    const grid_facts *facts = grid_rule;
    turning turned = {.head = {.value = NAN}, .theta = {.value = NAN}};
    api_model_part *part = model_part_new(config, facts->suffix, facts->kind);
    if (strncmp(facts->kind, "rope", 4) == 0)
        turned = add_rotary(config, facts, part);
    cells grid = read_cells(config, facts);
    add_cells(facts, &grid, part);
    for (size_t i = 0; facts->facts[i]; i += 2)
        model_fact_text(part, facts->facts[i], facts->facts[i + 1], model_default(config));
    add_numbers(config, facts, part);
    model_part_say(part, facts->note);
    if (facts->scheme && strcmp(facts->scheme, "axial_rope") == 0)
        add_axes(config, facts, &grid, &turned, part);
    else if (facts->scheme && strcmp(facts->scheme, "random_fourier") == 0)
        add_features(config, facts, &grid, part);
    else if (facts->scheme)
        add_sines(config, facts, &grid, part);
    if (!part->scheme)
        model_note(part->notes, "This release has no scheme for it; these are its facts.");
    model_use(config, part, NULL);
}

void model_plan_word(model_config *config, const void *word_rule)
{
    const word_facts *facts = word_rule;
    config->planner->is_own_code |= facts->own_code;
    if (!facts->kind) {
        model_note(config->planner->plan->notes, "%s", facts->note);
        config->planner->plan->is_told |= facts->told;
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

/* A factor of queries that grows with their position. */
static void plan_temperature(model_config *config, const char *law, model_number scale,
                             model_number floor_scale, const char *layers)
{
    const bool is_llama4 = strcmp(law, "llama4") == 0;
    api_model_part *part =
        model_part_new(config, "attention_temperature", "attention_temperature");
    part->state = API_PART_NOTHING;
    part->law = law;
    model_fact_number(part, "floor_scale", floor_scale.value, floor_scale.from);
    model_fact_number(part, "attn_scale", scale.value, scale.from);
    model_note(part->notes, "%s queries by 1 + %g ln(1 + floor(%s / %g)).",
               is_llama4 ? "Layers without rope multiply" : "Every layer multiplies",
               scale.value, is_llama4 ? "(position + 1)" : "position", floor_scale.value);
    model_use_besides(config, part, layers);
}

void model_plan_llama4_temperature(model_config *config, const void *nothing)
{
    api_origin from;
    (void)nothing;
    if (model_flag(config, "attn_temperature_tuning", true, &from))
        plan_temperature(config, "llama4", model_real(config, "attn_scale", 0.1),
                         model_real(config, "floor_scale", 8192), "no_rope");
}

void model_plan_temperature(model_config *config, const void *temperature_rule)
{
    const temperature_facts *facts = temperature_rule;
    model_config dictionary = model_object(config, "rope_parameters");
    model_config older = model_object(config, "rope_scaling");
    if (json_object_size(older.object) > 0)
        dictionary = older;
    model_number beta = model_real(&dictionary, "llama_4_scaling_beta",
                                   json_object_size(dictionary.object) > 0 ? NAN : facts->beta);
    model_number length = model_real(&dictionary, "original_max_position_embeddings",
                                     facts->length > 0 ? facts->length : 16384);
    if (!isnan(beta.value))
        plan_temperature(config, "ministral3", beta, length, NULL);
}
