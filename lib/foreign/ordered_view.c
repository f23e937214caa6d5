#include "foreign/ordered_view.h"

#include "kernels/by_size.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#define HELD_BYTES ((uint64_t)1 << 21) /* of rows, unless one is longer */

/* Copy elements of a row; with a constant size the compiler makes moves of the copies. */
static inline void gather_elements(unsigned char *dst, const unsigned char *row,
                                   const uint16_t *order, uint64_t count, size_t size)
{
    for (uint64_t i = 0; i < count; i++)
        memcpy(dst + i * size, row + order[i] * size, size);
}

/* Hold some rows of the source, from one on: twice as many as are held, if these follow them,
 * up to what there is room for. In column-major order a few rows take as many reads as many do.
 */
static bool hold_rows(pe_ordered_view *self, uint64_t first, uint64_t wanted)
{
    const uint64_t left = self->source.shape[0] - first;
    const uint64_t twice = first == self->end ? 2 * (self->end - self->first) : 0;
    uint64_t rows = wanted > twice ? wanted : twice;
    rows = rows < self->at_once ? rows : self->at_once;
    rows = rows < left ? rows : left;
    self->first = first;
    self->end =
        pe_view_read_elements(&self->source, first, rows, self->rows) ? first + rows : first;
    return self->end > first;
}

/* Read elements of the view: a pe_view's function. */
static bool read_ordered(void *context, uint64_t offset, void *dst, size_t bytes)
{
    pe_ordered_view *self = context;
    const size_t size = pe_element_size(self->source.element);
    const uint64_t rows = self->source.shape[0], columns = self->source.shape[1];
    const uint64_t end = (offset + bytes) / size;
    unsigned char *to = dst;
    assert(offset % size == 0 && bytes % size == 0);
    for (uint64_t at = offset / size; at < end;) {
        const uint64_t row = at / columns, column = at - row * columns, left = end - at;
        const uint64_t count = columns - column < left ? columns - column : left;
        const bool held = row >= self->first && row < self->end;
        if (row >= rows || (!held && !hold_rows(self, row, (end - 1) / columns - row + 1)))
            return false;
        const unsigned char *from = self->rows + (row - self->first) * columns * size;
        PE_BY_SIZE(size, gather_elements(to, from, self->order + column, count, SIZE))
        to += count * size;
        at += count;
    }
    return true;
}

bool pe_ordered_view_init(pe_ordered_view *ordered, const pe_view *source,
                          const uint16_t *order, pe_view *ret_view)
{
    const uint64_t row_bytes = source->shape[1] * pe_element_size(source->element);
    *ordered = (pe_ordered_view){.source = *source, .order = order, .at_once = 1};
    if (row_bytes < HELD_BYTES)
        ordered->at_once = HELD_BYTES / row_bytes;
    ordered->rows = malloc((size_t)(ordered->at_once * row_bytes));
    *ret_view = (pe_view){.read = read_ordered,
                          .context = ordered,
                          .element = source->element,
                          .unit = source->unit,
                          .grain = source->grain,
                          .factor = source->factor,
                          .constant = source->constant,
                          .rank = 2,
                          .shape = {source->shape[0], source->shape[1]}};
    pe_view_set_row_major(ret_view);
    return ordered->rows != NULL;
}

void pe_ordered_view_done(pe_ordered_view *ordered)
{
    free(ordered->rows);
}
