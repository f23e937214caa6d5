/* Streams: the bytes of one tensor, computed in blocks of rows as they are read. */
#include "requests/request.h"
#include "tables/buffer.h"

#include <stdlib.h>
#include <string.h>

#define ROW_ALIGNMENT 8      /* enough for every element type */
#define READ_PRICE    0x1p21 /* of the rows that one read may compute: about a millisecond */
#define LONG_PRICE    0x1p24 /* the same where a row takes half of that: several are cheaper */

struct pe_stream {
    pe_request *request;
    void *state;
    size_t tensor;
    uint64_t rows, row_bytes;
    uint64_t wanted;      /* rows from this one on will probably not be read */
    pe_pool *pool;        /* of the block, or NULL */
    unsigned char *block; /* holds rows [first, first + filled), at most block_rows */
    size_t capacity;      /* bytes of the block */
    uint64_t block_rows, first, filled;
    uint64_t read_rows; /* the most that one read computes */
    double row_price;
};

/* The rows of a block, and the most that one read computes. */
static uint64_t block_rows(const pe_request *request, size_t tensor, size_t block_bytes,
                           uint64_t *ret_read_rows)
{
    const pe_tensor *shape = &request->plan.tensors[tensor];
    uint64_t row_bytes = shape->bytes / shape->rows;
    uint64_t rows = row_bytes < block_bytes ? block_bytes / row_bytes : 1;
    double row_price = pe_row_price(request, tensor);
    bool is_long = 2 * row_price > READ_PRICE;
    *ret_read_rows = pe_rows_of_price(row_price, is_long ? LONG_PRICE : READ_PRICE);
    return rows < *ret_read_rows ? rows : *ret_read_rows;
}

uint64_t pe_stream_footprint(const pe_request *request, size_t tensor, size_t block_bytes)
{
    const pe_tensor *shape = &request->plan.tensors[tensor];
    uint64_t read_rows, row_bytes = shape->bytes / shape->rows;
    uint64_t rows = block_rows(request, tensor, block_bytes, &read_rows);
    return pe_buffer_capacity((size_t)(rows * row_bytes)) + pe_request_held(request);
}

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
    stream->row_price = pe_row_price(request, tensor);
    stream->block_rows = block_rows(request, tensor, block_bytes, &stream->read_rows);
    stream->pool = runner ? runner->pool : NULL;
    stream->block = pe_buffer_allocate(
        stream->pool, (size_t)(stream->block_rows * stream->row_bytes), &stream->capacity);
    if (!stream->block)
        goto fail;
    if (pe_request_begin(request, runner, reterr))
        pe_request_prepare(request, runner, &stream->state, reterr);
    pe_request_end(request, runner);
    if (reterr->status != PE_OK)
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
    pe_kept_free(stream->state);
    pe_buffer_release(stream->pool, stream->block, stream->capacity);
    pe_request_unref(stream->request);
    free(stream);
}

uint64_t pe_stream_size(const pe_stream *stream)
{
    return stream->rows * stream->row_bytes;
}

double pe_stream_price(const pe_stream *stream, uint64_t bytes)
{
    uint64_t block_bytes = stream->block_rows * stream->row_bytes;
    uint64_t blocks = bytes / block_bytes + (bytes % block_bytes > 0);
    return (double)blocks * (double)stream->block_rows * stream->row_price;
}

void pe_stream_end_at(pe_stream *stream, uint64_t end)
{
    uint64_t wanted = end / stream->row_bytes + (end % stream->row_bytes > 0);
    stream->wanted = wanted < stream->rows ? wanted : stream->rows;
}

static void fill_rows(const pe_stream *stream, uint64_t row, uint64_t rows, void *dst)
{
    pe_request_fill(stream->request, stream->state, (pe_window){stream->tensor, row, rows},
                    dst);
}

/* Fill the block from `row` on. */
static void fill_block(pe_stream *stream, uint64_t row)
{
    uint64_t rest = (row < stream->wanted ? stream->wanted : stream->rows) - row;
    stream->first = row;
    stream->filled = rest < stream->block_rows ? rest : stream->block_rows;
    fill_rows(stream, row, stream->filled, stream->block);
}

static bool is_in_block(const pe_stream *stream, uint64_t offset)
{
    uint64_t row = offset / stream->row_bytes;
    return row >= stream->first && row < stream->first + stream->filled;
}

/* A read of at least this many rows computes them directly in its destination. A block would
 * save the cost that the rows of one window share, which is larger for f64, but for a large
 * window that is less than the cost of copying. */
#define DIRECT_ROWS     128
#define DIRECT_ROWS_F64 256

static uint64_t direct_rows(const pe_stream *stream)
{
    bool wide = stream->request->plan.tensors[stream->tensor].dtype == PE_F64;
    return wide ? DIRECT_ROWS_F64 : DIRECT_ROWS;
}

/* Compute whole rows of a read directly in dst, at most `most`, if they are many and not in the
 * block. Returns their bytes, 0 if that is not possible. */
static size_t fill_directly(const pe_stream *stream, uint64_t offset, uint64_t most, void *dst,
                            size_t size)
{
    uint64_t row = offset / stream->row_bytes, rows = size / stream->row_bytes;
    rows = rows < most ? rows : most;
    if (is_in_block(stream, offset) || rows < direct_rows(stream) ||
        offset % stream->row_bytes != 0 || (uintptr_t)dst % ROW_ALIGNMENT != 0)
        return 0;
    fill_rows(stream, row, rows, dst);
    return (size_t)(rows * stream->row_bytes);
}

/* Copy bytes from the block, which is filled first if it does not hold them. Returns how many
 * bytes were copied: at most `size`, and at most up to the end of the block. */
static size_t read_block(pe_stream *stream, uint64_t offset, unsigned char *dst, size_t size)
{
    if (!is_in_block(stream, offset))
        fill_block(stream, offset / stream->row_bytes);
    uint64_t start = offset - stream->first * stream->row_bytes;
    uint64_t rest = stream->filled * stream->row_bytes - start;
    size_t part = rest < size ? (size_t)rest : size;
    memcpy(dst, stream->block + start, part);
    return part;
}

size_t pe_stream_read(pe_stream *stream, uint64_t offset, void *dst, size_t size)
{
    unsigned char *to = dst;
    uint64_t end = pe_stream_size(stream);
    if (offset >= end)
        return 0;
    if (size > end - offset)
        size = (size_t)(end - offset);
    size_t done = 0;
    for (uint64_t left = stream->read_rows; done < size;) {
        bool held = is_in_block(stream, offset + done);
        if (!held && left < stream->block_rows && done > 0)
            break;
        size_t part = fill_directly(stream, offset + done, left, to + done, size - done);
        uint64_t rows = part > 0 ? part / stream->row_bytes : held ? 0 : stream->block_rows;
        left -= rows < left ? rows : left;
        bool direct = part > 0;
        if (!direct)
            part = read_block(stream, offset + done, to + done, size - done);
        done += part;
        if (direct && size - done < stream->row_bytes)
            break; /* a block for a part of a row would be copied by the next reads */
    }
    return done;
}

bool pe_stream_read_fully(pe_stream *stream, uint64_t offset, void *dst, size_t size)
{
    size_t done = 0, got = 1;
    while (done < size && got > 0)
        done += got = pe_stream_read(stream, offset + done, (char *)dst + done, size - done);
    return done == size;
}
