/* What the keys of a config say of one rotary table. */
#ifndef API_MODELS_ROTARY_KEYS_H
#define API_MODELS_ROTARY_KEYS_H

#include "models/pictures.h"

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
    bool is_level;    /* yarn's attention_factor is 1 unless given */
    json_t *sections; /* mrope_section; NULL: not M-RoPE */
    api_origin sections_from;
} rotary_keys;

rotary_keys model_rotary_keys(model_config *config, const rotary_facts *facts,
                              const char *layer_type, bool is_local);

/* The columns that turn. */
static inline double model_rotary_width(const rotary_keys *keys)
{
    return isnan(keys->width.value) ? floor(keys->head.value * keys->partial.value)
                                    : keys->width.value;
}

#endif
