/* How the heads of a model's queries and keys lie, and which of their columns turn: from its
 * config.json, or from the name of a known model. */
#ifndef API_MODELS_ATTENTION_H
#define API_MODELS_ATTENTION_H

#include "api.h"

#include <jansson.h>

/* Of the layers with rotary positions. What the config does not say is 0. */
typedef struct api_attention {
    uint64_t heads, kv_heads;
    uint64_t head_dim;     /* columns of a head */
    uint64_t rotary_dim;   /* columns that turn … */
    int64_t rotary_offset; /* … from this one on; below 0: counted from the end of a head */
    uint64_t latent;       /* of MLA: columns of a latent and of the key behind it */
    const char *pairing;   /* of the columns as the class reads them: "half", "interleaved" */
    char qkv[48];          /* how a tensor of query, key and value holds them, as the option
                            * `qkv` of /v1/convert/rope; "": the class has no such tensor */
} api_attention;

/* Read a config.json. False: a problem was added; one with the config names a key of it, one
 * that it has no rotary positions, or two kinds of heads, names `option`. */
bool api_attention_from_config(const char *text, size_t size, const char *option,
                               const pe_limits *limits, api_attention *ret_attention,
                               pe_error *reterr);

/* The same of a known model, by name; the option is `model`. False, too, if there is none. */
bool api_attention_from_name(const char *name, const pe_limits *limits,
                             api_attention *ret_attention, pe_error *reterr);

/* The text of the config.json in the header of a safetensors file: `config` or `config.json`
 * of its __metadata__. NULL: it has none. */
const char *api_attention_find_config(const json_t *header);

#endif
