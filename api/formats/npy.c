/* npy: the file format of numpy, version 1.0. */
#include "bytes/body.h"
#include "files/table_file.h"
#include "formats/format.h"
#include "formats/streams.h"

#include <stdlib.h>
#include <string.h>

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

static size_t make_header(const pe_tensor *tensor, char dst[PE_TABLE_HEADROOM])
{
    return api_npy_write_head(describe_dtype(tensor->dtype), tensor->shape, tensor->rank, dst);
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
