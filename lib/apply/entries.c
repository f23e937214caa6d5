/* Chunks of rows: each is computed when a row of it is asked for, unless its slot has it. */
#include "apply/entries.h"

#include <stdlib.h>
#include <string.h>

#define PIECE_ENTRIES ((uint64_t)1 << 16) /* so that large chunks are not held twice */

bool pe_entries_are_kept(const pe_tensor *tensor, bool paired)
{
    return tensor->elements <= PE_ENTRIES_KEPT / ((paired ? 2 : 1) * sizeof(double));
}

/* Round up to a multiple. */
static uint64_t round_to_multiple(uint64_t number, uint64_t unit)
{
    return (number + unit - 1) / unit * unit;
}

#define SCATTERED_ROWS ((uint64_t)8) /* of a chunk of which often one row is needed */

uint64_t pe_entries_chunk_rows(uint64_t rows, uint64_t columns, pe_row_order order)
{
    uint64_t chunk = PE_CHUNK_ENTRIES / columns + 1;
    if (order.scattered && chunk > SCATTERED_ROWS)
        chunk = SCATTERED_ROWS;
    chunk = round_to_multiple(chunk, order.at_once);
    return chunk < rows ? chunk : rows;
}

static uint64_t count_columns(const pe_tensor *tensor)
{
    return tensor->rank > 1 ? tensor->shape[tensor->rank - 1] : 1;
}

static uint64_t count_slots(uint64_t rows, uint64_t chunk, uint64_t chunk_bytes)
{
    uint64_t count = (rows + chunk - 1) / chunk, most = PE_ENTRIES_KEPT / chunk_bytes + 1;
    return count < most ? count : most;
}

uint64_t pe_entries_footprint(const pe_tensor *tensor, pe_row_order order, uint64_t held)
{
    uint64_t columns = count_columns(tensor), rows = tensor->elements / columns;
    uint64_t chunk = pe_entries_chunk_rows(rows, columns, order), bytes = 0;
    uint64_t entries = chunk * columns, row = tensor->elements / tensor->rows;
    uint64_t piece = entries < PIECE_ENTRIES ? entries : PIECE_ENTRIES;
    for (uint64_t size = sizeof(double); size <= 2 * sizeof(double); size *= 2) {
        uint64_t slots = count_slots(rows, chunk, entries * size);
        bytes += slots * (entries * size + sizeof(uint64_t)) + 2 * piece * size;
        bytes += row * size + held;
    }
    return bytes;
}

/* Allocate for as many chunks as may be kept, and open the stream; false after a problem was
 * added. */
static bool open_chunks(const pe_entries *self, pe_chunks *chunks, pe_request *request,
                        size_t tensor, const pe_runner *runner, pe_error *reterr)
{
    bool paired = pe_request_tensor(request, tensor)->dtype == PE_DD;
    size_t entries = (size_t)self->chunk * self->columns;
    size_t bytes = entries * (paired ? 2 : 1) * sizeof(double);
    chunks->slots = count_slots(self->rows, self->chunk, bytes);
    chunks->kept = calloc((size_t)chunks->slots, sizeof *chunks->kept);
    chunks->hi = malloc((size_t)chunks->slots * entries * sizeof *chunks->hi);
    if (paired) {
        chunks->lo = malloc((size_t)chunks->slots * entries * sizeof *chunks->lo);
        chunks->pairs = malloc(self->piece * 2 * sizeof *chunks->pairs);
    }
    if (!chunks->kept || !chunks->hi || (paired && (!chunks->lo || !chunks->pairs))) {
        pe_error_add(reterr, PE_NO_MEMORY, "", "", "memory for the encoding");
        return false;
    }
    size_t block = self->piece * (paired ? 2 : 1) * sizeof(double);
    return pe_stream_new(request, tensor, block, runner, &chunks->stream, reterr) == PE_OK;
}

static void free_chunks(pe_chunks *chunks)
{
    pe_stream_free(chunks->stream);
    free(chunks->kept);
    free(chunks->hi);
    free(chunks->lo);
    free(chunks->pairs);
}

pe_status pe_entries_init(pe_entries *ret_entries, pe_request *doubles, pe_request *exact,
                          size_t tensor, pe_row_order order, const pe_runner *runner,
                          pe_error *reterr)
{
    const pe_tensor *shape = pe_request_tensor(exact, tensor);
    pe_entries *self = ret_entries;
    *self = (pe_entries){.columns = (size_t)count_columns(shape)};
    self->rows = shape->elements / self->columns;
    self->chunk = pe_entries_chunk_rows(self->rows, self->columns, order);
    uint64_t entries = self->chunk * self->columns;
    self->piece = (size_t)(entries < PIECE_ENTRIES ? entries : PIECE_ENTRIES);
    pe_error_init(reterr);
    if (open_chunks(self, &self->exact, exact, tensor, runner, reterr) && doubles)
        open_chunks(self, &self->doubles, doubles, tensor, runner, reterr);
    return reterr->status;
}

void pe_entries_done(pe_entries *entries)
{
    free_chunks(&entries->doubles);
    free_chunks(&entries->exact);
    *entries = (pe_entries){.columns = 0};
}

/* Read `count` entries of a stream of elements of `size` bytes from entry `first` on. */
static void read_entries(pe_stream *stream, uint64_t first, size_t count, size_t size,
                         void *dst)
{
    (void)pe_stream_read_fully(stream, first * size, dst, count * size);
}

/* Compute a chunk into its slot. */
static void fill(const pe_entries *self, pe_chunks *chunks, uint64_t chunk, uint64_t slot)
{
    uint64_t first = chunk * self->chunk, rest = self->rows - first;
    size_t count = (size_t)(rest < self->chunk ? rest : self->chunk) * self->columns;
    size_t at = (size_t)(slot * self->chunk) * self->columns;
    uint64_t entry = first * self->columns;
    if (!chunks->pairs)
        read_entries(chunks->stream, entry, count, sizeof(double), chunks->hi + at);
    for (size_t done = 0, part; chunks->pairs && done < count; done += part) {
        part = count - done < self->piece ? count - done : self->piece;
        read_entries(chunks->stream, entry + done, part, 2 * sizeof(double), chunks->pairs);
        for (size_t i = 0; i < part; i++) {
            chunks->hi[at + done + i] = chunks->pairs[2 * i];
            chunks->lo[at + done + i] = chunks->pairs[2 * i + 1];
        }
    }
    chunks->kept[slot] = chunk + 1;
}

/* The entries of a row, whose chunk is computed unless it is kept. */
static pe_entry_row find_rows(const pe_entries *self, pe_chunks *chunks, uint64_t row)
{
    uint64_t chunk = row / self->chunk, slot = chunk % chunks->slots;
    if (chunks->kept[slot] != chunk + 1)
        fill(self, chunks, chunk, slot);
    size_t at = (size_t)(slot * self->chunk + row % self->chunk) * self->columns;
    return (pe_entry_row){chunks->hi + at, chunks->lo ? chunks->lo + at : NULL};
}

pe_entry_row pe_entries_rows(pe_entries *entries, uint64_t row)
{
    bool paired = !entries->doubles.stream;
    return find_rows(entries, paired ? &entries->exact : &entries->doubles, row);
}

pe_entry_row pe_entries_exact(pe_entries *entries, uint64_t row)
{
    return find_rows(entries, &entries->exact, row);
}
