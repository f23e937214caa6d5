/* Copying runs of keys out of lines. */
#include "positions/offsets.h"

size_t pe_offsets_lines(const pe_offsets *offsets)
{
    return offsets->symmetric ? offsets->height : 2 * offsets->height - 1;
}

/* The line of two rows of the grid. */
static size_t line_of(const pe_offsets *offsets, size_t query_row, size_t key_row)
{
    if (!offsets->symmetric)
        return key_row + offsets->height - 1 - query_row;
    return key_row < query_row ? query_row - key_row : key_row - query_row;
}

void pe_offsets_copy(const pe_offsets *offsets, size_t plane, size_t query, size_t key,
                     size_t count, pe_copier *copier)
{
    size_t width = offsets->width, line = 2 * width - 1, size = offsets->element_size;
    size_t row = query / width, key_row = key / width, column = key % width;
    const unsigned char *lines =
        offsets->lines + plane * pe_offsets_lines(offsets) * line * size;
    lines += (width - 1 - query % width) * size; /* where column 0 is */
    for (size_t part; count > 0; count -= part, key_row++, column = 0) {
        part = width - column < count ? width - column : count;
        pe_copier_add(copier, lines + (line_of(offsets, row, key_row) * line + column) * size,
                      part * size);
    }
}
