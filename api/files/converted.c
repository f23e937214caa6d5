/* Reading a file whose columns change places: byte moves alone. */
#include "files/converted.h"

#include "files/body_file.h"

#include <stdlib.h>
#include <string.h>

/* Heads of up to so many bytes are read whole and sorted in memory, many at a time. Entries of
 * larger ones are read one by one. */
#define GATHERED ((uint64_t)256 << 10)

typedef struct converted_file {
    api_request request; /* whose body is the file */
    api_conversion conversion;
    size_t part;            /* the first part that does not end before the bytes read last */
    uint64_t first, size;   /* bytes of the file that `sorted` holds; size 0: none */
    unsigned char *read_in; /* [GATHERED] */
    unsigned char *sorted;  /* [GATHERED] */
} converted_file;

static uint64_t min_bytes(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* Whether the head that begins at byte `offset` stays as it is. */
static bool is_still(const api_heads *part, uint64_t offset)
{
    const uint64_t head = (offset - part->begin) / (part->width * part->entry) % part->period;
    return head >= part->still && head < part->still + part->stills;
}

/* The place in its head of the entry that comes to `place`. */
static uint64_t find_source(const api_conversion *conversion, const api_heads *part,
                            uint64_t place)
{
    if (place < part->first || place >= part->first + part->turned)
        return place;
    return part->first + pe_pairing_source(conversion->from, conversion->to, part->turned,
                                           place - part->first);
}

/* Gather whole heads from the one that has byte `offset` on. */
static bool reorder_heads(converted_file *self, const api_heads *part, uint64_t offset)
{
    const api_file file = api_request_file(&self->request);
    uint64_t head = part->width * part->entry;
    uint64_t first = part->begin + (offset - part->begin) / head * head;
    uint64_t size = min_bytes(GATHERED / head * head, part->end - first);
    self->size = 0;
    if (!file.read(file.context, first, self->read_in, (size_t)size))
        return false;
    for (uint64_t start = 0; start < size; start += head) {
        const bool stays = is_still(part, first + start);
        for (uint64_t place = 0; place < part->width; place++)
            memcpy(self->sorted + start + place * part->entry,
                   self->read_in + start +
                       (stays ? place : find_source(&self->conversion, part, place)) *
                           part->entry,
                   (size_t)part->entry);
    }
    self->first = first;
    self->size = size;
    return true;
}

/* Read bytes of a part; returns how many, 0 if they cannot be read. */
static uint64_t read_part(converted_file *self, const api_heads *part, uint64_t offset,
                          unsigned char *dst, uint64_t room)
{
    const api_file file = api_request_file(&self->request);
    uint64_t head = part->width * part->entry, within = (offset - part->begin) % head;
    uint64_t size;
    if (head <= GATHERED) {
        if ((offset < self->first || offset >= self->first + self->size) &&
            !reorder_heads(self, part, offset))
            return 0;
        size = min_bytes(self->first + self->size - offset, room);
        memcpy(dst, self->sorted + (offset - self->first), (size_t)size);
        return size;
    }
    uint64_t place = within / part->entry, begun = within % part->entry;
    size = min_bytes(part->entry - begun, room);
    if (!is_still(part, offset - within))
        place = find_source(&self->conversion, part, place);
    uint64_t source = offset - within + place * part->entry + begun;
    return file.read(file.context, source, dst, (size_t)size) ? size : 0;
}

/* Read bytes that stay as they are, up to the next part. */
static uint64_t read_unchanged_bytes(converted_file *self, uint64_t offset, unsigned char *dst,
                                     uint64_t room)
{
    const api_file file = api_request_file(&self->request);
    uint64_t end = self->part < self->conversion.count
                       ? self->conversion.parts[self->part].begin
                       : file.size;
    uint64_t size = min_bytes(end - offset, room);
    return file.read(file.context, offset, dst, (size_t)size) ? size : 0;
}

/* An api_source's `read`. */
static size_t read_converted(void *state, uint64_t offset, char *dst, size_t room)
{
    converted_file *self = state;
    const api_conversion *conversion = &self->conversion;
    uint64_t file_size = self->request.body_size, done = 0;
    while (done < room && offset + done < file_size) {
        uint64_t at = offset + done, size;
        unsigned char *to = (unsigned char *)dst + done;
        while (self->part < conversion->count && conversion->parts[self->part].end <= at)
            self->part++;
        if (self->part < conversion->count && conversion->parts[self->part].begin <= at)
            size = read_part(self, &conversion->parts[self->part], at, to,
                             min_bytes(conversion->parts[self->part].end - at, room - done));
        else
            size = read_unchanged_bytes(self, at, to, room - done);
        if (size == 0)
            break;
        done += size;
    }
    return (size_t)done;
}

/* An api_source's `free`. */
static void free_converted(void *state)
{
    converted_file *self = state;
    free(self->conversion.parts);
    free(self->read_in);
    free(self->sorted);
    free(self);
}

api_body *api_body_converted(const api_request *request, const api_conversion *conversion)
{
    converted_file *self = calloc(1, sizeof *self);
    if (!self) {
        free(conversion->parts);
        return NULL;
    }
    self->request = *request;
    self->conversion = *conversion;
    self->read_in = malloc(GATHERED);
    self->sorted = malloc(GATHERED);
    if (!self->read_in || !self->sorted) {
        free_converted(self);
        return NULL;
    }
    /* slow: it reads a file in pieces as short as an entry */
    return api_body_from_source(
        &(api_source){self, request->body_size, read_converted, free_converted, true});
}
