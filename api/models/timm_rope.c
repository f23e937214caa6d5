/* Rotary tables of timm's Eva: EVA-02, DINOv3, the perception encoder, RoPE-ViT. */
#include "models/planning.h"

#include <math.h>
#include <string.h>

/* RotaryEmbeddingCat: cells are counted, and stretched to the grid of the pretraining. */
static void add_counted_cells(const model_config *config, api_model_part *part)
{
    api_origin from;
    const json_t *given = model_find(config, "ref_feat_shape", &from);
    double sides[2] = {json_number_value(given), json_number_value(given)};
    for (size_t axis = 0; json_is_array(given) && axis < 2; axis++)
        sides[axis] = json_number_value(json_array_get(given, axis));
    if (given && !(sides[0] >= 1 && sides[1] >= 1)) {
        model_refuse(config, from, given, "a number of cells, or two of them");
        return;
    }
    model_argument(part, "preset", "eva", model_default(config));
    if (given) {
        model_argument_numbers(part, "reference_sizes", sides, 2, from);
        model_fact_numbers(part, "reference_grid", sides, 2, from);
    }
    const char *order = model_choice(config, "rope_grid_indexing", "ij xy", "ij", &from);
    if (strcmp(order, "xy") == 0)
        model_argument(part, "axis_order", "reversed", from);
    model_fact_text(part, "columns", *order == 'x' ? "x, then y" : "y, then x", from);
    const model_number first = model_real(config, "rope_grid_offset", 0);
    if (first.value != 0)
        model_argument_numbers(part, "first_index", &first.value, 1, first.from);
    model_use_key(config->planner->used, first.from);
}

/* RotaryEmbeddingDinoV3: centres of cells from -1 to 1. */
static void add_centres(const model_config *config, api_model_part *part)
{
    model_argument(part, "preset", "dinov3", model_default(config));
    model_fact_text(part, "coordinates", "(k + 0.5) / N * 2 - 1, times 2 pi",
                    model_default(config));
    model_fact_text(part, "columns", "y, then x", model_default(config));
}

/* Refuse a class of tables with attention that turns other columns than these have. */
static void check_halves(const model_config *config, bool is_centred)
{
    api_origin from;
    const bool is_half = model_flag(config, "rope_rotate_half", false, &from);
    if (is_half != is_centred)
        model_refuse(
            config, from, is_half ? json_true() : json_false(),
            "true with rope_type dinov3 and false with cat, else the class turns other "
            "columns than its table has, which is no rotation");
}

/* The width of a head, and the base of the frequencies. */
static void add_frequencies(const model_config *config, const grid_facts *facts,
                            api_model_part *part)
{
    const model_number width = model_required(config, "embed_dim", 768, 1);
    const model_number heads = model_required(config, "num_heads", 12, 1);
    const model_number theta = model_real(config, "rope_temperature", facts->theta);
    const model_number head = model_divide(config, width, heads, "");
    model_fact_number(part, "head_dim", head.value, head.from);
    model_fact_number(part, "rotary_dim", head.value, head.from);
    model_argument_number(part, "dim", head.value, head.from);
    model_state_number(part, "rope_theta", theta);
}

void model_plan_timm_rope(model_config *config, const void *grid_rule)
{
    api_origin from;
    const char *kind = model_choice(config, "rope_type", "cat dinov3", "cat", &from);
    const model_number prefix = model_integer(config, "prefix_tokens", 1);
    const bool is_centred = strcmp(kind, "dinov3") == 0;
    check_halves(config, is_centred);
    api_model_part *part = model_part_new(config, NULL, "rope_2d");
    part->pairing = is_centred ? "half" : "interleaved";
    if (!is_centred)
        add_counted_cells(config, part);
    else
        add_centres(config, part);
    add_frequencies(config, grid_rule, part);
    const model_cells grid = model_read_cells(config, "image_size", (const double[]){224, 224},
                                              "patch_size", 16, true);
    model_argument_numbers(part, "sizes", grid.sides, 2, grid.from);
    model_fact_numbers(part, "grid", grid.sides, 2, grid.from);
    model_fact_number(part, "rows", grid.sides[0] * grid.sides[1] + prefix.value, grid.from);
    model_fact_text(part, "layout", part->pairing, model_default(config));
    model_argument_number(part, "prefix", prefix.value, prefix.from);
    model_argument(part, "table", config->planner->plan->options->table, MODEL_QUERY);
    model_note(part->notes, "Class and register tokens come before the grid and do not turn.");
    model_part_use(config, part, "axial_rope", "cos sin inv_freq coordinates");
}
