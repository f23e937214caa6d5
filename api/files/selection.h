/* Which tensors of a file are converted, and how their heads lie. */
#ifndef API_CONVERSION_SELECTION_H
#define API_CONVERSION_SELECTION_H

#include "files/converted.h"

typedef enum api_convert_option {
    API_CONVERT_FROM,
    API_CONVERT_TO,
    API_CONVERT_HEADS,
    API_CONVERT_KV_HEADS,
    API_CONVERT_ROTARY_DIM,
    API_CONVERT_AXIS,
    API_CONVERT_TENSORS,
    API_CONVERT_KV_TENSORS,
    API_CONVERT_OPTIONS
} api_convert_option;

/* What a request may give. */
extern const pe_parameter api_convert_options[API_CONVERT_OPTIONS];

/* What it gave. */
typedef struct api_convert_request {
    pe_pairing from, to;
    uint64_t heads, kv_heads;
    uint64_t rotary_dim;              /* 0: all columns of a head */
    int axis;                         /* from the end if it is negative */
    const char *tensors, *kv_tensors; /* names and patterns, joined by commas */
} api_convert_request;

/* Find the heads of an npy file's array. False: a problem was added to reterr. */
bool api_convert_npy(const api_convert_request *asked, const api_file *file,
                     api_conversion *ret_conversion, pe_error *reterr);

/* Find the heads of those tensors of a safetensors file that are asked for. */
bool api_convert_safetensors(const api_convert_request *asked, const api_file *file,
                             api_conversion *ret_conversion, pe_error *reterr);

#endif
