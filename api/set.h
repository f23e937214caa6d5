/* The header of a safetensors file. */
#ifndef API_SET_H
#define API_SET_H

#include "store.h"

#include <jansson.h>

/* A tensor's place in a file. */
typedef struct api_set_entry {
    pe_tensor tensor; /* named as in the header */
    uint64_t begin;   /* offset from the first byte of data */
} api_set_entry;

typedef struct api_set_header {
    json_t *root; /* what the names lie in */
    size_t data;  /* where the tensors' bytes begin in the file */
    size_t count;
    api_set_entry *entries; /* in the order of their data */
} api_set_header;

/* Read and check the header against the file's size: dtypes, shapes, offsets without holes or
 * overlaps. False with reterr filled. Finish with api_set_header_done either way. */
bool api_set_header_read(const char *bytes, size_t size, api_set_header *ret_header,
                         pe_error *reterr);
void api_set_header_done(api_set_header *header);

#endif
