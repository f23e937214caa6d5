/* Models of diffusers whose tables are sinusoids: patches of latents, and timesteps of U-Nets.
 */
#include "models/planning.h"

#include "json/document.h"

#include <math.h>
#include <string.h>

#define PIXELS 8 /* a side of a latent, as the autoencoders of these models have it */

/* ---- patches of latents ---- */

/* A grid of patches, and what places it. */
typedef struct latents {
    model_number base; /* patches a side that the model was made for */
    double height, width;
    api_origin from;
} latents;

static model_number read_sample(const model_config *config, const latents_facts *facts)
{
    return model_required(config, "sample_size", model_or_nan(facts->sample), 1);
}

static latents read_latents(const model_config *config, const latents_facts *facts)
{
    const api_model_options *options = config->planner->plan->options;
    model_number sample = read_sample(config, facts);
    model_number patch = model_required(config, "patch_size", facts->patch, 1);
    latents grid = {.base = {.value = floor(sample.value / patch.value)}};
    grid.base.from = model_divide_origins(config, sample, patch);
    grid.height = grid.width = grid.base.value;
    grid.from = grid.base.from;
    if (options->height > 0) {
        grid.height = model_patches(config, MODEL_HEIGHT(options), PIXELS * patch.value, 1);
        grid.width = model_patches(config, MODEL_WIDTH(options), PIXELS * patch.value, 1);
        grid.from = MODEL_OPTION("image");
    }
    return grid;
}

/* Columns: heads times the width of one. */
static model_number read_inner_width(const model_config *config, const latents_facts *facts)
{
    model_number heads = model_heads(config, NULL, facts->heads);
    model_number head = model_required(config, "attention_head_dim", facts->head, 1);
    model_number width = {.value = heads.value * head.value};
    width.from = model_add_remark(config, heads.from, " * %s", model_word_number(config, head));
    return width;
}

/* The scale of PixArt's positions: its key, or one for every 64 latents a side. */
static model_number read_scale(const model_config *config, const latents_facts *facts)
{
    model_number sample = read_sample(config, facts);
    model_number scale = model_real(config, "interpolation_scale", NAN);
    if (isnan(scale.value)) {
        scale.value = fmax(floor(sample.value / 64), 1);
        scale.from = model_add_remark(config, sample.from, " / 64, at least 1");
    }
    return scale;
}

void model_plan_latents(model_config *config, const void *latents_rule)
{
    const latents_facts *facts = latents_rule;
    api_model_part *part = model_part_new(config, "patches", "sinusoidal_2d");
    latents grid = read_latents(config, facts);
    model_number width = read_inner_width(config, facts);
    model_fact_numbers(part, "grid", (double[]){grid.height, grid.width}, 2, grid.from);
    model_fact_number(part, "rows", grid.height * grid.width, grid.from);
    model_argument_number(part, "height", grid.height, grid.from);
    model_argument_number(part, "width", grid.width, grid.from);
    model_state_number(part, "dim", width);
    model_argument(part, "layout", "concat", model_default(config));
    model_argument(part, "shape", "nc", model_default(config));
    model_state_number(part, "base_size", grid.base);
    if (facts->table > 0) {
        model_number table = model_required(config, "pos_embed_max_size", facts->table, 1);
        model_state_number(part, "table_size", table);
        model_note(part->notes,
                   "The checkpoint holds a table of %.0f x %.0f cells; these are the rows of "
                   "its centre.",
                   table.value, table.value);
    }
    if (facts->scaled) {
        model_number scale = read_scale(config, facts);
        model_state_number(part, "interpolation_scale", scale);
    }
    model_note(part->notes,
               "A cell is a patch of latents, each of which stands for %d x %d pixels.", PIXELS,
               PIXELS);
    model_part_use(config, part, "sinusoidal_2d", "encoding");
}

/* ---- timesteps of U-Nets ---- */

/* The second sinusoid of Stable Diffusion XL: of sizes and corners in pixels. */
static void plan_added_numbers(model_config *config, const char *layout, api_origin layout_from,
                               const char *frequencies, api_origin frequencies_from)
{
    api_origin from;
    const char *type =
        model_choice(config, "addition_embed_type",
                     "none text text_image text_time image image_hint", "none", &from);
    if (strcmp(type, "text_time") != 0)
        return;
    model_number width = model_required(config, "addition_time_embed_dim", NAN, 1);
    model_number rows = {.value = NAN};
    api_model_part *part = model_part_new(config, "added_numbers", "sinusoidal");
    model_argument_length(part, rows, API_MODEL_ROWS);
    model_argument_offset(part, 0, MODEL_QUERY);
    model_state_number(part, "dim", width);
    model_state_text(part, "layout", layout, layout_from);
    model_state_text(part, "frequencies", frequencies, frequencies_from);
    model_note(part->notes,
               "Rows are numbers of pixels: the model takes those of the original size, the "
               "corner of the crop and the target size, one after the other.");
    model_part_finish(part, "sinusoidal", "encoding");
}

void model_plan_unet(model_config *config, const void *first_channels)
{
    api_origin from, kind_from, flip_from;
    const char *kind = model_choice(config, "time_embedding_type", "positional fourier learned",
                                    "positional", &kind_from);
    const json_t *channels = model_list(config, "block_out_channels", &from);
    bool flip = model_flag(config, "flip_sin_to_cos", true, &flip_from);
    model_number shift = model_real(config, "freq_shift", 0);
    model_number rows = model_integer(config, "num_train_timesteps", 1000);
    double width = channels ? json_number_value(json_array_get(channels, 0))
                            : *(const double *)first_channels;
    bool learned = strcmp(kind, "learned") == 0;
    bool plain = strcmp(kind, "positional") == 0;
    api_model_part *part = model_part_new(config, "timestep",
                                          plain     ? "sinusoidal"
                                          : learned ? "learned"
                                                    : "random_fourier");
    if (!plain) {
        part->state = API_PART_NOTHING;
        model_note(part->notes, "time_embedding_type is %s: %s in the checkpoint.", kind,
                   learned ? "a table with a row for each timestep, which is"
                           : "random Fourier features of the logarithm of the time, whose "
                             "frequencies are");
        return;
    }
    from = channels ? model_add_remark(config, from, ", the first of them")
                    : model_default(config);
    if (shift.value != 0 && shift.value != 1)
        model_refuse(config, shift.from, NULL, "0 or 1, not %g", shift.value);
    const char *layout = flip ? "concat_cos_first" : "concat";
    const char *frequencies = shift.value == 1 ? "tensor2tensor" : "vaswani";
    model_fact_number(part, "rows", rows.value, rows.from);
    model_fact_number(part, "dim", width, from);
    model_fact_text(part, "layout", layout, flip_from);
    model_fact_text(part, "frequencies", frequencies, shift.from);
    model_argument_length(part, rows, API_MODEL_ROWS);
    model_argument_offset(part, 0, MODEL_QUERY);
    model_note_past(part, rows);
    model_argument_number(part, "dim", width, from);
    model_argument(part, "layout", layout, flip_from);
    model_argument(part, "frequencies", frequencies, shift.from);
    model_note(part->notes, "Rows are timesteps of the diffusion.");
    model_part_use(config, part, "sinusoidal", "encoding");
    plan_added_numbers(config, layout, flip_from, frequencies, shift.from);
}
