/* Which tensors of a file are converted, and how their heads lie. */
#ifndef API_CONVERT_SELECTION_H
#define API_CONVERT_SELECTION_H

#include "files/fused_qkv.h"

#include <jansson.h>

typedef enum api_convert_option {
    API_CONVERT_FROM,
    API_CONVERT_TO,
    API_CONVERT_HEADS,
    API_CONVERT_KV_HEADS,
    API_CONVERT_HEAD_DIM,
    API_CONVERT_ROTARY_DIM,
    API_CONVERT_ROTARY_OFFSET,
    API_CONVERT_AXIS,
    API_CONVERT_MODEL,
    API_CONVERT_CONFIG,
    API_CONVERT_QKV,
    API_CONVERT_TENSORS,
    API_CONVERT_KV_TENSORS,
    API_CONVERT_QKV_TENSORS,
    API_CONVERT_NONE,
    API_CONVERT_OPTIONS
} api_convert_option;

/* What a request may give. */
extern const pe_parameter api_convert_options[API_CONVERT_OPTIONS];

/* What it gave, and what follows from its config. */
typedef struct api_convert_request {
    pe_pairing from, to;
    api_head_counts known;
    uint64_t
        array_heads[2];    /* of a config: of queries and keys, one of which an npy file has */
    uint64_t latent;       /* of a config: rows of MLA's latent and key; 0: not known */
    uint64_t rotary_dim;   /* 0: all columns from the offset on */
    int64_t rotary_offset; /* from the end of a head if it is negative */
    bool has_offset;       /* it was given, or the config says it */
    int axis;              /* from the end if it is negative */
    bool has_axis;         /* it was given */
    bool allows_none;      /* a file of which nothing is converted passes */
    api_qkv qkv;           /* of tensors with query, key and value */
    api_qkv config_qkv;    /* the same as the config has it, if both do */
    const char *tensors, *kv_tensors, *qkv_tensors; /* names and patterns, joined by commas */
    const char *config; /* the option with the config: "model" or "config"; NULL: none */
    bool by_default[3]; /* of these lists: it was not given */
} api_convert_request;

/* Find the heads of an npy file's array. False: a problem was added to reterr. */
bool api_convert_npy(const api_convert_request *asked, const api_file *file,
                     api_conversion *ret_conversion, pe_error *reterr);

/* Find the heads of those tensors of a safetensors file that are asked for, which may be none;
 * `header` is that of api_safetensors_load. */
bool api_convert_safetensors(const api_convert_request *asked, const json_t *header,
                             uint64_t data, uint64_t file_size, api_conversion *ret_conversion,
                             pe_error *reterr);

#endif
