/* Rules, as the rows of the table of model types write them. */
#ifndef API_MODELS_RULES_H
#define API_MODELS_RULES_H

#include "models/rotary_planning.h"
#include "models/types.h"

/* clang-format off */
#define RULE(function, type, ...)                                                              \
    {.plan = (function), .facts = &(const type){__VA_ARGS__}}
/* what one class or two do, without facts */
#define OWN(function) {.plan = (function)}
#define WHEN(its_key, words, absent) {.key = (its_key), .is = (words), .otherwise = (absent)}
/* the next rule holds only where the key is absent or null */
#define WHEN_ABSENT(its_key) {.key = (its_key), .is = "", .otherwise = ""}
/* the same in release 4.53 alone, which reads a key that release 5 does not */
#define IN_4_53(its_key, words, rest)                                                          \
    {.key = (its_key), .is = (words), .otherwise = (words), .others = (rest), .only_4_53 = true}
/* one rule where a key is true, another one where it is false */
#define EITHER(its_key, absent, its_rule, other_rule)                                          \
    WHEN(its_key, "true", absent), its_rule, WHEN(its_key, "false", absent), other_rule
#define PICTURE(...) &(const picture_facts){.merge = 2, __VA_ARGS__}
/* clang-format on */

#define JSON(...)     #__VA_ARGS__
#define QUOTED(...)   JSON(__VA_ARGS__)
#define PAIRS(...)    JSON({__VA_ARGS__})
#define SAY(sentence) RULE(model_plan_word, word_facts, .note = (sentence))
/* positions that this release does not compute */
#define TELL(sentence) RULE(model_plan_word, word_facts, .note = (sentence), .told = true)
#define LAYERS(...)    RULE(model_plan_layers, layer_facts, __VA_ARGS__)
#define STACK(its_name, ...)                                                                   \
    RULE(model_plan_stack, stack_facts, .name = (its_name), __VA_ARGS__)
#define COMPONENT(...) RULE(model_plan_component, component_facts, __VA_ARGS__)
#define ROTARY(...)    RULE(model_plan_rotary, rotary_facts, __VA_ARGS__)
/* as Llama, but for what is said; a class's own hidden_size, heads and longest sequence */
#define LLAMA(its_name, its_family, ...) TYPE(its_name, "text", its_family, ROTARY(__VA_ARGS__))
#define SIZED(its_hidden, its_heads, its_length)                                               \
    .hidden = (its_hidden), .heads = (its_heads), .length = (its_length)
/* heads with latents: the columns of a key that turn are its own */
#define LATENT_HEADS(its_head, its_length, ...)                                                \
    ROTARY(.head = (its_head), .head_keys = "qk_rope_head_dim", .interleaved = true,           \
           .length = (its_length), __VA_ARGS__)
#define INDEXER(its_width, its_length, ...)                                                    \
    ROTARY(.suffix = "indexer", .besides = true, .head = 128, .head_keys = "index_head_dim",   \
           .width_key = "qk_rope_head_dim", .width = (its_width), .length = (its_length),      \
           __VA_ARGS__)
#define INDEXED                                                                                \
    "The indexer, which chooses the keys of a query: the first columns of its heads turn, "
#define LEARNED(...)               RULE(model_plan_learned, table_facts, __VA_ARGS__)
#define TABLE(its_rows, its_width) LEARNED(.rows = (its_rows), .width = (its_width))
/* RoBERTa's: the first position is after that of padding; and two rows before position 0 */
#define ROBERTA(its_rows, its_width)                                                           \
    LEARNED(.rows = (its_rows), .width = (its_width), .after_padding = true)
#define AFTER_2(its_rows, its_width)                                                           \
    LEARNED(.rows = (its_rows), .more = 2, .first = 2, .width = (its_width))
#define SINUSOIDAL(...) RULE(model_plan_sinusoidal, table_facts, __VA_ARGS__)
/* sines, then cosines, with the frequencies of either code */
#define VASWANI(...) SINUSOIDAL(.layout = "concat", .frequencies = "vaswani", __VA_ARGS__)
#define TENSOR2TENSOR(...)                                                                     \
    SINUSOIDAL(.layout = "concat", .frequencies = "tensor2tensor", __VA_ARGS__)
#define PATCHES(...)        RULE(model_plan_patches, patches_facts, __VA_ARGS__)
#define T5(...)             RULE(model_plan_t5, relative_facts, __VA_ARGS__)
#define ALIBI(...)          RULE(model_plan_alibi, relative_facts, __VA_ARGS__)
#define DEBERTA(...)        RULE(model_plan_deberta, relative_facts, __VA_ARGS__)
#define TRANSFORMER_XL(...) RULE(model_plan_transformer_xl, relative_facts, __VA_ARGS__)
#define SHAW(...)           RULE(model_plan_shaw, relative_facts, __VA_ARGS__)
#define GRID(...)           RULE(model_plan_grid, grid_facts, __VA_ARGS__)
#define TEMPERATURE(...)    RULE(model_plan_temperature, temperature_facts, __VA_ARGS__)

#define PART(its_name, key, its_type)                                                          \
    COMPONENT(.name = (its_name), .keys = (key), .type = (its_type))
#define OWN_PART(its_name, key, its_type)                                                      \
    COMPONENT(.name = (its_name), .keys = (key), .type = (its_type), .ignore_type = true)
#define CONFIG(its_name, its_type)     PART(its_name, its_name "_config", its_type)
#define OWN_CONFIG(its_name, its_type) OWN_PART(its_name, its_name "_config", its_type)

/* ---- rules that several rows share ---- */

/* clang-format off */
/* what a parent's class gives an object that it makes itself */
#define SIZES(width, layers, heads)                                                            \
    JSON({"hidden_size": width, "num_hidden_layers": layers, "num_attention_heads": heads})
#define SIZES_AND(width, layers, heads, ...)                                                   \
    JSON({"hidden_size": width, "num_hidden_layers": layers, "num_attention_heads": heads,     \
          __VA_ARGS__})
#define TOWER(width, layers, heads, image, patch)                                              \
    JSON({"hidden_size": width, "num_hidden_layers": layers, "num_attention_heads": heads,     \
          "image_size": image, "patch_size": patch})
#define ROTARY_SIZES(width, layers, heads, head, length, theta)                                \
    JSON({"hidden_size": width, "num_hidden_layers": layers, "num_attention_heads": heads,     \
          "head_dim": head, "max_position_embeddings": length, "rope_theta": theta})
#define GPT_OSS_YARN                                                                           \
    JSON({"rope_type": "yarn", "factor": 32, "beta_fast": 32, "beta_slow": 1,                  \
          "truncate": false, "original_max_position_embeddings": 4096})
#define OWN_PIXTRAL                                                                            \
    VISION("pixtral", .values = JSON({"hidden_size": 1024, "num_attention_heads": 16,          \
                                      "head_dim": 64, "num_hidden_layers": 24,                 \
                                      "image_size": 1540, "patch_size": 14}))
#define LLAMA3_LAW(low, high, length, ...)                                                     \
    JSON({"rope_type": "llama3", "low_freq_factor": low, "high_freq_factor": high,             \
          "original_max_position_embeddings": length, __VA_ARGS__})
#define MISTRAL_YARN(theta, factor, length, ...)                                               \
    JSON({"rope_type": "yarn", "rope_theta": theta, "factor": factor, "mscale_all_dim": 1,     \
          "original_max_position_embeddings": length, __VA_ARGS__})
#define PLAIN_LAW(theta) {"rope_type": "default", "rope_theta": theta}
#define PART_LAW(theta, part)                                                                  \
    {"rope_type": "default", "rope_theta": theta, "partial_rotary_factor": part}
#define KINDS(one, its_law, other, other_law) JSON({one: its_law, other: other_law})
#define BY_KIND(full, sliding)                                                                 \
    JSON({"full_attention": full, "sliding_attention": sliding})
/* clang-format on */

#define UNKNOWN_TO_TRANSFORMERS                                                                \
    RULE(model_plan_word, word_facts, .own_code = true,                                        \
         .note = "transformers does not know this model type: these are the facts of the "     \
                 "code that comes with the checkpoint.")
#define PUBLISHERS_CODE                                                                        \
    RULE(model_plan_word, word_facts, .own_code = true,                                        \
         .note = "transformers does not read this file: these are the facts of the code of "   \
                 "those who publish it.")
#define OWN_LLAMA(its_name, its_family, ...)                                                   \
    TYPE(its_name, "text", its_family ", by its own code", ROTARY(__VA_ARGS__),                \
         UNKNOWN_TO_TRANSFORMERS)
/* of a file of another dialect: what it says positions are */
#define BY_POSITIONS(...)                                                                      \
    LAYERS(.every_keys = "no_rope_layer_interval", .full = "no_rope", .other = "rope"),        \
        WHEN("positions", "rope", "rope"),                                                     \
        RULE(model_plan_layer_thetas, rotary_facts, .partial = 1,                              \
             .interleave_key = "rotary_interleaved", .still = "no_rope", __VA_ARGS__),         \
        WHEN("positions", "learned", "rope"), LEARNED(.suffix = NULL),                         \
        WHEN("positions", "none", "rope"), SAY("No positions, as the file says."),             \
        PUBLISHERS_CODE
#define DE_INTERLEAVED                                                                         \
    "Pairs are read from neighbouring columns (2i, 2i+1) and written de-interleaved, i and "   \
    "i + d/2."
#define NO_POSITIONS                                                                           \
    SAY("This model has no positions: order is in its recurrence or convolutions.")
#define CONVOLUTION                                                                            \
    RULE(                                                                                      \
        model_plan_word, word_facts, .kind = "convolution", .keys = "num_conv_pos_embeddings", \
        .note = "Positions come from a grouped convolution, whose weights are trained: there " \
                "is nothing to compute.")

#define BOX_BIASES                                                                             \
    WHEN("has_relative_attention_bias", "true", "true"),                                       \
        T5(.suffix = "bias", .heads = 12, .buckets_keys = "rel_pos_bins",                      \
           .distance_keys = "max_rel_pos"),                                                    \
        WHEN("has_spatial_attention_bias", "true", "true"),                                    \
        T5(.suffix = "bias_2d", .heads = 12, .buckets_keys = "rel_2d_pos_bins", .buckets = 64, \
           .distance_keys = "max_rel_2d_pos", .distance = 256,                                 \
           .note = "Once for x, once for y.")
#define BOX_TABLES                                                                             \
    LEARNED(.suffix = "boxes", .rows_keys = "max_2d_position_embeddings", .rows = 1024,        \
            .width_keys = "coordinate_size", .width = 128,                                     \
            .note = "Two tables of this shape: x and y of the sides of a box."),               \
        LEARNED(.suffix = "box_sizes", .rows_keys = "max_2d_position_embeddings",              \
                .rows = 1024, .width_keys = "shape_size", .width = 128,                        \
                .note = "Two tables of this shape: height and width of a box.")
#define ENCODER_STACK                                                                          \
    STACK("encoder", .layers = {.count_keys = "encoder_layers|num_hidden_layers"})
#define DECODER_STACK    STACK("decoder", .layers = {.count_keys = "decoder_layers"})
#define BOTH_STACKS(...) ENCODER_STACK, __VA_ARGS__, DECODER_STACK, __VA_ARGS__
/* fairseq's sinusoids: two rows more, and the first position after that of padding */
#define FAIRSEQ(...) TENSOR2TENSOR(__VA_ARGS__, .more = 2, .after_padding = true)
#define AUDIO_SINUSOIDS(...)                                                                   \
    TENSOR2TENSOR(__VA_ARGS__, .stored = true,                                                 \
                  .note = "Rows are those after the convolutions of stride 2.")

#define T5_STACKS(...)                                                                         \
    RULE(model_plan_t5_stacks, relative_facts, .heads_keys = "num_heads",                      \
         .note =                                                                               \
             "n_positions limits nothing; cross-attention has no bias, and scores are not "    \
             "divided by sqrt(d).",                                                            \
         __VA_ARGS__)
/* DeBERTa: without relative_attention as BERT, and perhaps both */
#define DISENTANGLED(its_width, ...)                                                           \
    WHEN("relative_attention", "true", "true"), DEBERTA(.width = (its_width), __VA_ARGS__),    \
        WHEN("relative_attention", "false", "true"),                                           \
        SAY("No distances: relative_attention is false, as in the class unless given."),       \
        WHEN("position_biased_input", "true", "true"),                                         \
        LEARNED(.suffix = "table", .rows = 512, .width = (its_width))
#define TWO_SIDED(...) RULE(model_plan_two_sided, relative_facts, __VA_ARGS__)

#define VIT(...)                                                                               \
    PATCHES(__VA_ARGS__, .facts = {"cls", "row 0"}, .preset = "vit",                           \
            .resized = "bicubic, align_corners False, no antialias")
#define BUCKETED(its_image, its_patch, its_width)                                              \
    PATCHES(.image = (its_image), .patch = (its_patch), .width = (its_width),                  \
            .preset = "idefics2",                                                              \
            .resized = "looked up by fractional buckets of the coordinates")

#define BEIT_BIAS RULE(model_plan_beit, cells_facts, .image = {224}, .patch = 16, .heads = 12)

#define SWIN(...)       RULE(model_plan_swin, swin_facts, .depths = {2, 2, 6, 2}, __VA_ARGS__)
#define SWIN_V1         SWIN(.window = 7, .heads = {3, 6, 12, 24}, .heads_keys = "num_heads")
#define DECOMPOSED(...) RULE(model_plan_decomposed, cells_facts, .heads = 12, __VA_ARGS__)
/* SAM: windows, but for some layers that see the whole image */
#define LATENTS(...) RULE(model_plan_latents, latents_facts, .patch = 2, __VA_ARGS__)
#define QUARTERS                                                                               \
    "columns", "h, then w", "frequencies", "theta^(-4i/head_dim), restarted for each axis",    \
        "order", "rows in merge blocks of m x m"
#define MERGED "spatial_merge_size", "spatial_merge_size", "2"
#define QWEN_AXES(frames)                                                                      \
    .scheme = "axial_rope", .preset = "qwen2_vl_vision", .cells = 16, .tube = (frames)
#define QWEN_GRID(its_width, its_heads, its_patch, frames, ...)                                \
    GRID(.kind = "rope_2d", .width = (its_width), .heads = (its_heads), .theta_keys = "",      \
         .patch = (its_patch), QWEN_AXES(frames), .facts = {QUARTERS}, .numbers = {MERGED},    \
         __VA_ARGS__)
#define SINES(...)                                                                             \
    GRID(.kind = "detr_sine_2d", .scheme = "sinusoidal_2d", .stride = 32, .cells = 25,         \
         .facts = {"normalize", "true", "scale", "2 pi", "order", "y | x", "layout",           \
                   "interleaved"},                                                             \
         .note = "Positions are cumulative sums of the mask.", __VA_ARGS__)
#define FROM_1             .centre = "positions begin at 1"
#define SINES_OF_DETR(...) SINES(.preset = "detr", FROM_1, __VA_ARGS__)
/* DETR and its kin: sinusoids, or trained tables of rows and of columns */
#define TABLE_OF(axis)                                                                         \
    WHEN("position_embedding_type", "learned", "sine"),                                        \
        LEARNED(.suffix = (axis), .rows_keys = "", .rows = 50,                                 \
                .width_keys = "d_model|hidden_size", .width = 256, .parts = 2,                 \
                .note = "A cell has the vector of its column, then that of its row.")
#define DETR(...)                                                                              \
    WHEN("position_embedding_type", "sine", "sine"), SINES(__VA_ARGS__), TABLE_OF("rows"),     \
        TABLE_OF("columns"), BACKBONE
#define SWIN_TABLE(its_more)                                                                   \
    WHEN("use_absolute_embeddings", "true", "false"),                                          \
        PATCHES(.suffix = "table", .image = 224, .patch = 4, .more = (its_more),               \
                .width_keys = "embed_dim", .width = 96, .preset = "vit",                       \
                .resized = "bicubic, align_corners False, no antialias")
#define AXES(widths, key, ...)                                                                 \
    GRID(.kind = "rope_nd", .theta_keys = "theta", .interleaved = true,                        \
         .head_keys = "attention_head_dim", .head = 128, .scheme = "axial_rope",               \
         .preset = "flux", .stride = 16, .cells = 64, .frames_keys = "no_frames", .frames = 1, \
         .numbers = {"axis_dims", (key), (widths)},                                            \
         .facts = {"precision", "float64 frequencies"}, __VA_ARGS__)
#define TIMESTEP(...)                                                                          \
    SINUSOIDAL(.suffix = "timestep", .rows_keys = "num_train_timesteps", .rows = 1000,         \
               .layout = "concat_cos_first", .frequencies = "vaswani",                         \
               .note = "Rows are timesteps of the diffusion.", __VA_ARGS__)

#define GEMMA4_TEXT(its_length)                                                                \
    LAYERS(.every = 6, .every_keys = "sliding_window_pattern", .pattern = "last"),             \
        ROTARY(.theta = 1e6, .head = 256, .length = (its_length), .local_theta = 10000,        \
               .global_head = 512, .global_keys = "global_head_dim", .no_scaling = true,       \
               .parameters = JSON({                                                            \
                   "full_attention": {                                                         \
                       "rope_type": "proportional",                                            \
                       "rope_theta": 1e6,                                                      \
                       "partial_rotary_factor": 0.25                                           \
                   },                                                                          \
                   "sliding_attention": {"rope_type": "default", "rope_theta": 1e4}            \
               }))
/* series: a row for each time step that the model sees or predicts */
#define SERIES                                                                                 \
    VASWANI(.rows_keys = "context_length|prediction_length", .rows = 24,                       \
            .more_keys = "prediction_length", .width_keys = "d_model", .width = 64)
#define QWEN3_5_ROTARY                                                                         \
    ROTARY(.picture = PICTURE(.patch = 16, .tube = 2, .frames = "apart"), .head = 256,         \
           .partial = 0.25, .length = 32768, .sections = {11, 11, 10},                         \
           .section_order = "interleaved")

/* Components by their row's name, and what else there is to say of them. */
#define TEXT(...)                                                                              \
    COMPONENT(.name = "text", .keys = "text_config|llm_config|language_config",                \
              .type = __VA_ARGS__)
#define OWN_TEXT(...) TEXT(__VA_ARGS__, .ignore_type = true)
#define FLAT_TEXT(its_type)                                                                    \
    COMPONENT(.name = "text", .keys = "text_config", .type = (its_type), .flat = true,         \
              .ignore_type = true)
#define VISION(...) COMPONENT(.name = "vision", .keys = "vision_config", .type = __VA_ARGS__)

#define OWN_VISION(...)   VISION(__VA_ARGS__, .ignore_type = true)
#define BOTH(stem)        OWN_TEXT(stem "_text"), OWN_VISION(stem "_vision")
#define BOTH_MODELS(stem) OWN_TEXT(stem "_text_model"), OWN_VISION(stem "_vision_model")

#define AUDIO(...)     COMPONENT(.name = "audio", .keys = "audio_config", .type = __VA_ARGS__)
#define OWN_AUDIO(...) AUDIO(__VA_ARGS__, .ignore_type = true)
#define BACKBONE                                                                               \
    COMPONENT(.name = "backbone", .keys = "backbone_config", .only_if_given = true,            \
              .optional = true)
/* CLIP's tower as LLaVA's class makes it where a file has none */
#define LLAVA_VISION VISION("clip_vision_model", .values = TOWER(1024, 24, 16, 336, 14))

/* a component of timm, of which a config has the name alone */
#define TIMM_VISION                                                                            \
    COMPONENT(.name = "vision", .keys = "vision_config", .only_if_given = true,                \
              .optional = true)
/* a row for the class token, then one for each patch */
#define CLIP_TOWER(its_image, its_patch, its_width)                                            \
    VIT(.image = (its_image), .patch = (its_patch), .more = 1, .width = (its_width))
#define GRID_TOWER(...)                                                                        \
    PATCHES(__VA_ARGS__, .preset = "vit",                                                      \
            .resized = "bicubic, align_corners False, no antialias",                           \
            .note = "There is no class token.")
#define SQUARE_TOWER(its_image, its_patch, its_width)                                          \
    GRID_TOWER(.image = (its_image), .patch = (its_patch), .width = (its_width))
#define OWN_QFORMER(its_type)                                                                  \
    COMPONENT(.name = "qformer", .keys = "qformer_config", .type = (its_type),                 \
              .ignore_type = true)
#define VLM(its_type) COMPONENT(.name = "vlm", .keys = "vlm_config", .type = (its_type))

/* what Gemma 4's class makes of files that have towers */
#define OWN_TOWERS(its_vision, its_audio)                                                      \
    COMPONENT(.name = "vision", .keys = "vision_config", .type = (its_vision),                 \
              .only_if_given = true, .ignore_type = true),                                     \
        COMPONENT(.name = "audio", .keys = "audio_config", .type = (its_audio),                \
                  .only_if_given = true, .ignore_type = true)
#define ROWS_AND_COLUMNS(key, its_width)                                                       \
    LEARNED(.suffix = "rows", .rows_keys = (key), .rows = 4096, .width = (its_width),          \
            .note = "Row 0 is that of padding; patches count from 1."),                        \
        LEARNED(.suffix = "columns", .rows_keys = (key), .rows = 4096, .width = (its_width))
#define SAM_OF_512                                                                             \
    OWN_VISION("sam_vision_model", .merged = true, .values = JSON({"image_size": 512}))
#define DEPTH_PRO(its_name, key)                                                               \
    RULE(model_plan_depth_pro, component_facts, .name = (its_name), .keys = (key),             \
         .type = "dinov2", .values = JSON({"image_size": 384}))
#define DINOV3(registers, ...)                                                                 \
    GRID(.kind = "rope_2d", .theta = 100, .patch = 16, .scheme = "axial_rope",                 \
         .preset = "dinov3", .prefix_keys = "num_register_tokens",                             \
         .facts = {"coordinates", "(k + 0.5) / N * 2 - 1, times 2 pi", "frequencies",          \
                   "theta^(-4i/head_dim)", "columns", "h, then w", "prefix_tokens",            \
                   "the class token and registers are not turned"},                            \
         .prefix = (registers),                                                                \
         .numbers = {"num_register_tokens", "num_register_tokens", #registers}, __VA_ARGS__)
#define SAM_MEMORY(side)                                                                       \
    GRID(.kind = "rope_2d", .width_keys = "memory_attention_hidden_size", .width = 256,        \
         .heads_keys = "memory_attention_num_attention_heads", .heads = 1,                     \
         .theta_keys = "memory_attention_rope_theta", .interleaved = true,                     \
         .scheme = "axial_rope", .preset = "sam2", .cells = (side),                            \
         .facts = {"columns", "x, then y"},                                                    \
         .numbers = {"feat_sizes", "memory_attention_rope_feat_sizes",                         \
                     "[" #side ", " #side "]"}),                                               \
        LEARNED(.suffix = "frames", .rows_keys = "num_maskmem", .rows = 7,                     \
                .width_keys = "memory_encoder_output_channels", .width = 64,                   \
                .note = "Row 0 is added to the memory of the frame before, the last row to "   \
                        "those of frames that a user has marked.")
#define SAM_PROMPTS                                                                            \
    COMPONENT(.name = "prompt", .keys = "prompt_encoder_config", .type = "sam_prompt_encoder", \
              .ignore_type = true)
/* sinusoids of the cells of the feature pyramid, here of its coarsest level */
#define SAM_NECK(its_cells, its_stride)                                                        \
    GRID(.suffix = "neck", .kind = "detr_sine_2d", .scheme = "sinusoidal_2d",                  \
         .preset = "detr", FROM_1, .width_keys = "fpn_hidden_size", .width = 256,              \
         .stride = (its_stride), .cells = (its_cells),                                         \
         .note = "Each level of the pyramid has them for its own grid.")
#define MLCD                                                                                   \
    GRID(.kind = "rope_2d", .width = 1664, .heads = 16, .theta_keys = "", .image = 336,        \
         .patch = 14, .scheme = "axial_rope",                                                  \
         .facts = {"columns", "h, then w", "frequencies",                                      \
                   "theta^(-4i/head_dim), restarted for each axis"},                           \
         .note = "The angles of the class token, before the grid's rows, are trained: "        \
                 "class_pos_emb.")
#define GRANITE_SPEECH(its_encoder)                                                            \
    TEXT("granite"),                                                                           \
        COMPONENT(.name = "encoder", .keys = "encoder_config", .type = (its_encoder),          \
                  .ignore_type = true),                                                        \
        COMPONENT(.name = "projector", .keys = "projector_config", .type = "blip_2_qformer")
#define VJEPA2(...)                                                                            \
    GRID(.kind = "rope_3d", .theta_keys = "", .image = 256, .patch = 16, .interleaved = true,  \
         .scheme = "axial_rope", .preset = "vjepa2", .frames_keys = "frames_per_clip",         \
         .frames = 64, .tubelet = 2,                                                           \
         .facts =                                                                              \
             {"columns",                                                                       \
              "frames, height, width: each 2 floor(floor(head_dim / 3) / 2); the rest is "     \
              "not turned",                                                                    \
              "quirk",                                                                         \
              "the table is tiled but pairs are neighbours, so that each pair has two "        \
              "angles: no rotation"},                                                          \
         .numbers = {"crop_size", "crop_size", "256", "frames_per_clip", "frames_per_clip",    \
                     "64", "tubelet_size", "tubelet_size", "2"},                               \
         __VA_ARGS__)
#define BOX_QUERIES                                                                            \
    SAY("Queries of the decoder have sinusoids of their boxes' coordinates, which the model "  \
        "computes itself.")
#define TIMM_ALONE                                                                             \
    TELL("The model is timm's, which the config names: this release does not know its "        \
         "positions.")

#endif
