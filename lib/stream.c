/* Streams: one tensor's bytes in blocks of rows, computed as they are read. */
#include "buffer.h"
#include "request.h"

#include <stdlib.h>
#include <string.h>

#define ROW_ALIGNMENT 8 /* what every element type is content with */

struct pe_stream {
    pe_request *request;
    void *state;
    size_t tensor, capacity;
    uint64_t rows, row_bytes, block_rows; /* block_rows: that fit the block */
    uint64_t wanted;        /* rows from this one on are not expected to be read */
    uint64_t first, filled; /* the block holds rows [first, first + filled) */
    unsigned char *block;
};

pe_status pe_stream_new(pe_request *request, size_t tensor, size_t block_bytes,
                        const pe_runner *runner, pe_stream **ret_stream, pe_error *reterr)
{
    const pe_tensor *shape = &request->plan.tensors[tensor];
    pe_error_init(reterr);
    pe_stream *stream = calloc(1, sizeof *stream);
    if (!stream)
        goto fail;
    stream->request = pe_request_ref(request);
    stream->tensor = tensor;
    stream->rows = stream->wanted = shape->rows;
    stream->row_bytes = shape->bytes / shape->rows;
    stream->block_rows = stream->row_bytes < block_bytes ? block_bytes / stream->row_bytes : 1;
    stream->block =
        pe_buffer_allocate((size_t)(stream->block_rows * stream->row_bytes), &stream->capacity);
    if (!stream->block || pe_request_prepare(request, runner, &stream->state, reterr) != PE_OK)
        goto fail;
    *ret_stream = stream;
    return PE_OK;
fail:
    pe_stream_free(stream);
    if (reterr->status == PE_OK)
        pe_error_add(reterr, PE_NO_MEMORY, "", "", "memory for the stream");
    return reterr->status;
}

void pe_stream_free(pe_stream *stream)
{
    if (!stream)
        return;
    pe_request_release(stream->request, stream->state);
    pe_buffer_release(stream->block, stream->capacity);
    pe_request_free(stream->request);
    free(stream);
}

uint64_t pe_stream_size(const pe_stream *stream)
{
    return stream->rows * stream->row_bytes;
}

void pe_stream_end_at(pe_stream *stream, uint64_t end)
{
    uint64_t wanted = end / stream->row_bytes + (end % stream->row_bytes > 0);
    stream->wanted = wanted < stream->rows ? wanted : stream->rows;
}

static void fill(const pe_stream *stream, uint64_t row, uint64_t rows, void *dst)
{
    const pe_request *request = stream->request;
    request->values.scheme->fill(&request->values, &request->plan, stream->state,
                                 (pe_window){stream->tensor, row, rows}, dst);
}

/* Have the block hold a row. */
static void fill_block(pe_stream *stream, uint64_t row)
{
    uint64_t rest = (row < stream->wanted ? stream->wanted : stream->rows) - row;
    stream->first = row;
    stream->filled = rest < stream->block_rows ? rest : stream->block_rows;
    fill(stream, row, stream->filled, stream->block);
}

/* Rows in a read from which on they are made where they are wanted: then a block, which saves
 * what the rows of a window share, is not worth the copying. */
#define DIRECT_ROWS 1024

/* Make whole rows at once in dst, if there are many and the block does not hold them; returns
 * their bytes. */
static size_t fill_directly(const pe_stream *stream, uint64_t offset, void *dst, size_t size)
{
    uint64_t row = offset / stream->row_bytes, rows = size / stream->row_bytes;
    bool held = row >= stream->first && row < stream->first + stream->filled;
    if (held || rows < DIRECT_ROWS || offset % stream->row_bytes != 0 ||
        (uintptr_t)dst % ROW_ALIGNMENT != 0)
        return 0;
    fill(stream, row, rows, dst);
    return (size_t)(rows * stream->row_bytes);
}

size_t pe_stream_read(pe_stream *stream, uint64_t offset, void *dst, size_t size)
{
    unsigned char *to = dst;
    uint64_t end = stream->rows * stream->row_bytes;
    size_t wanted = offset >= end ? 0 : end - offset < size ? (size_t)(end - offset) : size;
    for (size_t left = wanted, part; left > 0; left -= part, to += part, offset += part) {
        part = fill_directly(stream, offset, to, left);
        if (part > 0)
            continue;
        uint64_t row = offset / stream->row_bytes;
        if (row < stream->first || row >= stream->first + stream->filled)
            fill_block(stream, row);
        uint64_t within = offset - stream->first * stream->row_bytes;
        uint64_t there = stream->filled * stream->row_bytes - within;
        part = there < left ? (size_t)there : left;
        memcpy(to, stream->block + within, part);
    }
    return wanted;
}
