/* The header of a safetensors file: 8 bytes of length, little-endian, and a JSON object. */
#ifndef API_SET_HEADER_H
#define API_SET_HEADER_H

#include "store.h"

#include <jansson.h>

#define API_SET_LENGTH_SIZE 8 /* bytes before the header, which hold its length */
#define API_SET_METADATA    "__metadata__"

/* Parse the header of a file whose first `size` bytes are there; *ret_data is where the file's
 * data begins. The caller drops the object. On failure returns NULL and fills reterr. */
json_t *api_set_header_load(const char *bytes, size_t size, size_t *ret_data, pe_error *reterr);

/* Read the data_offsets of a tensor in a header, from the first of `room` bytes of data. False
 * if they are none, or not within them. */
bool api_set_offsets(const json_t *tensor, uint64_t room, uint64_t *ret_begin,
                     uint64_t *ret_end);

/* A tensor of a file. */
typedef struct api_set_entry {
    pe_tensor tensor; /* its name lies in the header's root */
    uint64_t begin;   /* offset of its data from the first byte of data */
} api_set_entry;

typedef struct api_set_header {
    json_t *root; /* the parsed JSON object */
    size_t data;  /* offset of the first byte of data in the file */
    size_t count;
    api_set_entry *entries; /* in the order of their data */
} api_set_header;

/* Read the header of a file of `size` bytes and check it: dtypes, shapes, and data offsets,
 * which must cover the rest of the file without holes or overlaps. On failure returns false and
 * fills reterr. Call api_set_header_done in both cases. */
bool api_set_header_read(const char *bytes, size_t size, api_set_header *ret_header,
                         pe_error *reterr);
void api_set_header_done(api_set_header *header);

#endif
