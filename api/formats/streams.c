/* Streamed bodies: a header, then the bytes of one tensor after the other. */
#include "formats/streams.h"

#include "bytes/body.h"
#include "bytes/reserve.h"

#include <stdlib.h>
#include <string.h>

typedef struct tensor_source {
    char *header;
    size_t header_size, count;
    pe_stream *streams[PE_TENSORS_MAX];
} tensor_source;

bool api_open_streams(const api_selection *selection, const size_t *order, size_t block_bytes,
                      pe_stream **ret_streams, pe_error *reterr)
{
    size_t opened = 0;
    if (!api_reserve_lasting(API_READ_MAX, "the stream", reterr))
        return false;
    for (size_t i = 0; i < selection->count; i++)
        if (!api_reserve_lasting(pe_stream_footprint(selection->request, order[i], block_bytes),
                                 "the stream", reterr))
            return false;
    while (opened < selection->count &&
           pe_stream_new(selection->request, order[opened], block_bytes, selection->runner,
                         &ret_streams[opened], reterr) == PE_OK)
        opened++;
    if (opened == selection->count)
        return true;
    while (opened > 0) {
        pe_stream_free(ret_streams[--opened]);
        ret_streams[opened] = NULL;
    }
    return false;
}

void api_stream_read_all(pe_stream *stream, uint64_t offset, void *dst, size_t size)
{
    for (size_t done = 0, part = 1; done < size && part > 0; done += part)
        part = pe_stream_read(stream, offset + done, (char *)dst + done, size - done);
}

static void free_source(void *state)
{
    tensor_source *source = state;
    for (size_t i = 0; i < source->count; i++)
        pe_stream_free(source->streams[i]);
    free(source->header);
    free(source);
}

static size_t read_source(void *state, uint64_t offset, char *dst, size_t room)
{
    const tensor_source *source = state;
    size_t done = 0;
    if (offset < source->header_size) {
        size_t rest = source->header_size - (size_t)offset;
        done = rest < room ? rest : room;
        memcpy(dst, source->header + offset, done);
    }
    uint64_t position = offset + done - source->header_size; /* in the tensors' bytes */
    for (size_t i = 0; i < source->count && done < room; i++) {
        uint64_t size = pe_stream_size(source->streams[i]);
        if (position < size) {
            size_t part = pe_stream_read(source->streams[i], position, dst + done, room - done);
            done += part;
            if (position + part < size)
                break;    /* the room is full, or more would take long */
            position = 0; /* the next tensor is read from its start */
        } else {
            position -= size;
        }
    }
    return done;
}

api_body *api_body_from_tensors(const api_selection *selection, char *header,
                                size_t header_size, const size_t *order, pe_error *reterr)
{
    tensor_source *source = calloc(1, sizeof *source);
    uint64_t part = selection->until - selection->from;
    /* the bytes computed at a time: no more than will be read */
    size_t block = selection->block_bytes ? selection->block_bytes : PE_STREAM_FAST;
    if (selection->until && part < block)
        block = (size_t)part;
    if (!source || !api_open_streams(selection, order, block, source->streams, reterr)) {
        free(source);
        free(header);
        return NULL;
    }
    source->header = header;
    source->header_size = header_size;
    source->count = selection->count;
    uint64_t size = header_size;
    bool slow = false;
    for (size_t i = 0; i < source->count; i++) {
        slow = slow || pe_stream_price(source->streams[i], 1) > API_QUICK_READ;
        if (selection->until)
            pe_stream_end_at(source->streams[i],
                             selection->until > size ? selection->until - size : 0);
        size += pe_stream_size(source->streams[i]);
    }
    return api_body_from_source(&(api_source){
        .state = source, .size = size, .read = read_source, .free = free_source, .slow = slow});
}
