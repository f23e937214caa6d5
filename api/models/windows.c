/* What attention adds by the offset of two cells of a window or a grid: Swin's tables, Swin
 * v2's networks, BEiT's tables and decomposed ones. The indices are computed; what they point
 * into is trained, for each layer its own. */
#include "models/planning.h"

#include "json/document.h"

#include <math.h>
#include <string.h>

/* Add the rows of a table for a window and the sides of its index. */
static void add_sizes(api_model_part *part, const double window[2], double more,
                      api_origin from)
{
    double tokens = window[0] * window[1] + (more > 0 ? 1 : 0);
    model_fact_numbers(part, "window", (double[]){window[0], window[1]}, 2, from);
    model_fact_number(part, "rows", (2 * window[0] - 1) * (2 * window[1] - 1) + more, from);
    model_fact_numbers(part, "index", (double[]){tokens, tokens}, 2, from);
}

static void note_trained(api_model_part *part, bool is_network)
{
    model_note(part->notes, "The index %s computed; the %s of each layer is trained.",
               is_network ? "and the coordinates are" : "is", is_network ? "network" : "table");
}

/* ---- Swin ---- */

/* A number for each stage: a list of the config, or that of the class. */
typedef struct stage_list {
    double items[MODEL_STAGES];
    size_t count;
    api_origin from;
} stage_list;

/* False, with a problem, if it is no list of whole numbers of at least `least`. */
static bool read_stages(const model_config *config, const char *key, const double fallback[],
                        double least, stage_list *ret_list)
{
    json_t *list = model_list(config, key, &ret_list->from);
    ret_list->count = json_array_size(list);
    if (!list) {
        ret_list->from = model_default(config);
        for (size_t i = 0; i < MODEL_STAGES; i++)
            ret_list->items[i] = fallback[i];
        while (ret_list->count < MODEL_STAGES && fallback[ret_list->count] > 0)
            ret_list->count++;
        return true;
    }
    bool fits = ret_list->count >= 1 && ret_list->count <= MODEL_STAGES;
    for (size_t i = 0; fits && i < ret_list->count; i++) {
        const json_t *item = json_array_get(list, i);
        ret_list->items[i] = json_number_value(item);
        fits = json_is_number(item) && ret_list->items[i] >= least &&
               ret_list->items[i] <= 65536 && floor(ret_list->items[i]) == ret_list->items[i];
    }
    if (!fits)
        model_refuse(config, ret_list->from, NULL,
                     "a list of 1 to %d integers, one for each stage, from %g to 65536",
                     MODEL_STAGES, least);
    return fits;
}

void model_plan_cvt(model_config *config, const void *nothing)
{
    static const double DEPTHS[MODEL_STAGES] = {1, 2, 10};
    stage_list list = {0};
    (void)nothing;
    if (read_stages(config, "depth", DEPTHS, 1, &list)) {
        model_use_key(config->planner->used, list.from);
        model_plan_stages(config, list.items, list.count, list.from);
    }
}

/* What all stages of a model share. */
typedef struct swin_keys {
    const swin_facts *facts;
    double windows[MODEL_STAGES][2];
    api_origin window_from;
    stage_list depths, heads, pretrained;
    double cells[2]; /* sides of the first stage; NAN: windows never shrink */
} swin_keys;

/* The sides of the window of each stage. False, with a problem, if it is none. */
static bool read_windows(const model_config *config, swin_keys *keys)
{
    const swin_facts *facts = keys->facts;
    const json_t *given = model_find(config, "window_size", &keys->window_from);
    const size_t count = json_array_size(given);
    const bool by_stage = facts->by_stage && json_is_array(given) && count != 2;
    if (by_stage && count != keys->depths.count) {
        model_refuse(config, keys->window_from, given,
                     "one number, two, or one for each of the %zu stages", keys->depths.count);
        return false;
    }
    for (size_t i = 0; i < 2 * keys->depths.count; i++) {
        const json_t *item = json_array_get(given, by_stage ? i / 2 : i % 2);
        double *side = &keys->windows[i / 2][i % 2];
        if (json_is_array(item))
            item = json_array_get(item, i % 2);
        *side = json_is_array(given)
                    ? json_number_value(item)
                    : model_integer(config, "window_size", facts->window).value;
        if (!(*side >= 1 && *side <= 4096)) {
            model_refuse(config, keys->window_from, given,
                         "a window of 1 to 4096 cells a side");
            return false;
        }
    }
    if (!given)
        keys->window_from = model_default(config);
    return true;
}

/* The cells of the first stage, where windows shrink to those of their stage: transformers' are
 * squares of the height. */
static void read_stage_cells(const model_config *config, swin_keys *keys)
{
    const swin_facts *facts = keys->facts;
    api_origin from;
    keys->cells[0] = keys->cells[1] = NAN;
    if (facts->image == 0 ||
        (facts->by_stage && model_flag(config, "always_partition", false, &from)))
        return;
    for (size_t axis = 0; axis < 2; axis++) {
        const size_t side = facts->by_stage ? axis : 0;
        keys->cells[axis] =
            model_patches(config, model_side(config, "image_size", facts->image, side),
                          model_side(config, "patch_size", facts->patch, side).value, 1);
    }
}

/* False, with problems, if the keys contradict each other. */
static bool read_swin(model_config *config, swin_keys *keys)
{
    static const double NONE[MODEL_STAGES] = {0};
    const swin_facts *facts = keys->facts;
    if (!read_stages(config, "depths", facts->depths, 1, &keys->depths) ||
        !read_windows(config, keys) ||
        !read_stages(config, facts->heads_keys, facts->heads, 1, &keys->heads))
        return false;
    if (keys->heads.count != keys->depths.count) {
        model_refuse(config, keys->heads.from, NULL,
                     "a list of %zu numbers, one for each stage of %s; it has %zu",
                     keys->depths.count, model_word_origin(config, keys->depths.from),
                     keys->heads.count);
        return false;
    }
    read_stage_cells(config, keys);
    return !facts->pretrained ||
           read_stages(config, "pretrained_window_sizes", NONE, 0, &keys->pretrained);
}

/* Swin v2: the network was trained with another window, and one that is larger than the grid of
 * the stage shrinks to it. */
static void add_network(const model_config *config, const swin_keys *keys, size_t stage,
                        api_model_part *part)
{
    double size = stage < keys->pretrained.count ? keys->pretrained.items[stage] : 0;
    model_fact_text(part, "formula", "16 sigmoid of a network of log-spaced coordinates",
                    model_default(config));
    if (size <= 0)
        return;
    model_fact_number(part, "pretrained_window", size, keys->pretrained.from);
    model_argument_number(part, "pretrained_height", size, keys->pretrained.from);
    model_argument_number(part, "pretrained_width", size, keys->pretrained.from);
}

static void plan_stage(model_config *config, const swin_keys *keys, size_t stage)
{
    const swin_facts *facts = keys->facts;
    const char *name = model_keep(config->planner, json_sprintf("stage%d", (int)stage + 1));
    api_model_part *part =
        model_part_new(config, name, facts->network ? "swin_v2_bias" : "swin_relative_bias");
    double window[2] = {keys->windows[stage][0], keys->windows[stage][1]};
    api_origin from = keys->window_from;
    bool is_cut = false;
    for (size_t axis = 0; axis < 2; axis++) {
        const double side = keys->cells[axis],
                     cells = facts->halved ? floor(ldexp(side, -(int)stage)) : side;
        is_cut = is_cut || window[axis] > cells;
        if (window[axis] > cells)
            window[axis] = cells < 1 ? 1 : cells;
    }
    if (is_cut)
        from = model_add_remark(config, from, ", cut to the cells of the stage");
    add_sizes(part, window, 0, from);
    model_fact_number(part, "heads", keys->heads.items[stage], keys->heads.from);
    json_t *all = json_array();
    for (size_t i = 0; i < keys->heads.count; i++)
        json_array_append_new(all, api_document_number(keys->heads.items[i]));
    model_fact(part, "heads_per_stage", all, keys->heads.from);
    model_argument_number(part, "height", window[0], from);
    model_argument_number(part, "width", window[1], from);
    model_argument_number(part, "heads", keys->heads.items[stage], keys->heads.from);
    if (facts->network)
        add_network(config, keys, stage, part);
    note_trained(part, facts->network);
    if (facts->network)
        model_part_finish(part, "swin_v2", "index coordinates");
    else
        model_part_finish(part, "swin", "index");
    model_use(config, part, name);
}

void model_plan_swin(model_config *config, const void *swin_rule)
{
    swin_keys keys = {.facts = swin_rule};
    if (!read_swin(config, &keys) ||
        !model_plan_stages(config, keys.depths.items, keys.depths.count, keys.depths.from))
        return;
    for (size_t stage = 0; stage < keys.depths.count; stage++)
        plan_stage(config, &keys, stage);
}

/* ---- BEiT ---- */

void model_plan_beit(model_config *config, const void *cells_rule)
{
    const cells_facts *facts = cells_rule;
    api_model_part *part = model_part_new(config, "bias", "swin_relative_bias");
    model_number heads = model_heads(config, NULL, facts->heads);
    const double image[2] = {facts->image[0], facts->image[0]};
    const model_cells cells =
        model_read_cells(config, "image_size", image, "patch_size", facts->patch, false);
    add_sizes(part, cells.sides, 3, cells.from);
    model_argument(part, "preset", "beit", model_default(config));
    model_argument_number(part, "height", cells.sides[0], cells.from);
    model_argument_number(part, "width", cells.sides[1], cells.from);
    model_state_number(part, "heads", heads);
    model_note(part->notes, "Three rows of the table are for the class token.");
    note_trained(part, false);
    model_part_use(config, part, "swin", "index");
}

/* ---- decomposed ---- */

/* Plan the two tables of layers of a type, whose attention sees these cells; `source` is what
 * the tables were made for. */
static void plan_decomposed(model_config *config, const cells_facts *facts, const char *type,
                            const model_cells *seen, const double source[2])
{
    api_model_part *part = model_part_new(config, type, "decomposed");
    model_number head = model_divide(config, model_width(config, NULL, facts->width),
                                     model_heads(config, NULL, facts->heads), "");
    model_fact_numbers(part, "window", seen->sides, 2, seen->from);
    model_fact_numbers(part, "rel_pos_h", (double[]){2 * source[0] - 1, head.value}, 2,
                       seen->from);
    model_fact_numbers(part, "rel_pos_w", (double[]){2 * source[1] - 1, head.value}, 2,
                       seen->from);
    model_argument_number(part, "height", seen->sides[0], seen->from);
    model_argument_number(part, "width", seen->sides[1], seen->from);
    model_state_number(part, "dim", head);
    model_argument_number(part, "source_height", source[0], MODEL_IMAGE_CELLS);
    model_argument_number(part, "source_width", source[1], MODEL_IMAGE_CELLS);
    model_note(
        part->notes,
        "The indices are computed; the tables of each layer, rel_pos_h and rel_pos_w, are "
        "trained.");
    model_part_finish(part, "decomposed", "index_h index_w");
    model_use(config, part, facts->windows ? type : NULL);
}

void model_plan_decomposed(model_config *config, const void *cells_rule)
{
    const cells_facts *facts = cells_rule;
    const double image[2] = {facts->image[0], facts->image[facts->image[1] > 0 ? 1 : 0]};
    model_number window = {.value = 0};
    if (facts->windows)
        window = model_integer(config, "window_size", facts->window);
    if (window.value < 0 || window.value > 4096) {
        model_refuse(config, window.from, NULL, "from 0 to 4096 cells a side");
        return;
    }
    const model_cells made =
        model_read_cells(config, "image_size", image, "patch_size", facts->patch, false);
    const model_cells whole =
        model_read_cells(config, "image_size", image, "patch_size", facts->patch, true);
    const model_cells square = {{window.value, window.value}, window.from};
    if (window.value == 0 || model_has_layers(config, "global"))
        plan_decomposed(config, facts, "global", &whole, made.sides);
    if (window.value > 0 && model_has_layers(config, "window"))
        plan_decomposed(config, facts, "window", &square, square.sides);
}
