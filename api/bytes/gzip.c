/* Compressing bodies: in one piece, or as they are read. */
#include "bytes/gzip.h"

#include "bytes/body.h"
#include "bytes/memory_budget.h"
#include "bytes/text.h"

#include <assert.h>
#include <stdlib.h>
#include <zlib.h>

#define LEVEL       1
#define GZIP_WINDOW (15 + 16) /* 15: the largest window; 16: gzip's header and trailer */
#define MEMORY      8         /* zlib's default */
#define ZLIB_BYTES  ((size_t)300 << 10) /* of its window and tables */
#define OUT_ROOM    ((size_t)64 << 10)
#define STEP        ((size_t)1 << 30) /* bytes for one call: zlib counts in unsigned int */

static voidpf allocate_for_zlib(voidpf context, uInt count, uInt size)
{
    (void)context;
    return malloc((size_t)count * size);
}

static void free_for_zlib(voidpf context, voidpf block)
{
    (void)context;
    free(block);
}

static bool begin_deflate(z_stream *stream)
{
    *stream = (z_stream){.zalloc = allocate_for_zlib, .zfree = free_for_zlib};
    return deflateInit2(stream, LEVEL, Z_DEFLATED, GZIP_WINDOW, MEMORY, Z_DEFAULT_STRATEGY) ==
           Z_OK;
}

/* ---- in one piece ---- */

/* Compress some input and append what zlib gives out; with Z_FINISH also what it still holds
 * back. */
static bool compress_part(z_stream *stream, const void *data, size_t size, int flush,
                          api_text *out)
{
    stream->next_in = (z_const Bytef *)(uintptr_t)data;
    stream->avail_in = (uInt)size;
    do {
        char *end = api_text_room(out, OUT_ROOM);
        if (!end)
            return false;
        size_t room = out->capacity - out->size;
        stream->next_out = (Bytef *)end;
        stream->avail_out = (uInt)(room < STEP ? room : STEP);
        deflate(stream, flush); /* it fails only if it is called wrongly */
        out->size += (size_t)(stream->next_out - (Bytef *)end);
    } while (stream->avail_out == 0);
    assert(stream->avail_in == 0);
    return true;
}

static bool compress_segment(z_stream *stream, const api_segment *segment, api_text *out)
{
    const char *data = segment->data;
    for (size_t rest = segment->size; rest > 0;) {
        size_t part = rest < STEP ? rest : STEP;
        if (!compress_part(stream, data, part, Z_NO_FLUSH, out))
            return false;
        data += part;
        rest -= part;
    }
    return true;
}

api_body *api_gzip_body(const api_body *plain, size_t *ret_bytes)
{
    const api_segment *segments;
    size_t count = api_body_segments(plain, &segments);
    z_stream stream;
    api_text out;
    if (!begin_deflate(&stream))
        return NULL;
    /* printed numbers shrink to less than half, and a text that grows needs fresh memory */
    api_text_begin(&out, api_body_pool(plain), (size_t)api_body_size(plain) / 2 + OUT_ROOM);
    bool complete = !out.failed;
    for (size_t i = 0; complete && i < count; i++)
        complete = compress_segment(&stream, &segments[i], &out);
    complete = complete && compress_part(&stream, NULL, 0, Z_FINISH, &out);
    deflateEnd(&stream);
    out.failed = !complete;
    return api_body_take_text(&out, ret_bytes);
}

/* ---- as it is read ---- */

typedef struct gzip_source {
    api_body *plain;
    uint64_t taken; /* bytes that have been read of `plain` */
    z_stream stream;
    bool ended;     /* everything has been read of it */
    char in[32768]; /* the input that zlib works on */
} gzip_source;

static void free_source(void *state)
{
    gzip_source *source = state;
    deflateEnd(&source->stream);
    api_body_unref(source->plain);
    free(source);
}

/* Feed zlib with input until it gives out some bytes; it may hold back a lot before. Returns
 * how many bytes, up to `room`, were written. */
static size_t read_source(void *state, uint64_t offset, char *dst, size_t room)
{
    (void)offset;
    gzip_source *source = state;
    z_stream *stream = &source->stream;
    uInt size = (uInt)(room < STEP ? room : STEP);
    stream->next_out = (Bytef *)dst;
    stream->avail_out = size;
    while (size > 0) {
        int result = deflate(stream, source->ended ? Z_FINISH : Z_NO_FLUSH);
        if (result == Z_STREAM_END || stream->avail_out < size)
            break;
        size_t got = api_body_read(source->plain, source->taken, source->in, sizeof source->in);
        source->taken += got;
        source->ended = got == 0;
        stream->next_in = (Bytef *)source->in;
        stream->avail_in = (uInt)got;
    }
    return size - stream->avail_out;
}

api_body *api_gzip_stream(api_body *plain)
{
    pe_error error;
    pe_error_init(&error);
    bool room =
        plain && api_reserve_lasting(sizeof(gzip_source) + ZLIB_BYTES, "the stream", &error);
    gzip_source *source = room ? malloc(sizeof *source) : NULL;
    if (!source || !begin_deflate(&source->stream)) {
        free(source);
        api_body_unref(plain);
        return NULL;
    }
    source->plain = plain;
    source->taken = 0;
    source->ended = false;
    /* zlib may take megabytes of text that repeats itself before it gives out a byte */
    return api_body_from_source(&(api_source){.state = source,
                                              .size = API_LENGTH_UNKNOWN,
                                              .read = read_source,
                                              .free = free_source,
                                              .slow = true});
}
