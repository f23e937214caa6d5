/* Prompts with a picture or a video: texts and grids for the scheme mrope. */
#include "models/planning.h"

#include "json/document.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define GRIDS_MAX     512 /* so that the part's request is no longer than a target may be */
#define EXAMPLE_CELLS 16  /* patches a side of a picture whose size nobody says */

double model_patches(const model_config *config, model_number side, double patch, double merge)
{
    if (merge > 1) {
        double squares = rint(side.value / (patch * merge)); /* to even, as Python's round */
        return merge * (squares < 1 ? 1 : squares);
    }
    if (side.value < patch) {
        json_t *given = json_real(side.value);
        model_refuse(config, side.from, given, "at least %g pixels, the side of a patch",
                     patch);
        json_decref(given);
        return NAN;
    }
    return floor(side.value / patch);
}

model_cells model_read_cells(const model_config *config, const char *image_keys,
                             const double image[2], const char *patch_keys, double patch,
                             bool is_asked)
{
    const api_model_options *options = config->planner->plan->options;
    model_cells cells;
    is_asked = is_asked && options->height > 0;
    for (size_t axis = 0; axis < 2; axis++) {
        const model_number side = is_asked
                                      ? axis == 0 ? MODEL_HEIGHT(options) : MODEL_WIDTH(options)
                                      : model_side(config, image_keys, image[axis], axis);
        const double patch_side = model_side(config, patch_keys, patch, axis).value;
        cells.sides[axis] = model_patches(config, side, patch_side, 1);
        cells.from =
            is_asked ? side.from : model_add_remark(config, side.from, ", patches of it");
    }
    return cells;
}

double model_frames(const model_config *config, double tube)
{
    double frames = (double)config->planner->plan->options->frames;
    return tube > 1 ? ceil(frames / tube) : frames;
}

bool model_has_picture(const model_config *config, const picture_facts *facts)
{
    const api_model_options *options = config->planner->plan->options;
    return facts && (options->height > 0 || (options->frames > 0 && facts->frames));
}

/* A picture or a video, in patches. */
typedef struct picture {
    double frames, height, width;
    model_number merge, temporal_merge;
    double tokens; /* of a frame, or of all where frames become one */
} picture;

/* What holds the text's config and, beside it, the vision_config. Defaults are those of the
 * text's row. */
static model_config find_holder(const model_config *config)
{
    model_config whole = config->parent ? *config->parent : *config;
    whole.type = config->type;
    return whole;
}

static model_config find_vision(const model_config *config)
{
    model_config whole = find_holder(config);
    return model_object(&whole, "vision_config");
}

static picture read_picture(const model_config *config, const picture_facts *facts)
{
    const api_model_options *options = config->planner->plan->options;
    model_config vision = find_vision(config);
    model_number patch = model_required(&vision, "patch_size", facts->patch, 1);
    model_number tube = model_integer(&vision, "temporal_patch_size", facts->tube);
    picture result = {.frames = 1,
                      .height = EXAMPLE_CELLS,
                      .width = EXAMPLE_CELLS,
                      .temporal_merge = {.value = NAN}};
    result.merge = model_required(&vision, "spatial_merge_size", facts->merge, 1);
    if (options->height > 0) {
        result.height =
            model_patches(config, MODEL_HEIGHT(options), patch.value, result.merge.value);
        result.width =
            model_patches(config, MODEL_WIDTH(options), patch.value, result.merge.value);
    }
    if (options->frames > 0 && facts->frames)
        result.frames = model_frames(config, facts->tube > 0 ? tube.value : 1);
    double merged = result.frames;
    if (result.frames > 1 && facts->temporal_merge > 1) {
        result.temporal_merge = model_required(&vision, "temporal_merge_size", 2, 1);
        merged = ceil(result.frames / result.temporal_merge.value);
        result.frames = merged * result.temporal_merge.value; /* the last one is repeated */
    }
    result.tokens =
        merged * result.height * result.width / (result.merge.value * result.merge.value);
    return result;
}

/* How frames advance in time. */
static void add_time(const model_config *config, const picture_facts *facts,
                     const picture *shown, api_model_part *part)
{
    if (!isnan(shown->temporal_merge.value))
        model_argument_number(part, "temporal_merge_size", shown->temporal_merge.value,
                              shown->temporal_merge.from);
    model_argument(part, "frame_positions", facts->frames, model_default(config));
    if (facts->tokens_per_second == 0)
        return;
    model_config vision = find_vision(config), whole = find_holder(config);
    model_number tokens = model_integer(&vision, "tokens_per_second", NAN);
    if (isnan(tokens.value))
        tokens = model_integer(&whole, "position_id_per_seconds", facts->tokens_per_second);
    model_argument_number(part, "tokens_per_second", tokens.value, tokens.from);
    if (shown->frames > 1)
        model_note(part->notes,
                   "A frame takes one second unless seconds_per_grid of the request says "
                   "another time%s.",
                   strcmp(facts->frames, "whole_seconds") == 0
                       ? ", which transformers cuts to an integer: 0.5 to 0. The publisher's "
                         "code and vLLM do not, as frame_positions=seconds"
                       : "");
}

/* The lengths of the texts, one token before each of `grids` grids, and the sizes of these. */
static void add_runs(const api_model_options *options, const picture *shown, double grids,
                     double after, api_model_part *part)
{
    const api_origin from = options->height > 0 ? MODEL_OPTION("image")
                                                : (api_origin){API_ORIGIN_QUERY, "frames",
                                                               ", with cells of an example"};
    const api_origin length = {API_ORIGIN_QUERY, "length", " or the config"};
    json_t *text = json_array(), *sizes = json_array();
    for (size_t i = 0; i < (size_t)grids; i++) {
        json_array_append_new(text, json_real(1));
        json_array_append_new(sizes, json_real(shown->frames / grids));
        json_array_append_new(sizes, json_real(shown->height));
        json_array_append_new(sizes, json_real(shown->width));
    }
    json_array_append_new(text, json_real(after));
    model_argument_list(part, "text", text, length);
    model_argument_list(part, "grids", sizes, from);
    model_fact_numbers(part, "grid", (double[]){shown->frames, shown->height, shown->width}, 3,
                       from);
    json_decref(text);
    json_decref(sizes);
}

/* The tokens of text after the picture; NAN, with a problem, where there is no room. */
static double count_following_text(const model_config *config, double taken, model_number rows)
{
    const api_model_options *options = config->planner->plan->options;
    double most = rows.value < API_MODEL_ROWS ? rows.value : API_MODEL_ROWS;
    if (options->length > 0 && (double)options->length < taken) {
        json_t *given = json_real((double)options->length);
        model_refuse(config, MODEL_OPTION("length"), given,
                     "at least %.0f, the tokens of the picture and of the text before it",
                     taken);
        json_decref(given);
        return NAN;
    }
    if (options->length > 0)
        return (double)options->length - taken;
    return most > taken ? most - taken : 0;
}

void model_add_prompt(const model_config *config, const picture_facts *facts, model_number rows,
                      api_model_part *part)
{
    const api_model_options *options = config->planner->plan->options;
    picture shown = read_picture(config, facts);
    bool apart = facts->frames && strcmp(facts->frames, "apart") == 0;
    double grids = apart ? shown.frames : 1;
    model_fact_number(part, "positions", rows.value, rows.from);
    if (isnan(shown.tokens)) /* a problem says why */
        return;
    if (grids > GRIDS_MAX || 3 * grids > (double)config->planner->limits->list_length) {
        model_refuse(config, MODEL_OPTION("frames"), NULL,
                     "fewer: at most %d grids, each with a time stamp before it", GRIDS_MAX);
        return;
    }
    double after = count_following_text(config, grids + shown.tokens, rows);
    if (isnan(after))
        return;
    add_runs(options, &shown, grids, after, part);
    model_use_option(part, "frames");
    model_fact_number(part, "picture_tokens", shown.tokens,
                      MODEL_REMARK("grid / spatial_merge_size^2"));
    if (options->offset)
        model_argument_number(part, "first_position", strtod(options->offset, NULL),
                              MODEL_OPTION("offset"));
    model_argument_number(part, "spatial_merge_size", shown.merge.value, shown.merge.from);
    add_time(config, facts, &shown, part);
    model_note(part->notes,
               "The prompt: 1 token of text before %s %.0f x %.0f patches, %.0f tokens "
               "in all, then %.0f tokens of text. For another prompt change text and grids of "
               "the request; rope_delta says which position comes next.",
               grids > 1          ? "each frame of"
               : shown.frames > 1 ? "a video of frames of"
                                  : "a picture of",
               shown.height, shown.width, shown.tokens, after);
}
