/* Rotary parts: from the many spellings of their keys to the arguments of the scheme rope. */
#ifndef API_MODELS_ROTARY_H
#define API_MODELS_ROTARY_H

#include "models/pictures.h"

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
