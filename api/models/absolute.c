/* Tables with a row for each position: trained ones, and sinusoids. */
#include "models/planning.h"

#include "json/document.h"

#include <math.h>

/* The row of position 0. */
static model_number read_first(const model_config *config, const table_facts *facts)
{
    model_number first = {.value = facts->first, .from = model_default(config)};
    if (!facts->after_padding)
        return first;
    model_number padding =
        model_integer(config, "pad_token_id|padding_idx", facts->zero_padding ? 0 : 1);
    first.value = padding.value + 1;
    first.from = model_add_remark(config, padding.from, " + 1");
    return first;
}

/* The rows of a table, and how many of them stand for positions. */
static model_number read_rows(const model_config *config, const table_facts *facts)
{
    const char *keys = facts->rows_keys ? facts->rows_keys : "max_position_embeddings";
    model_number rows = {false, facts->rows, model_default(config)};
    if (*keys)
        rows = model_required(config, keys, model_or_nan(facts->rows), 1);
    rows.value += facts->more;
    if (facts->more_keys)
        rows.value += model_integer(config, facts->more_keys, 0).value;
    return rows;
}

/* The columns of a table. */
static model_number read_columns(const model_config *config, const table_facts *facts)
{
    model_number width = model_width(config, facts->width_keys, facts->width);
    model_number parts = {.value = facts->parts};
    if (facts->parts_keys)
        parts = model_required(config, facts->parts_keys, facts->parts, 1);
    if (facts->parts == 0 || isnan(parts.value))
        return width;
    width.value = floor(width.value / parts.value);
    width.from = facts->parts_keys ? model_divide_origins(config, width, parts)
                                   : model_add_remark(config, width.from, " / %g", parts.value);
    return width;
}

void model_plan_learned(model_config *config, const void *table_rule)
{
    const table_facts *facts = table_rule;
    model_number rows = read_rows(config, facts), first = read_first(config, facts);
    model_number width = read_columns(config, facts);
    api_model_part *part = model_part_new(config, facts->suffix, "learned");
    part->state = API_PART_TRAINED;
    if (first.value < 0 || first.value >= rows.value) {
        model_refuse(config, first.from, NULL, "below the %g rows of the table", rows.value);
        return;
    }
    model_fact_number(part, "rows", rows.value, rows.from);
    model_fact_number(part, "dim", width.value, width.from);
    model_fact_number(part, "offset", first.value, first.from);
    if (first.value > 0)
        model_note(part->notes, "Position 0 has row %g; %g rows stand for positions.",
                   first.value, rows.value - first.value);
    model_number positions = {rows.given, rows.value - first.value, rows.from};
    model_argument_limited_length(part, positions, API_MODEL_ROWS);
    model_argument_offset(part, 0, MODEL_QUERY);
    model_argument_number(part, "dim", width.value, width.from);
    model_argument_number(part, "base_length", rows.value, rows.from);
    if (first.value > 0)
        model_argument_number(part, "row_offset", first.value, first.from);
    model_part_say(part, facts->note);
    model_part_use(config, part, "learned", "encoding");
}

void model_plan_sinusoidal(model_config *config, const void *table_rule)
{
    const table_facts *facts = table_rule;
    model_number rows = read_rows(config, facts), first = read_first(config, facts);
    model_number width = read_columns(config, facts);
    api_model_part *part = model_part_new(config, facts->suffix, "sinusoidal");
    model_fact_number(part, "rows", rows.value, rows.from);
    model_fact_number(part, "dim", width.value, width.from);
    model_fact_text(part, "layout", facts->layout, model_default(config));
    model_fact_text(part, "frequencies", facts->frequencies, model_default(config));
    model_fact_number(part, "offset", first.value, first.from);
    model_number positions = {rows.given, rows.value - first.value, rows.from};
    if (!(positions.value >= 1))
        positions.value = rows.value;
    model_argument_length(part, positions, API_MODEL_ROWS);
    model_argument_offset(part, first.value, first.from);
    model_note_past(part, rows);
    model_argument_number(part, "dim", width.value, width.from);
    if (facts->base_keys) {
        model_number base = model_real(config, facts->base_keys, 10000);
        model_argument_number(part, "base", base.value, base.from);
    }
    model_argument(part, "layout", facts->layout, model_default(config));
    model_argument(part, "frequencies", facts->frequencies, model_default(config));
    if (fmod(width.value, 2) != 0)
        model_argument(part, "odd_dim", "pad", model_default(config));
    if (facts->stored)
        model_note(part->notes, "The checkpoint holds this table as well.");
    model_part_say(part, facts->note);
    model_part_use(config, part, "sinusoidal", "encoding");
}

/* FSMT's, which has more rows for those before position 0. */
void model_plan_fsmt(model_config *config, const void *table_rule)
{
    table_facts facts = *(const table_facts *)table_rule;
    facts.more = read_first(config, &facts).value;
    model_plan_sinusoidal(config, &facts);
}

void model_plan_resized(model_config *config, const void *table_rule)
{
    api_model_plan *plan = config->planner->plan;
    model_plan_learned(config, table_rule);
    model_fact_text(&plan->parts[plan->part_count - 1], "resized",
                    "bilinear, to the length of the text", MODEL_REMARK("the class"));
}

/* ---- patches of an image ---- */

/* Rows that are those of no patch. */
static double count_tokens(const model_config *config, const patches_facts *facts)
{
    if (!facts->more_keys)
        return facts->more;
    return facts->more + model_integer(config, facts->more_keys, facts->more_by_key).value;
}

/* Add the rows of a table for so many images of the size that the config names, and its grid.
 */
static model_number read_rows_of_cells(const model_config *config, const patches_facts *facts,
                                       double images, api_model_part *part)
{
    const double image[2] = {facts->image,
                             facts->image_width > 0 ? facts->image_width : facts->image};
    const model_cells cells = model_read_cells(
        config, facts->image_keys ? facts->image_keys : "image_size", image,
        facts->patch_keys ? facts->patch_keys : "patch_size", facts->patch, false);
    const model_number rows = {.value = cells.sides[0] * cells.sides[1] * images +
                                        count_tokens(config, facts),
                               .from = cells.from};
    if (!isnan(rows.value))
        model_fact_numbers(part, "grid", cells.sides, 2, rows.from);
    return rows;
}

/* Say how the table is fitted to the image of the request. */
static void note_image(const model_config *config, const patches_facts *facts,
                       api_model_part *part)
{
    const api_model_options *options = config->planner->plan->options;
    if (options->height == 0)
        return;
    if (facts->resized)
        model_use_option(part, "image");
    if (facts->resized)
        model_note(part->notes,
                   "For an image of %lld x %lld pixels the trained rows are resized: %s.",
                   (long long)options->height, (long long)options->width, facts->resized);
    else
        model_note(part->notes, "The class does not resize this table: it takes images of the "
                                "config's size alone.");
}

/* MAE's table of the grid, by the scheme sinusoidal_2d. */
static void finish_grid_of_sinusoids(const model_config *config, const patches_facts *facts,
                                     api_model_part *part, model_number width)
{
    json_t *grid = json_object_get(json_object_get(part->facts, "grid"), "value");
    double height = json_number_value(json_array_get(grid, 0));
    double columns = json_number_value(json_array_get(grid, 1));
    model_argument_number(part, "height", height, MODEL_IMAGE_CELLS);
    model_argument_number(part, "width", columns, MODEL_IMAGE_CELLS);
    model_argument_number(part, "dim", width.value, width.from);
    model_argument(part, "layout", "concat", model_default(config));
    model_argument(part, "axis_order", "width_first", model_default(config));
    model_argument(part, "shape", "nc", model_default(config));
    model_argument_number(part, "extra_tokens", facts->more, model_default(config));
    model_part_finish(part, "sinusoidal_2d", "encoding");
}

/* The arguments of a trained table of so many rows. */
static void finish_rows(api_model_part *part, model_number rows, model_number width)
{
    model_argument_number(part, "length", rows.value, rows.from);
    model_argument_number(part, "dim", width.value, width.from);
    model_argument_number(part, "base_length", rows.value, rows.from);
    model_part_finish(part, "learned", "encoding");
}

/* A trained table: its own rows, or those for the image of the request. */
static void finish_trained(const model_config *config, const patches_facts *facts,
                           api_model_part *part, model_number rows, model_number width)
{
    const api_model_options *options = config->planner->plan->options;
    double patch = model_side(config, facts->patch_keys ? facts->patch_keys : "patch_size",
                              facts->patch > 0 ? facts->patch : 16, 0)
                       .value;
    const double more = count_tokens(config, facts), source = floor(sqrt(rows.value - more));
    part->state = API_PART_TRAINED;
    model_fact_number(part, "offset", 0, model_default(config));
    if (options->height > 0 && facts->preset && patch >= 1) {
        const api_origin from = MODEL_OPTION("image");
        model_argument(part, "preset", facts->preset, model_default(config));
        double merge = facts->merged ? model_integer(config, "spatial_merge_size", 2).value : 1;
        model_argument_number(part, "height",
                              model_patches(config, MODEL_HEIGHT(options), patch, merge), from);
        model_argument_number(part, "width",
                              model_patches(config, MODEL_WIDTH(options), patch, merge), from);
        model_argument_number(part, "dim", width.value, width.from);
        model_argument_number(part, "source_height", source, rows.from);
        model_argument_number(part, "prefix_tokens", more, model_default(config));
        model_part_finish(part, "resized", "encoding");
        return;
    }
    model_fact_number(part, "positions", rows.value, rows.from);
    finish_rows(part, rows, width);
}

/* Begin a table of patches with its facts. */
static api_model_part *begin_patches(const model_config *config, const patches_facts *facts,
                                     const char *kind, double images, model_number *ret_rows,
                                     model_number *ret_width)
{
    api_model_part *part = model_part_new(config, facts->suffix, kind);
    *ret_width = model_width(config, facts->width_keys, facts->width);
    if (facts->side_keys) {
        *ret_rows = model_required(config, facts->side_keys, model_or_nan(facts->side), 1);
        ret_rows->value += count_tokens(config, facts);
    } else {
        *ret_rows = read_rows_of_cells(config, facts, images, part);
    }
    model_fact_number(part, "rows", ret_rows->value, ret_rows->from);
    model_fact_number(part, "dim", ret_width->value, ret_width->from);
    for (size_t i = 0; facts->facts[i]; i += 2)
        model_fact_text(part, facts->facts[i], facts->facts[i + 1], model_default(config));
    if (facts->resized)
        model_fact_text(part, "resized", facts->resized, model_default(config));
    model_part_say(part, facts->note);
    return part;
}

/* A trained table for so many images. */
static void plan_patches(model_config *config, const patches_facts *facts, double images)
{
    model_number rows, width;
    api_model_part *part = begin_patches(config, facts, "learned", images, &rows, &width);
    note_image(config, facts, part);
    finish_trained(config, facts, part, rows, width);
    model_use(config, part, NULL);
}

void model_plan_patches(model_config *config, const void *patches_rule)
{
    plan_patches(config, patches_rule, 1);
}

void model_plan_vivit(model_config *config, const void *patches_rule)
{
    api_origin from;
    const json_t *tubes = model_number_list(config, "tubelet_size", &from);
    double tube = tubes ? model_list_number(tubes, 0) : 2;
    double frames = model_required(config, "num_frames", 32, 1).value;
    plan_patches(config, patches_rule, tube >= 1 ? floor(frames / tube) : 1);
}

void model_plan_mae(model_config *config, const void *patches_rule)
{
    model_number rows, width;
    api_model_part *part =
        begin_patches(config, patches_rule, "sinusoidal_2d", 1, &rows, &width);
    finish_grid_of_sinusoids(config, patches_rule, part, width);
    model_use(config, part, NULL);
}

/* A trained table of the audio spectrogram transformer, with a row for each patch. */
void model_plan_spectrogram(model_config *config, const void *nothing)
{
    (void)nothing;
    model_number bands = model_required(config, "num_mel_bins", 128, 1);
    model_number length = model_required(config, "max_length", 1024, 1);
    model_number patch = model_required(config, "patch_size", 16, 1);
    model_number along = model_required(config, "time_stride", 10, 1);
    model_number across = model_required(config, "frequency_stride", 10, 1);
    model_number width = model_width(config, NULL, 768);
    api_model_part *part = model_part_new(config, NULL, "learned");
    model_number rows = {.from = model_add_remark(config, length.from, ", patches of it")};
    rows.value = (floor((bands.value - patch.value) / across.value) + 1) *
                     (floor((length.value - patch.value) / along.value) + 1) +
                 2;
    part->state = API_PART_TRAINED;
    model_fact_number(part, "rows", rows.value, rows.from);
    model_fact_number(part, "dim", width.value, width.from);
    model_fact_number(part, "offset", 0, model_default(config));
    for (size_t i = 0; i < 4; i++)
        model_use_key(config->planner->used,
                      (api_origin[]){bands.from, patch.from, along.from, across.from}[i]);
    model_note(part->notes, "Rows 0 and 1 are those of the class and distillation tokens; then "
                            "band by band, patches may overlap.");
    finish_rows(part, rows, width);
    model_use(config, part, NULL);
}

/* VideoMAE's sinusoids over the number of a token among those of all frames. */
static void plan_video(model_config *config, const char *suffix, const char *width_keys,
                       double fallback)
{
    const double asked = (double)config->planner->plan->options->frames;
    model_number width = model_required(config, width_keys, fallback, 1);
    model_number frames = model_required(config, "num_frames", 16, 1);
    model_number tube = model_required(config, "tubelet_size", 2, 1);
    const model_cells cells = model_read_cells(config, "image_size", (const double[]){224, 224},
                                               "patch_size", 16, true);
    const double grid[3] = {floor((asked > 0 ? asked : frames.value) / tube.value),
                            cells.sides[0], cells.sides[1]};
    api_model_part *part = model_part_new(config, suffix, "sinusoidal");
    const api_origin from = {API_ORIGIN_CONFIG, "num_frames",
                             " / tubelet_size, image_size / patch_size"};
    model_use_option(part, "frames");
    model_use_option(part, "image");
    double rows = grid[0] * grid[1] * grid[2];
    model_fact_numbers(part, "grid", grid, 3, from);
    model_fact_number(part, "rows", rows, from);
    model_argument_number(part, "length", rows, from);
    model_state_number(part, "dim", width);
    model_state_text(part, "layout", "interleaved", model_default(config));
    model_state_text(part, "frequencies", "vaswani", model_default(config));
    model_note(part->notes, "The position is the number of the token: frame by frame, row by "
                            "row. There is no class token.");
    model_part_use(config, part, "sinusoidal", "encoding");
}

void model_plan_videomae(model_config *config, const void *nothing)
{
    (void)nothing;
    plan_video(config, NULL, "hidden_size", 768);
    plan_video(config, "decoder", "decoder_hidden_size", 384);
}

/* A trained table with a row for each aspect ratio of an image that is cut into tiles, of so
 * many vectors a tile. */
static void plan_tiles(model_config *config, const char *suffix, double vectors,
                       const char *note)
{
    api_origin from;
    json_t *ratios = model_list(config, "supported_aspect_ratios", &from);
    model_number tiles = model_integer(config, "max_num_tiles", 4);
    model_number width = model_width(config, NULL, 1280);
    api_model_part *part = model_part_new(config, suffix, "learned");
    part->state = API_PART_TRAINED;
    if (!ratios)
        from = model_default(config);
    /* one for each aspect ratio, and one for padding; four tiles can be set in eight ways */
    double rows = ratios ? (double)json_array_size(ratios) + 1 : 9;
    model_fact_number(part, "rows", rows, from);
    model_fact_number(part, "dim", tiles.value * vectors * width.value, tiles.from);
    model_fact_text(part, "gate", "tanh g", model_default(config));
    model_note(part->notes, "%s", note);
    model_use(config, part, NULL);
}

void model_plan_mllama_tiles(model_config *config, const void *nothing)
{
    (void)nothing;
    double side = floor(model_side(config, "image_size", 448, 0).value /
                        model_side(config, "patch_size", 14, 0).value);
    plan_tiles(config, "tiles", 1, "Two tables of this shape, before and after the layers.");
    plan_tiles(config, "tile_patches", side * side + 1, "Added to the patches of each tile.");
}
