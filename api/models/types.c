/* The table of model types. Facts are those of Hugging Face's transformers 5 and of diffusers;
 * a row that differs says so. */
#include "models/types.h"

#include "models/rotary.h"

#include <string.h>

/* ---- rules, as the rows write them ---- */

#define RULE(function, type, ...)                                                              \
    {                                                                                          \
        .plan = (function), .facts = &(const type)                                             \
        {                                                                                      \
            __VA_ARGS__                                                                        \
        }                                                                                      \
    }

#define WHEN(its_key, words, absent)                                                           \
    {                                                                                          \
        .key = (its_key), .is = (words), .otherwise = (absent)                                 \
    }
#define JSON(...)     #__VA_ARGS__
#define SAY(sentence) RULE(model_plan_word, word_facts, .note = (sentence))
#define LAYERS(...)   RULE(model_plan_layers, layer_facts, __VA_ARGS__)
#define STACK(its_name, ...)                                                                   \
    RULE(model_plan_stack, stack_facts, .name = (its_name), __VA_ARGS__)
#define COMPONENT(...) RULE(model_plan_component, component_facts, __VA_ARGS__)
#define ROTARY(...)    RULE(model_plan_rotary, rotary_facts, __VA_ARGS__)
#define PICTURE(...)                                                                           \
    &(const picture_facts)                                                                     \
    {                                                                                          \
        .merge = 2, __VA_ARGS__                                                                \
    }
#define LEARNED(...)        RULE(model_plan_learned, table_facts, __VA_ARGS__)
#define SINUSOIDAL(...)     RULE(model_plan_sinusoidal, table_facts, __VA_ARGS__)
#define PATCHES(...)        RULE(model_plan_patches, patches_facts, __VA_ARGS__)
#define T5(...)             RULE(model_plan_t5, relative_facts, __VA_ARGS__)
#define ALIBI(...)          RULE(model_plan_alibi, relative_facts, __VA_ARGS__)
#define DEBERTA(...)        RULE(model_plan_deberta, relative_facts, __VA_ARGS__)
#define TRANSFORMER_XL(...) RULE(model_plan_transformer_xl, relative_facts, __VA_ARGS__)
#define SHAW(...)           RULE(model_plan_shaw, relative_facts, __VA_ARGS__)
#define GRID(...)           RULE(model_plan_grid, grid_facts, __VA_ARGS__)
#define TILES(...)          RULE(model_plan_tiles, tiles_facts, __VA_ARGS__)
#define TEMPERATURE(...)    RULE(model_plan_temperature, temperature_facts, __VA_ARGS__)

/* ---- rules that several rows share ---- */

#define UNKNOWN_TO_TRANSFORMERS                                                                \
    SAY("transformers does not know this model type: these are the facts of the code that "    \
        "comes "                                                                               \
        "with the checkpoint.")
#define NO_POSITIONS                                                                           \
    SAY("This model has no positions: order is in its recurrence or convolutions.")
#define CONVOLUTION                                                                            \
    RULE(                                                                                      \
        model_plan_word, word_facts, .kind = "convolution", .keys = "num_conv_pos_embeddings", \
        .note = "Positions come from a grouped convolution, whose weights are trained: there " \
                "is nothing to compute.")

#define ENCODER_STACK                                                                          \
    STACK("encoder", .layers = {.count_keys = "encoder_layers|num_hidden_layers"})
#define DECODER_STACK    STACK("decoder", .layers = {.count_keys = "decoder_layers"})
#define BOTH_STACKS(...) ENCODER_STACK, __VA_ARGS__, DECODER_STACK, __VA_ARGS__
/* fairseq's sinusoids: two rows more, and the first position after that of padding */
#define FAIRSEQ(...)                                                                           \
    SINUSOIDAL(__VA_ARGS__, .more = 2, .after_padding = true, .layout = "concat",              \
               .frequencies = "tensor2tensor")
#define AUDIO_SINUSOIDS(...)                                                                   \
    SINUSOIDAL(__VA_ARGS__, .layout = "concat", .frequencies = "tensor2tensor",                \
               .stored = true, .note = "Rows are those after the convolutions of stride 2.")
#define AUDIO_TABLE                                                                            \
    LEARNED(.rows_keys = "max_source_positions", .rows = 1500, .width_keys = "hidden_size",    \
            .width = 1280,                                                                     \
            .note =                                                                            \
                "Whisper's sinusoids (concat, tensor2tensor) when the model was converted; "   \
                "the checkpoint's table counts.")

#define T5_STACKS(...)                                                                         \
    RULE(model_plan_t5_stacks, relative_facts, .heads_keys = "num_heads", .heads = 8,          \
         .note =                                                                               \
             "n_positions limits nothing; cross-attention has no bias, and scores are not "    \
             "divided by sqrt(d).",                                                            \
         __VA_ARGS__)
#define TWO_SIDED(...) RULE(model_plan_two_sided, relative_facts, __VA_ARGS__)

#define VIT(...)                                                                               \
    PATCHES(__VA_ARGS__, .class_row = "row 0", .preset = "vit",                                \
            .resized = "bicubic, align_corners False, no antialias")
#define BUCKETED(...)                                                                          \
    PATCHES(__VA_ARGS__, .width = 1152, .preset = "idefics2",                                  \
            .resized = "looked up by fractional buckets of the coordinates")

#define BEIT_BIAS RULE(model_plan_beit, cells_facts, .image = 224, .patch = 16, .heads = 12)

#define SWIN(...)       RULE(model_plan_swin, swin_facts, .depths = {2, 2, 6, 2}, __VA_ARGS__)
#define SWIN_V1         SWIN(.window = 7, .heads = {3, 6, 12, 24}, .heads_keys = "num_heads")
#define DECOMPOSED(...) RULE(model_plan_decomposed, cells_facts, .heads = 12, __VA_ARGS__)
/* SAM: windows, but for some layers that see the whole image */
#define SAM_VISION                                                                             \
    LAYERS(.indices_key = "global_attn_indexes", .indices = "[2, 5, 8, 11]", .full = "global", \
           .other = "window"),                                                                 \
        WHEN("use_rel_pos", "true", "true"),                                                   \
        DECOMPOSED(.image = 1024, .patch = 16, .width = 768, .windows = true, .window = 14),   \
        WHEN("use_abs_pos", "true", "true"),                                                   \
        PATCHES(.suffix = "table", .image = 1024, .patch = 16, .width = 768)
#define LATENTS(...) RULE(model_plan_latents, latents_facts, .patch = 2, __VA_ARGS__)
#define VIDEO(...)                                                                             \
    RULE(model_plan_video, video_facts, .image = 224, .patch = 16, .frames = 16, .tube = 2,    \
         __VA_ARGS__)
#define QUARTERS                                                                               \
    "columns", "h, then w", "frequencies", "theta^(-4i/head_dim), restarted for each axis",    \
        "order", "rows in merge blocks of m x m"
#define MERGED "spatial_merge_size", "spatial_merge_size", "2"
#define QWEN_AXES(frames)                                                                      \
    .scheme = "axial_rope", .preset = "qwen2_vl_vision", .cells = 16, .tube = (frames)
#define DETR(its_preset, centre)                                                               \
    GRID(.kind = "detr_sine_2d", .scheme = "sinusoidal_2d", .preset = (its_preset),            \
         .stride = 32, .cells = 25,                                                            \
         .facts = {"temperature", "10000", "normalize", "true", "scale", "2 pi", "center",     \
                   (centre), "order", "y | x", "layout", "interleaved"},                       \
         .numbers = {"dim", "hidden_size", "256"},                                             \
         .note = "Positions are cumulative sums of the mask.")
#define AXES(widths, key)                                                                      \
    GRID(.kind = "rope_nd", .theta_keys = "theta", .theta = 10000, .interleaved = true,        \
         .head_keys = "attention_head_dim", .head = 128, .scheme = "axial_rope",               \
         .preset = "flux", .stride = 16, .cells = 64, .frames_keys = "no_frames", .frames = 1, \
         .numbers = {"axis_dims", (key), (widths)},                                            \
         .facts = {"precision", "float64 frequencies"})
#define TIMESTEP(...)                                                                          \
    SINUSOIDAL(.suffix = "timestep", .rows_keys = "num_train_timesteps", .rows = 1000,         \
               .layout = "concat_cos_first", .frequencies = "vaswani",                         \
               .note = "Rows are timesteps of the diffusion.", __VA_ARGS__)
#define UNET_TIMESTEP(first) RULE(model_plan_unet, unet_facts, .channels = (first))

#define TEXT(its_type)                                                                         \
    COMPONENT(.name = "text", .keys = "text_config|llm_config|language_config",                \
              .type = (its_type))
#define FLAT_TEXT(its_type)                                                                    \
    COMPONENT(.name = "text", .keys = "text_config", .type = (its_type), .flat = true,         \
              .ignore_type = true)
#define VISION(its_type)                                                                       \
    COMPONENT(.name = "vision", .keys = "vision_config", .type = (its_type))
#define OWN_VISION(its_type)                                                                   \
    COMPONENT(.name = "vision", .keys = "vision_config", .type = (its_type),                   \
              .ignore_type = true)
#define AUDIO(its_type) COMPONENT(.name = "audio", .keys = "audio_config", .type = (its_type))

/* ---- the table ---- */

#define TYPE(its_name, its_component, its_family, ...)                                         \
    {.name = (its_name),                                                                       \
     .component = (its_component),                                                             \
     .family = (its_family),                                                                   \
     .rules = (const model_rule[]){__VA_ARGS__, {.plan = NULL}}},

static const model_type TYPES[] = {
#include "models/types_absolute.def"
#include "models/types_none.def"
#include "models/types_relative.def"
#include "models/types_several.def"
#include "models/types_text.def"
#include "models/types_vision.def"
};

const model_type *model_type_find(const char *name)
{
    for (size_t i = 0; i < sizeof TYPES / sizeof *TYPES; i++)
        if (strcmp(TYPES[i].name, name) == 0)
            return &TYPES[i];
    return NULL;
}

size_t model_type_count(void)
{
    return sizeof TYPES / sizeof *TYPES;
}

const model_type *model_type_at(size_t index)
{
    return &TYPES[index];
}
