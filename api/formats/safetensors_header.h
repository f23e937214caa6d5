/* The head of a safetensors file: tensors with their places, and metadata. */
#ifndef API_SAFETENSORS_HEADER_H
#define API_SAFETENSORS_HEADER_H

#include "formats/format.h"

#include <jansson.h>

/* A tensor of the file, and the name that it has there. */
typedef struct api_named_tensor {
    const char *name;
    const pe_tensor *tensor;
} api_named_tensor;

/* An object as one string, since metadata are strings. */
json_t *api_safetensors_text(const json_t *object);

/* The scheme, its revision and the values of a request's parameters, all as strings, which the
 * format asks for. The release is not among them: a file is the same in the next one. NULL
 * without memory. */
json_t *api_safetensors_strings(const pe_request *request);

/* The length of the header in 8 bytes, and the header, padded with blanks so that the data of
 * the first tensor is aligned: from malloc. The tensors must be ordered by descending element
 * size, so that all of them are. Consumes the metadata, which may be NULL for lack of memory.
 * ret_size is the size of both, ret_data that of the tensors' data. NULL without memory. */
char *api_safetensors_head(json_t *metadata, const api_named_tensor *tensors, size_t count,
                           size_t *ret_size, uint64_t *ret_data);

#endif
