/* Streamed bodies of tensors' bytes: a header, then one tensor after the other. */
#include "streams.h"

#include "reply.h"

#include <stdlib.h>
#include <string.h>

typedef struct tensor_source {
    char *header;
    size_t header_size, count;
    pe_stream *streams[API_TENSORS_MAX];
} tensor_source;

bool api_open_streams(const api_selection *selection, const size_t *order, size_t block_bytes,
                      pe_stream **ret_streams)
{
    size_t opened = 0;
    pe_error error;
    while (opened < selection->count &&
           pe_stream_new(selection->request, order[opened], block_bytes, selection->runner,
                         &ret_streams[opened], &error) == PE_OK)
        opened++;
    if (opened == selection->count)
        return true;
    while (opened > 0) {
        pe_stream_free(ret_streams[--opened]);
        ret_streams[opened] = NULL;
    }
    return false;
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
    uint64_t at = offset + done - source->header_size; /* of the tensors' bytes */
    for (size_t i = 0; i < source->count && done < room; i++) {
        uint64_t size = pe_stream_size(source->streams[i]);
        if (at < size) {
            done += pe_stream_read(source->streams[i], at, dst + done, room - done);
            at = 0; /* the next tensor from its start */
        } else {
            at -= size;
        }
    }
    return done;
}

api_body *api_body_from_tensors(const api_selection *selection, char *header,
                                size_t header_size, const size_t *order)
{
    tensor_source *source = calloc(1, sizeof *source);
    uint64_t part = selection->until - selection->from;
    size_t block = selection->until && part < PE_STREAM_FAST ? (size_t)part : PE_STREAM_FAST;
    if (!source || !api_open_streams(selection, order, block, source->streams)) {
        free(source);
        free(header);
        return NULL;
    }
    source->header = header;
    source->header_size = header_size;
    source->count = selection->count;
    uint64_t size = header_size;
    for (size_t i = 0; i < source->count; i++) {
        if (selection->until)
            pe_stream_end_at(source->streams[i],
                             selection->until > size ? selection->until - size : 0);
        size += pe_stream_size(source->streams[i]);
    }
    return api_body_from_source(&(api_source){source, size, read_source, free_source});
}
