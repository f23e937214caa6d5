/* Streamed bodies: a header, then the bytes of one tensor after the other. */
#include "formats/streams.h"

#include "bytes/body.h"
#include "bytes/joined.h"
#include "bytes/memory_budget.h"

#include <stdlib.h>

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

bool api_is_slow_stream(const api_selection *selection, const pe_stream *stream, uint64_t bytes)
{
    return pe_stream_price(stream, bytes) > API_QUICK_READ ||
           pe_request_held(selection->request) > API_QUICK_STATE;
}

/* An api_source's `read` and `free`. */
static size_t read_stream(void *state, uint64_t offset, char *dst, size_t room)
{
    return pe_stream_read(state, offset, dst, room);
}

static void free_stream(void *state)
{
    pe_stream_free(state);
}

api_body *api_body_from_tensors(const api_selection *selection, char *header,
                                size_t header_size, const size_t *order, pe_error *reterr)
{
    pe_stream *streams[PE_TENSORS_MAX];
    api_source sources[PE_TENSORS_MAX];
    uint64_t part = selection->until - selection->from, end = header_size;
    /* the bytes computed at a time: no more than will be read */
    size_t block = selection->block_bytes ? selection->block_bytes : PE_STREAM_FAST;
    if (selection->until && part < block)
        block = (size_t)part;
    if (!api_open_streams(selection, order, block, streams, reterr)) {
        free(header);
        return NULL;
    }
    for (size_t i = 0; i < selection->count; i++) {
        pe_stream *stream = streams[i];
        if (selection->until)
            pe_stream_end_at(stream, selection->until > end ? selection->until - end : 0);
        sources[i] = (api_source){.state = stream,
                                  .size = pe_stream_size(stream),
                                  .read = read_stream,
                                  .free = free_stream,
                                  .slow = api_is_slow_stream(selection, stream, 1)};
        end += sources[i].size;
    }
    return api_body_from_sources(header, header_size, sources, selection->count);
}
