/* Chunks of rows: each is computed when a row of it is asked for, unless its slot has it. */
#include "apply/entries.h"

#include <stdlib.h>
#include <string.h>

#define CHUNK_ENTRIES ((uint64_t)8192) /* of a chunk, unless what is asked for has more */

/* Round up to a multiple. */
static uint64_t round_up(uint64_t number, uint64_t unit)
{
    return (number + unit - 1) / unit * unit;
}

static bool allocate(pe_entries *self)
{
    size_t entries = (size_t)(self->chunk * self->columns);
    self->kept = calloc((size_t)self->slots, sizeof *self->kept);
    self->hi = malloc((size_t)self->slots * entries * sizeof *self->hi);
    self->lo = malloc((size_t)self->slots * entries * sizeof *self->lo);
    self->pairs = malloc(entries * 2 * sizeof *self->pairs);
    return self->kept && self->hi && self->lo && self->pairs;
}

pe_status pe_entries_init(pe_entries *ret_entries, pe_request *exact, size_t tensor,
                          uint64_t rows_at_once, const pe_runner *runner, pe_error *reterr)
{
    const pe_tensor *shape = pe_request_tensor(exact, tensor);
    pe_entries *self = ret_entries;
    uint64_t bytes = 2 * sizeof(double);
    *self = (pe_entries){.columns = (size_t)shape->shape[shape->rank - 1]};
    self->rows = shape->elements / self->columns;
    self->chunk = round_up(CHUNK_ENTRIES / self->columns + 1, rows_at_once);
    if (self->chunk > self->rows)
        self->chunk = self->rows;
    bytes *= self->chunk * self->columns;
    uint64_t chunks = (self->rows + self->chunk - 1) / self->chunk;
    uint64_t most = PE_ENTRIES_KEPT / bytes + 1;
    self->slots = chunks < most ? chunks : most;
    pe_error_init(reterr);
    if (!allocate(self)) {
        pe_error_add(reterr, PE_NO_MEMORY, "", "", "memory for the encoding");
        return PE_NO_MEMORY;
    }
    return pe_stream_new(exact, tensor, (size_t)bytes, runner, &self->stream, reterr);
}

void pe_entries_done(pe_entries *entries)
{
    pe_stream_free(entries->stream);
    free(entries->kept);
    free(entries->hi);
    free(entries->lo);
    free(entries->pairs);
    *entries = (pe_entries){.stream = NULL};
}

/* Compute a chunk into its slot. */
static void fill(pe_entries *self, uint64_t chunk, uint64_t slot)
{
    const size_t pair = 2 * sizeof(double);
    uint64_t first = chunk * self->chunk, rest = self->rows - first;
    size_t count = (size_t)(rest < self->chunk ? rest : self->chunk) * self->columns;
    double *hi = self->hi + slot * self->chunk * self->columns;
    double *lo = self->lo + slot * self->chunk * self->columns;
    for (size_t done = 0, part = 1; done < count * pair && part > 0; done += part)
        part = pe_stream_read(self->stream, first * self->columns * pair + done,
                              (char *)self->pairs + done, count * pair - done);
    for (size_t i = 0; i < count; i++) {
        hi[i] = self->pairs[2 * i];
        lo[i] = self->pairs[2 * i + 1];
    }
    self->kept[slot] = chunk + 1;
}

pe_entry_row pe_entries_rows(pe_entries *entries, uint64_t row)
{
    uint64_t chunk = row / entries->chunk, slot = chunk % entries->slots;
    if (entries->kept[slot] != chunk + 1)
        fill(entries, chunk, slot);
    size_t at = (size_t)(slot * entries->chunk + row % entries->chunk) * entries->columns;
    return (pe_entry_row){entries->hi + at, entries->lo + at};
}
