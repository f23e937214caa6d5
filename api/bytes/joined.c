/* Bodies one after the other. */
#include "bytes/joined.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

typedef struct joined {
    size_t count, index; /* the body that is being read */
    uint64_t start;      /* its offset in the whole */
    api_body *bodies[];
} joined;

/* Copy bytes of a body that lies in memory. */
static size_t read_segments(const api_body *body, uint64_t offset, char *dst, size_t room)
{
    const api_segment *segments;
    size_t count = api_body_segments(body, &segments), done = 0;
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

/* A read of a stream ends where more would take long, so no other one follows in this call. */
static size_t read_joined(void *state, uint64_t offset, char *dst, size_t room)
{
    joined *whole = state;
    size_t done = 0;
    bool ended = false;
    assert(offset >= whole->start);
    while (whole->index < whole->count && done < room && !ended) {
        api_body *body = whole->bodies[whole->index];
        bool stream = api_body_is_stream(body);
        uint64_t from = offset + done - whole->start;
        size_t part = stream ? api_body_read(body, from, dst + done, room - done)
                             : read_segments(body, from, dst + done, room - done);
        done += part;
        ended = stream && part > 0;
        if (part > 0)
            continue;
        whole->start = offset + done;
        whole->bodies[whole->index++] = NULL;
        api_body_unref(body);
    }
    return done;
}

static void free_joined(void *state)
{
    joined *whole = state;
    for (size_t i = 0; i < whole->count; i++)
        api_body_unref(whole->bodies[i]);
    free(whole);
}

api_body *api_body_join(api_body *const *bodies, size_t count)
{
    uint64_t size = 0;
    joined *whole = malloc(sizeof *whole + count * sizeof *bodies);
    bool complete = whole != NULL;
    for (size_t i = 0; i < count; i++)
        complete = complete && bodies[i];
    if (!complete) {
        for (size_t i = 0; i < count; i++)
            api_body_unref(bodies[i]);
        free(whole);
        return NULL;
    }
    bool slow = false;
    *whole = (joined){.count = count};
    for (size_t i = 0; i < count; i++) {
        uint64_t part = api_body_size(bodies[i]);
        bool known = size != API_LENGTH_UNKNOWN && part != API_LENGTH_UNKNOWN;
        size = known ? size + part : API_LENGTH_UNKNOWN;
        whole->bodies[i] = bodies[i];
        slow = slow || api_body_is_slow(bodies[i]);
    }
    return api_body_from_source(&(api_source){
        .state = whole, .size = size, .read = read_joined, .free = free_joined, .slow = slow});
}
