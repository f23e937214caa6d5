/* npy: the file format of numpy, version 1.0. */
#include "bytes/body.h"
#include "formats/format.h"
#include "formats/streams.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PREAMBLE  10 /* magic, version, header length */
#define ALIGNMENT 64

/* The name that numpy has for a dtype; NULL if it has none. */
static const char *describe_dtype(pe_dtype dtype)
{
    switch (dtype) {
    case PE_F32:
        return "<f4";
    case PE_F64:
        return "<f8";
    case PE_F16:
        return "<f2";
    case PE_I32:
        return "<i4";
    case PE_BF16:
    case PE_DTYPE_COUNT:
    case PE_DD:
    case PE_LOSS:
        break;
    }
    return NULL;
}

static const char *refuses(pe_dtype dtype)
{
    return describe_dtype(dtype) ? NULL : "npy has no bf16, but safetensors and raw have";
}

/* Write the header, with padding that aligns the data after it. Returns its length. */
static size_t make_header(const pe_tensor *tensor, char dst[PE_TABLE_HEADROOM])
{
    char text[PE_TABLE_HEADROOM];
    int used = snprintf(text, sizeof text, "{'descr': '%s', 'fortran_order': False, 'shape': (",
                        describe_dtype(tensor->dtype));
    for (size_t i = 0; i < tensor->rank; i++)
        used += snprintf(text + used, sizeof text - (size_t)used, "%s%llu", i ? ", " : "",
                         (unsigned long long)tensor->shape[i]);
    used += snprintf(text + used, sizeof text - (size_t)used, "%s), }",
                     tensor->rank == 1 ? "," : "");
    size_t length = (PREAMBLE + (size_t)used + 1 + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    assert(length <= PE_TABLE_HEADROOM);
    size_t header = length - PREAMBLE;
    memcpy(dst, "\x93NUMPY\x01\x00", 8);
    dst[8] = (char)(header & 0xff);
    dst[9] = (char)(header >> 8);
    memcpy(dst + PREAMBLE, text, (size_t)used);
    memset(dst + PREAMBLE + used, ' ', header - (size_t)used);
    dst[length - 1] = '\n';
    return length;
}

static uint64_t length(const api_selection *selection)
{
    char header[PE_TABLE_HEADROOM];
    const pe_tensor *tensor = pe_request_tensor(selection->request, selection->first);
    return make_header(tensor, header) + tensor->bytes;
}

/* The header is written right before the data, so that the file is one contiguous piece. */
static api_body *write_body(const api_selection *selection, pe_table *table, size_t *ret_bytes)
{
    char header[PE_TABLE_HEADROOM];
    const pe_tensor *tensor = pe_table_tensor(table, selection->first);
    size_t size = make_header(tensor, header);
    unsigned char *start =
        pe_table_headroom(table, selection->first) + PE_TABLE_HEADROOM - size;
    memcpy(start, header, size);
    *ret_bytes = 0;
    return api_body_from_table(table, NULL, &(api_segment){start, size + (size_t)tensor->bytes},
                               1);
}

static api_body *stream(const api_selection *selection, pe_error *reterr)
{
    char *header = malloc(PE_TABLE_HEADROOM);
    if (!header)
        return NULL;
    size_t size = make_header(pe_request_tensor(selection->request, selection->first), header);
    return api_body_from_tensors(selection, header, size, &selection->first, reterr);
}

const api_format api_format_npy = {
    .name = "npy",
    .media_type = "application/x-npy",
    .extension = "npy",
    .help = "one tensor as numpy saves it (version 1.0), for numpy.load",
    .revision = 1,
    .single = true,
    .refuses = refuses,
    .length = length,
    .write = write_body,
    .stream = stream,
};
