/* The table of model types, and what applies its rows. */
#ifndef API_MODELS_TYPES_H
#define API_MODELS_TYPES_H

#include "models/config.h"
#include "models/parts.h"

/* The table. Rules that look a type up take it from the planner, since rows are made of rules.
 */
extern const model_types model_all_types;

/* ---- identity.c ---- */

/* The row of a model type; NULL if there is none. */
const model_type *model_type_find(const model_types *types, const char *name);

/* The model type that a name is a slip of: NULL, rather than one whose tables are others. */
const char *model_type_suggest(const model_types *types, const char *name);

/* The row that reads a config. NULL, with a problem, if there is none. */
const model_type *find_model_type(const model_config *config);

/* ---- requested.c: the components that a request asks for ---- */

/* Whether the request asks for a component, or for one inside of it. */
bool model_is_requested(const model_planner *planner, const char *name);

/* Leave out of a finished plan what was not asked for. Names of no component are problems. */
void model_keep_asked(model_planner *planner);

/* ---- components.c: rules about components ---- */

/* Apply the rules of config->type to the config. */
void model_plan_type(model_config *config);

/* A component that is an object of its own in the config. */
typedef struct component_facts {
    const char *name;      /* "text" */
    const char *keys;      /* "text_config" */
    const char *type;      /* where the object has no model_type */
    bool flat;             /* older files hold the keys beside the other components */
    bool only_if_given;    /* an absent one is no component; else it has the class's defaults */
    bool ignore_type;      /* the class does not look at the object's model_type */
    bool optional;         /* an object of an unknown type is noted, not refused */
    const char *values;    /* JSON of what the parent's class gives an absent object … */
    bool merged;           /* … and for each key that a given object lacks */
    double first;          /* the position of its first token */
    const char *image_key; /* the parent's number that is its image_size; NULL: its own */
} component_facts;
void model_plan_component(model_config *config, const void *facts);

/* What follows belongs to one of several stacks in the same object, such as a decoder. */
typedef struct stack_facts {
    const char *name;
    layer_facts layers;
} stack_facts;
void model_plan_stack(model_config *config, const void *facts);

/* Note the objects of a config that describe components and that no rule has read. */
void model_note_omission(model_planner *planner, json_t *config);

/* ---- absolute.c ---- */

/* A trained table with a row for each position, or one of sinusoids. */
typedef struct table_facts {
    const char *suffix;     /* of the part's name, NULL: none */
    const char *rows_keys;  /* NULL: max_position_embeddings; "": none, `rows` are fixed */
    double rows;            /* where the config does not say */
    double more;            /* rows that the table has beyond these */
    const char *width_keys; /* NULL: hidden_size */
    double width;
    double parts;                     /* that width is divided by … */
    const char *parts_keys;           /* … a number of the config; NULL: `parts` alone */
    double first;                     /* the row of position 0 */
    bool after_padding;               /* … is pad_token_id + 1 … */
    bool zero_padding;                /* … whose default is 0, not 1 */
    bool rows_after;                  /* and so many rows the table has more */
    const char *more_keys;            /* a number of rows beyond; NULL: none */
    const char *layout, *frequencies; /* of sinusoids, as the scheme's parameters */
    const char *base_keys;            /* of sinusoids; NULL: 10000 */
    bool stored;                      /* the checkpoint holds the sinusoids as well */
    const char *resized;              /* how it is fitted to another size */
    const char *note;
} table_facts;
void model_plan_learned(model_config *config, const void *facts);
void model_plan_sinusoidal(model_config *config, const void *facts);

/* A trained table with a row for each patch of an image. */
typedef struct patches_facts {
    const char *suffix;
    double image, patch;    /* sides in pixels, where the config does not say */
    double image_width;     /* 0: the image is square */
    const char *image_keys; /* NULL: image_size */
    const char *patch_keys; /* NULL: patch_size */
    const char *side_keys;  /* a number of rows in all, in place of image and patch */
    double side;
    double more;            /* class tokens and the like … */
    const char *more_keys;  /* … and a key with the number of those beyond; NULL: none */
    double more_by_key;     /* where the config does not say */
    double frames;          /* above 0: rows for num_frames / tubelet_size frames */
    const char *width_keys; /* NULL: hidden_size */
    double width;
    const char *class_row; /* which row is that of the class token */
    const char *resized;
    const char *preset; /* of the scheme resized, for an image of the request */
    const char *gate;
    bool merged;     /* spatial_merge_size patches a side of an image are one token */
    bool sinusoidal; /* computed, not trained: MAE's table */
    const char *note;
} patches_facts;
void model_plan_patches(model_config *config, const void *facts);

/* A trained table with a row for each patch of a spectrogram; patches may overlap. */
typedef struct spectrogram_facts {
    double bands, length, patch, stride;
    double more; /* class tokens and the like */
    double width;
} spectrogram_facts;
void model_plan_spectrogram(model_config *config, const void *facts);

/* Sinusoids over the number of a token among those of all frames of a video. */
typedef struct video_facts {
    const char *suffix;
    double image, patch, frames, tube;
    const char *width_keys;
    double width;
} video_facts;
void model_plan_video(model_config *config, const void *facts);

/* A trained table with a row for each aspect ratio of an image that is cut into tiles. */
typedef struct tiles_facts {
    const char *suffix;
    bool patches; /* of all patches of a tile, not one vector for the tile */
    const char *note;
} tiles_facts;
void model_plan_tiles(model_config *config, const void *facts);

/* The side of an image, a patch or the like, in pixels, from one number, [height, width] or
 * {"height", "width"}; axis 0 is the height. */
model_number model_side(const model_config *config, const char *keys, double fallback,
                        size_t axis);

/* ---- windows.c ---- */

#define MODEL_STAGES 8

/* Biases of windows, in stages that each have heads of their own. */
typedef struct swin_facts {
    double window;               /* cells a side */
    double depths[MODEL_STAGES]; /* layers of each stage, up to a 0 */
    double heads[MODEL_STAGES];
    const char *heads_keys;
    bool network;        /* Swin v2: the bias comes from a network */
    bool pretrained;     /* … that was trained with windows of pretrained_window_sizes */
    double image, patch; /* above 0: windows shrink to the grid of the image */
    bool halved;         /* … of which each stage has half of the cells a side */
    bool by_stage;       /* timm: stages may have windows of their own, and always_partition
                          * keeps windows from shrinking */
} swin_facts;
void model_plan_swin(model_config *config, const void *facts);

/* Layers in stages, by a list of how many each has. */
typedef struct depths_facts {
    const char *keys;
    double depths[MODEL_STAGES]; /* up to a 0 */
} depths_facts;
void model_plan_depths(model_config *config, const void *facts);

/* Tables for the cells of an image. */
typedef struct cells_facts {
    double image, patch, width, heads;
    double image_width; /* 0: the image is square */
    bool windows;       /* layers of the type "window" see window_size cells a side */
    double window;      /* 0: the whole grid */
} cells_facts;
void model_plan_beit(model_config *config, const void *facts);
void model_plan_decomposed(model_config *config, const void *facts);

/* ---- diffusion.c ---- */

/* Sinusoids of the patches of latents: diffusers' PatchEmbed. */
typedef struct latents_facts {
    double sample, patch; /* latents a side of an image, and of a patch; 0: must be given */
    double heads, head;
    double table; /* above 0: the centre of a table of pos_embed_max_size cells a side */
    bool scaled;  /* positions are divided by interpolation_scale */
} latents_facts;
void model_plan_latents(model_config *config, const void *facts);

/* Timesteps of a U-Net: diffusers' Timesteps. */
typedef struct unet_facts {
    double channels; /* the first of block_out_channels */
} unet_facts;
void model_plan_unet(model_config *config, const void *facts);

/* ---- relative.c ---- */

typedef struct relative_facts {
    const char *suffix;
    const char *heads_keys; /* NULL: num_attention_heads */
    double heads;
    const char *buckets_keys, *distance_keys;
    double buckets, distance;
    bool one_way;           /* T5: not bidirectional */
    bool every_layer;       /* a table for each layer, not one for all */
    const char *width_keys; /* of what has columns */
    double width;
    double left, right; /* Shaw: clipped distances */
    const char *left_keys, *right_keys;
    bool
        query_minus_key; /* Shaw: `left` and `right` count what query minus key is clipped to */
    const char *layout;
    const char *preset; /* ALiBi: of the scheme */
    bool divided;       /* … whose bias is divided by sqrt(head_dim) with the scores */
    const char *note;
} relative_facts;
void model_plan_t5(model_config *config, const void *facts);
void model_plan_t5_stacks(model_config *config, const void *facts); /* encoder and decoder */
void model_plan_alibi(model_config *config, const void *facts);
void model_plan_deberta(model_config *config, const void *facts);
void model_plan_transformer_xl(model_config *config, const void *facts);
void model_plan_two_sided(model_config *config, const void *facts);
void model_plan_shaw(model_config *config, const void *facts);

/* ---- grids.c ---- */

/* Rotary tables over the cells of an image or a video, and other things that have facts. */
typedef struct grid_facts {
    const char *kind; /* "rope_2d", "rope_3d", "rope_nd", "swin_relative_bias" … */
    const char *suffix;
    const char *head_keys; /* the width of a head */
    double head;
    const char *width_keys; /* else width / heads; NULL: hidden_size */
    double width;
    const char *heads_keys; /* NULL: num_attention_heads */
    double heads;
    const char *theta_keys; /* "": fixed */
    double theta;           /* 0: 10000 */
    bool interleaved;
    double image, patch; /* defaults; 0: the grid is that of the image alone */
    const char *patch_keys;
    double more;             /* rows beyond the cells */
    const char *scheme;      /* what computes it; NULL: facts alone */
    const char *preset;      /* of that scheme; NULL: none */
    double stride;           /* pixels of a cell; 0: patch_size */
    double cells;            /* cells a side, where there is no image */
    const char *prefix_keys; /* of registers: rows before the grid, with a class token … */
    double prefix;           /* … and how many where the config does not say */
    bool unmerged;           /* rows are in order, not in squares of spatial_merge_size … */
    bool merged_video;       /* … but for those of a video */
    double tubelet;          /* default of tubelet_size; 0: 1 */
    const char *object;      /* what holds the width of sinusoids; NULL: the config */
    const char *centre;      /* where the positions of sinusoids lie */
    const char *height_theta_keys; /* of sinusoids of rows; NULL: as those of columns */
    bool centred;                  /* rows and columns are counted from the middle */
    double tube;             /* above 0: as Qwen2-VL, frames that are one, and merged patches */
    const char *frames_keys; /* of a video; NULL: an image */
    double frames;           /* where the config does not say */
    const char *facts[16];   /* name, text, …: what else there is to know, up to NULL */
    const char *numbers[16]; /* name, key, default as text, …: numbers from the config */
    const char *note;
} grid_facts;
void model_plan_grid(model_config *config, const void *facts);

/* ---- timm_rope.c ---- */

/* Rotary tables of timm's Eva; of the facts theta alone is read. */
void model_plan_timm_rope(model_config *config, const void *facts);

/* ---- grids.c, without grids ---- */

/* Something about the whole component: what it has instead of positions. */
typedef struct word_facts {
    const char *kind; /* "convolution": a part without numbers; NULL: no part */
    const char *note;
    const char *keys; /* of a number to show */
    bool told;        /* it says what positions are that this release does not compute */
    bool own_code;    /* the class is in no library: its code comes with the checkpoint */
} word_facts;
void model_plan_word(model_config *config, const void *facts);

/* Queries that are multiplied by a number that grows with the position. */
typedef struct temperature_facts {
    bool llama4;   /* else as Ministral 3 … */
    double beta;   /* … whose llama_4_scaling_beta is this without rope_parameters … */
    double length; /* … and original_max_position_embeddings this; 0: 16384 */
} temperature_facts;
void model_plan_temperature(model_config *config, const void *facts);

#endif
