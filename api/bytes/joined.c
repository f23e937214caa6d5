/* Bodies and sources one after the other. */
#include "bytes/joined.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

typedef struct piece {
    api_source source;
    bool goes_on; /* behind its end the next piece may be read in the same call */
} piece;

typedef struct joined {
    size_t count, index; /* the piece that is being read */
    uint64_t start;      /* its offset in the whole */
    piece pieces[];
} joined;

/* Copy bytes of a body that lies in memory. */
static size_t read_segments(void *state, uint64_t offset, char *dst, size_t room)
{
    const api_segment *segments;
    size_t count = api_body_segments(state, &segments), done = 0;
    for (size_t i = 0; i < count && done < room; i++) {
        if (offset >= segments[i].size) {
            offset -= segments[i].size;
            continue;
        }
        size_t rest = segments[i].size - (size_t)offset;
        size_t part = rest < room - done ? rest : room - done;
        memcpy(dst + done, (const char *)segments[i].data + offset, part);
        done += part;
        offset = 0;
    }
    return done;
}

static size_t read_stream(void *state, uint64_t offset, char *dst, size_t room)
{
    return api_body_read(state, offset, dst, room);
}

static void free_body(void *state)
{
    api_body_unref(state);
}

/* Leave the piece that is being read, which ends at `end`. */
static void leave_piece(joined *whole, uint64_t end)
{
    const api_source *source = &whole->pieces[whole->index++].source;
    whole->start = end;
    if (source->free)
        source->free(source->state);
}

/* A read of a stream ends where more would take long, so no other body follows in this call. */
static size_t read_joined(void *state, uint64_t offset, char *dst, size_t room)
{
    joined *whole = state;
    size_t done = 0;
    bool ended = false;
    assert(offset >= whole->start);
    while (whole->index < whole->count && done < room && !ended) {
        const piece *next = &whole->pieces[whole->index];
        const api_source *source = &next->source;
        uint64_t at = offset + done, from = at - whole->start;
        bool over = from >= source->size;
        size_t part = over ? 0 : source->read(source->state, from, dst + done, room - done);
        done += part;
        if (part > 0)
            ended = !next->goes_on || from + part < source->size;
        else if (over)
            leave_piece(whole, whole->start + source->size);
        else if (source->size == API_LENGTH_UNKNOWN)
            leave_piece(whole, at);
        else
            ended = true; /* it cannot be read any further */
    }
    return done;
}

static void free_joined(void *state)
{
    joined *whole = state;
    while (whole->index < whole->count)
        leave_piece(whole, 0);
    free(whole);
}

/* Room for `count` pieces, none of them there yet. NULL without memory. */
static joined *new_joined(size_t count)
{
    return calloc(1, sizeof(joined) + count * sizeof(piece));
}

/* The body of all pieces; without it, or if not all are there, they are freed. */
static api_body *finish_joined_body(joined *whole, bool complete)
{
    api_source all = {.state = whole, .read = read_joined, .free = free_joined};
    if (!whole)
        return NULL;
    if (!complete) {
        free_joined(whole);
        return NULL;
    }
    for (size_t i = 0; i < whole->count; i++) {
        const api_source *source = &whole->pieces[i].source;
        bool known = all.size != API_LENGTH_UNKNOWN && source->size != API_LENGTH_UNKNOWN;
        all.size = known ? all.size + source->size : API_LENGTH_UNKNOWN;
        all.slow = all.slow || source->slow;
    }
    return api_body_from_source(&all);
}

/* Add a body, or drop it where there is no whole. False: there is none to add. */
static bool add_body(joined *whole, api_body *body)
{
    if (!whole || !body) {
        api_body_unref(body);
        return false;
    }
    bool streamed = api_body_is_stream(body);
    whole->pieces[whole->count++] =
        (piece){.source = {.state = body,
                           .size = api_body_size(body),
                           .read = streamed ? read_stream : read_segments,
                           .free = free_body,
                           .slow = api_body_is_slow(body)},
                .goes_on = !streamed};
    return true;
}

api_body *api_body_join(api_body *const *bodies, size_t count)
{
    joined *whole = new_joined(count);
    bool complete = whole != NULL;
    for (size_t i = 0; i < count; i++)
        complete &= add_body(whole, bodies[i]);
    return finish_joined_body(whole, complete);
}

api_body *api_body_from_sources(char *head, size_t head_size, const api_source *sources,
                                size_t count)
{
    joined *whole = new_joined(count + 1);
    bool complete = whole != NULL;
    if (head)
        complete &= add_body(whole, api_body_from_text(head, head_size));
    for (size_t i = 0; i < count; i++)
        if (whole)
            whole->pieces[whole->count++] = (piece){.source = sources[i], .goes_on = true};
        else if (sources[i].free)
            sources[i].free(sources[i].state);
    return finish_joined_body(whole, complete);
}
