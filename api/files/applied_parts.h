/* What finding tensors and writing results share. */
#ifndef API_APPLIED_PARTS_H
#define API_APPLIED_PARTS_H

#include "files/applied.h"

#include <jansson.h>

struct api_applied {
    api_request request; /* whose body is the file */
    bool is_npy;
    api_file file;
    json_t *root;         /* the header of a safetensors file */
    size_t data;          /* where the file's data begins */
    bool takes_positions; /* the scheme, of rows */
    pe_view positions;
    const pe_application *applications;
    size_t application_count;
    size_t count;                   /* of results */
    size_t chosen[PE_TENSORS_MAX];  /* [count]: of the applications */
    pe_view inputs[PE_TENSORS_MAX]; /* [count] */
    bool is_compared;
    api_applied_tensor results[PE_TENSORS_MAX];
};

#endif
