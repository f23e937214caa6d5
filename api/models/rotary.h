/* Rotary parts: from the many spellings of their keys to the arguments of the scheme rope. */
#ifndef API_MODELS_ROTARY_H
#define API_MODELS_ROTARY_H

#include "models/pictures.h"

/* What a model type's class does where its config says nothing, and what it never reads. A
 * member that a row does not set is 0 or NULL: "as Llama". */
typedef struct rotary_facts {
    double theta;               /* 0: 10000 */
    double theta_4_53;          /* in release 4.53, where that differs */
    const char *theta_keys;     /* NULL: rope_theta; "": none beside the dictionary */
    const char *theta_object;   /* what holds the theta that release 4.53 reads; NULL: none */
    bool unscaled;              /* neither rope_scaling nor rope_parameters is read */
    bool no_scaling;            /* rope_scaling is not */
    double head;                /* columns of a head; 0: hidden_size / num_attention_heads */
    const char *head_keys;      /* NULL: head_dim; "": none */
    double hidden, heads;       /* the class's widths, for files that hold differences alone */
    double partial;             /* part of a head that turns; 0: all, whatever the key says */
    const char *partial_keys;   /* NULL: partial_rotary_factor */
    bool partial_forced;        /* … and no key is read */
    const char *width_key;      /* the number of columns that turn, in place of a part */
    double width;               /* its default; 0: a part */
    bool width_of_all;          /* … and null or 0 stands for hidden_size */
    bool interleaved;           /* pairs of neighbours, not of halves */
    const char *interleave_key; /* says so, if it is there */
    double length;              /* default of max_position_embeddings; 0: none */
    const char *length_keys;    /* NULL: max_position_embeddings */
    double original;            /* default of original_max_position_embeddings, on top */
    const char *parameters;     /* JSON of rope_parameters where none are given */
    const char *still;          /* types of layers that do not turn, by blanks … */
    const char *still_if;       /* … unless this key is null */
    bool turning_prefix;        /* … nor in dense layers before the mixtures of experts */
    double local_theta;         /* above 0: sliding layers have a table of their own */
    const char *full_name, *local_name;   /* what the dictionary calls the two kinds of layers;
                                           * NULL: full_attention, sliding_attention … */
    const char *full_types, *local_types; /* … and the types that are of each; NULL: the name */
    const char *local_theta_keys;
    bool local_scaled;        /* rope_scaling is for both tables */
    double global_head;       /* width of a head of layers of full attention … */
    const char *global_keys;  /* … and its key */
    bool alpha;               /* rope_type dynamic reads alpha */
    bool doubled;             /* a head has twice the quotient's columns */
    bool floored;             /* widths are rounded down; an odd one turns a column more */
    const char *factor_keys;  /* a factor beside, with which the rope_type is dynamic */
    const char *thetas_key;   /* a list of a theta for each layer, 0: the layer does not turn */
    bool still_without_theta; /* no layer turns where the dictionary's rope_theta is null */
    bool beside_wins; /* of a dictionary that is not by types of layers theta and the partial
                       * factor are not read, and yarn's attention_factor is 1 unless given */
    bool mscales;     /* short_mscale and long_mscale are attention factors */
    bool yarn_is_longrope; /* as su is */
    bool softmax_scale;    /* scores are multiplied by the square of yarn's mscale */
    double sections[3];    /* M-RoPE; all 0: only if the config has mrope_section */
    bool sections_interleaved;
    const char *axes;             /* the order of the sections; NULL: "thw" */
    const picture_facts *picture; /* M-RoPE: how pictures get positions; NULL: not known */
    bool reversed;                /* turns by minus the angle */
    const char *suffix;           /* of the part's name; NULL: none */
    bool besides;                 /* layers use it besides another one */
    const char *note;
} rotary_facts;

/* A rule: plan the rotary tables of a component. */
void model_plan_rotary(model_config *config, const void *facts);

/* ---- rotary_keys.c: what the keys say of one table ---- */

typedef struct rotary_keys {
    const rotary_facts *facts;
    const char *layer_type;  /* NULL: one table for all */
    bool is_local;           /* the layer type is that of sliding layers */
    bool is_flat;            /* the dictionary is not by types of layers */
    model_config dictionary; /* rope_scaling or rope_parameters, that of the layer type */
    const char *type;
    api_origin type_from;
    model_number theta, head, partial, width, longest, original;
    bool interleaved;
    api_origin interleaved_from;
    json_t *sections; /* mrope_section; NULL: not M-RoPE */
    api_origin sections_from;
} rotary_keys;

rotary_keys model_rotary_keys(model_config *config, const rotary_facts *facts,
                              const char *layer_type, bool is_local);

/* The columns that turn. */
double model_rotary_width(const rotary_keys *keys);

/* ---- rotary_types.c ---- */

/* Add the arguments of the rope_type, and the facts about them. `seq_len`: the length that
 * chooses between frequencies, 0: what the request or the config says. */
void model_rotary_type(const model_config *config, const rotary_keys *keys, double seq_len,
                       api_model_part *part);

/* Whether the type has two lists of divisors, one for long sequences. */
bool model_rotary_is_longrope(const rotary_keys *keys);

/* The rope_scaling of Llama 3.1's law with a factor, and its other published numbers. */
json_t *model_pack_llama3(double factor);

#endif
