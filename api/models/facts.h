/* What a row of the table of model types states: the facts of each rule, which are what the
 * class does where a config says nothing. A member that a row does not set is 0 or NULL. Keys
 * are one or several, joined by "|". */
#ifndef API_MODELS_FACTS_H
#define API_MODELS_FACTS_H

#include <stdbool.h>

typedef struct model_config model_config;
struct rotary_keys;

/* ---- components and their layers ---- */

/* A component that is an object of its own in the config. */
typedef struct component_facts {
    const char *name;   /* "text" */
    const char *keys;   /* "text_config" */
    const char *type;   /* where the object has no model_type */
    bool flat;          /* older files hold the keys beside the other components */
    bool only_if_given; /* an absent one is no component; else it has the class's defaults */
    bool ignore_type;   /* the class does not look at the object's model_type */
    bool optional;      /* an object of an unknown type is noted, not refused */
    const char *values; /* JSON of what the parent's class gives an absent object … */
    bool merged;        /* … and for each key that a given object lacks */
} component_facts;

/* How a component's layers get their types, where the config has no `layer_types`. */
typedef struct layer_facts {
    const char *count_keys; /* NULL: num_hidden_layers */
    int every;              /* one of so many layers is `full`, the last one … */
    const char *every_keys; /* … unless a key says another number, or a text such as "LLLG" */
    const char
        *pattern; /* words: "first": the first one of so many is; "from_end": counted
                   * from    the last layer, which is; "last": so is the last layer,
                   * "or_last" if    no other one; "cut": flags may be more than layers */
    const char *full, *other; /* NULL: full_attention, sliding_attention */
    const char *flags_key;    /* a list with 0 for each `full` layer … */
    const char *prefix_key;   /* how many `full` layers are before the pattern; NULL: none */
    bool own_types;           /* layer_types say nothing about positions */
    const char *indices_key;  /* a list of the `full` layers, by index … */
    const char *indices;      /* … and the class's own list, as JSON; NULL: none */
} layer_facts;

/* What follows belongs to one of several stacks in the same object, such as a decoder. */
typedef struct stack_facts {
    const char *name;
    layer_facts layers;
} stack_facts;

/* ---- rotary positions ---- */

/* How a model cuts pictures, where its vision_config does not say, and how their tokens get
 * positions: get_rope_index of its class. */
typedef struct picture_facts {
    double patch;             /* side in pixels: patch_size */
    double merge;             /* patches a side of a token: spatial_merge_size */
    double tube;              /* frames that are one: temporal_patch_size; 0: none are */
    double temporal_merge;    /* above 1: temporal_merge_size frames become one */
    const char *frames;       /* frame_positions of the scheme mrope; NULL: no videos */
    double tokens_per_second; /* where frames are placed by seconds; 0: they are not */
} picture_facts;

/* What a model type's class does where its config says nothing, and what it never reads. A
 * member that a row does not set is 0 or NULL: "as Llama". */
typedef struct rotary_facts {
    /* what the class does besides with the keys, of rotary_own.c; NULL: nothing */
    void (*own)(const model_config *config, struct rotary_keys *keys);
    double theta;               /* 0: 10000 */
    double theta_4_53;          /* in release 4.53, where that differs */
    const char *theta_keys;     /* NULL: rope_theta; "": none beside the dictionary */
    bool unscaled;              /* neither rope_scaling nor rope_parameters is read */
    bool no_scaling;            /* rope_scaling is not */
    double head;                /* columns of a head; 0: hidden_size / num_attention_heads */
    const char *head_keys;      /* NULL: head_dim; "": none */
    double hidden, heads;       /* the class's widths, for files that hold differences alone */
    double partial;             /* part of a head that turns; 0: all, whatever the key says */
    const char *partial_keys;   /* NULL: partial_rotary_factor; "": none */
    const char *width_key;      /* the number of columns that turn, in place of a part */
    double width;               /* its default; 0: a part */
    bool interleaved;           /* pairs of neighbours, not of halves */
    const char *interleave_key; /* says so, if it is there */
    double length;              /* default of max_position_embeddings; 0: none */
    double original;            /* default of original_max_position_embeddings, on top */
    const char *parameters;     /* JSON of rope_parameters where none are given */
    const char *still;          /* types of layers that do not turn, by blanks … */
    const char *still_if;       /* … unless this key is null */
    double local_theta;         /* above 0: sliding layers have a table of their own */
    const char *local_theta_keys;
    bool local_scaled;            /* rope_scaling is for both tables */
    double global_head;           /* width of a head of layers of full attention … */
    const char *global_keys;      /* … and its key */
    bool alpha;                   /* rope_type dynamic reads alpha */
    bool ntk;                     /* its own code has a rope_type ntk, which is ntk_fixed */
    bool floored;                 /* widths are rounded down; an odd one turns a column more */
    bool softmax_scale;           /* scores are multiplied by the square of yarn's mscale */
    double sections[3];           /* M-RoPE; all 0: only if the config has mrope_section */
    const char *section_order;    /* "interleaved", "alternating": hwt; NULL: chunked */
    const picture_facts *picture; /* M-RoPE: how pictures get positions; NULL: not known */
    const char *suffix;           /* of the part's name; NULL: none */
    bool besides;                 /* layers use it besides another one */
    const char *note;
} rotary_facts;

/* Queries that are multiplied by a number that grows with the position. */
typedef struct temperature_facts {
    double beta;   /* llama_4_scaling_beta where there are no rope_parameters */
    double length; /* the same of original_max_position_embeddings; 0: 16384 */
} temperature_facts;

/* ---- tables with a row for each position ---- */

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
    const char *more_keys;            /* a number of rows beyond; NULL: none */
    const char *layout, *frequencies; /* of sinusoids, as the scheme's parameters */
    const char *base_keys;            /* of sinusoids; NULL: 10000 */
    bool stored;                      /* the checkpoint holds the sinusoids as well */
    const char *note;
} table_facts;

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
    const char *width_keys; /* NULL: hidden_size */
    double width;
    const char *facts[6]; /* name, text, …: "cls" says which row is that of the class token */
    const char *resized;
    const char *preset; /* of the scheme resized, for an image of the request */
    bool merged;        /* spatial_merge_size patches a side of an image are one token */
    const char *note;
} patches_facts;

/* ---- windows, grids and distances ---- */

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

/* Tables for the cells of an image. */
typedef struct cells_facts {
    double image[2]; /* height and width; 0: the image is square */
    double patch, width, heads;
    bool windows;  /* layers of the type "window" see window_size cells a side */
    double window; /* 0: the whole grid */
} cells_facts;

typedef struct relative_facts {
    const char *suffix;
    const char *heads_keys; /* NULL: num_attention_heads */
    double heads;
    const char *buckets_keys, *distance_keys;
    double buckets, distance;
    bool every_layer;       /* a table for each layer, not one for all */
    const char *width_keys; /* of what has columns */
    double width; /* ALiBi: above 0 the bias is divided by sqrt(head_dim) with the scores */
    double left, right; /* Shaw: clipped distances, of two keys or of distance_keys */
    const char *layout; /* ALiBi: mask; T5: NULL or "one_way"; Shaw: `difference`, where left
                         * and right count what query minus key is clipped to */
    const char *preset; /* ALiBi: of the scheme */
    bool geometric;     /* ALiBi: slopes of any number of heads are a geometric sequence */
    const char *note;
} relative_facts;

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
    const char *in_order;    /* rows are, not in squares of spatial_merge_size: "always", or
                              * "pictures": not those of a video */
    const char *object;      /* what holds the width of sinusoids; NULL: the config */
    const char *centre;      /* where the positions of sinusoids lie */
    const char *height_theta_keys; /* of sinusoids of rows; NULL: as those of columns */
    bool centred;                  /* rows and columns are counted from the middle */
    double tube;             /* above 0: as Qwen2-VL, frames that are one, and merged patches */
    const char *frames_keys; /* of a video; NULL: an image */
    double frames;           /* where the config does not say */
    double tubelet;          /* default of tubelet_size; 0: 1 */
    const char *facts[16];   /* name, text, …: what else there is to know, up to NULL */
    const char *numbers[16]; /* name, key, default as text, …: numbers from the config */
    const char *note;
} grid_facts;

/* ---- models of diffusers ---- */

/* Sinusoids of the patches of latents: diffusers' PatchEmbed. */
typedef struct latents_facts {
    double sample, patch; /* latents a side of an image, and of a patch; 0: must be given */
    double heads, head;
    double table; /* above 0: the centre of a table of pos_embed_max_size cells a side */
    bool scaled;  /* positions are divided by interpolation_scale */
} latents_facts;

/* ---- models without positions ---- */

/* Something about the whole component: what it has instead of positions. */
typedef struct word_facts {
    const char *kind; /* "convolution": a part without numbers; NULL: no part */
    const char *note;
    const char *keys; /* of a number to show */
    bool told;        /* it says what positions are that this release does not compute */
    bool own_code;    /* the class is in no library: its code comes with the checkpoint */
} word_facts;

#endif
