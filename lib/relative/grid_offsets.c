/* Making lines, and copying runs of keys out of them. */
#include "relative/grid_offsets.h"

#include "kernels/by_size.h"

#include <string.h>

#define ENTRY_PRICE 5
#define REPEATED    64 /* copies of a class token's entry that is copied in a row */

/* The number of lines of a plane. */
static size_t count_lines(const pe_offsets *offsets)
{
    return offsets->symmetric ? offsets->height : 2 * offsets->height - 1;
}

/* The line of two rows of the grid. */
static size_t find_line(const pe_offsets *offsets, size_t query_row, size_t key_row)
{
    if (!offsets->symmetric)
        return key_row + offsets->height - 1 - query_row;
    return key_row < query_row ? query_row - key_row : key_row - query_row;
}

/* Copy `count` entries of a plane and a query from `key` on; cells are counted row by row. */
static void copy_cells(const pe_offsets *offsets, size_t plane, size_t query, size_t key,
                       size_t count, pe_copier *copier)
{
    size_t width = offsets->width, line = 2 * width - 1, size = offsets->element_size;
    size_t row = query / width, key_row = key / width, column = key % width;
    const unsigned char *lines = offsets->lines + plane * count_lines(offsets) * line * size;
    lines += (width - 1 - query % width) * size; /* where column 0 is */
    for (size_t part; count > 0; count -= part, key_row++, column = 0) {
        part = width - column < count ? width - column : count;
        pe_copier_add(copier, lines + (find_line(offsets, row, key_row) * line + column) * size,
                      part * size);
    }
}

/* Copy one entry of the class token's `count` times: 0 class to token, or one of the others. */
static void copy_class(const pe_offsets *offsets, size_t plane, size_t which, size_t count,
                       pe_copier *copier)
{
    size_t size = offsets->element_size;
    const unsigned char *own = offsets->class_entries + plane * (REPEATED + 2) * size;
    if (which > 0)
        own += (REPEATED + which - 1) * size;
    for (size_t part; count > 0; count -= part) {
        part = count < REPEATED ? count : REPEATED;
        pe_copier_add(copier, own, part * size);
    }
}

/* Copy `count` entries of a plane and a query from `key` on, counted with the class token. */
static void copy_row(const pe_offsets *offsets, size_t plane, size_t query, size_t key,
                     size_t count, pe_copier *copier)
{
    if (!offsets->class_token) {
        copy_cells(offsets, plane, query, key, count, copier);
        return;
    }
    if (key == 0) {
        copy_class(offsets, plane, query == 0 ? 2 : 1, 1, copier);
        count--;
        key++;
    }
    if (query == 0)
        copy_class(offsets, plane, 0, count, copier);
    else
        copy_cells(offsets, plane, query - 1, key - 1, count, copier);
}

/* Take the lines of a plane from its column of the table, whose rows are `stride` bytes apart.
 * `size`: of an element, a constant after inlining. */
static inline __attribute__((always_inline)) void take_plane(const pe_offsets *offsets,
                                                             unsigned char *lines,
                                                             const unsigned char *column,
                                                             size_t stride, size_t size)
{
    const size_t width = offsets->width, line = 2 * width - 1;
    if (!offsets->symmetric) { /* lines are by key minus query: the offsets come backwards */
        for (size_t i = count_lines(offsets) * line; i-- > 0; column += stride)
            memcpy(lines + i * size, column, size);
        return;
    }
    for (size_t y = 0; y < offsets->height; y++, lines += line * size)
        for (size_t x = 0; x < width; x++, column += stride) {
            memcpy(lines + (width - 1 + x) * size, column, size);
            memcpy(lines + (width - 1 - x) * size, column, size);
        }
}

/* Take the rows for the class token from a plane's column of the table. */
static void take_class(unsigned char *own, const unsigned char *column, size_t stride,
                       size_t size)
{
    for (size_t i = 0; i < REPEATED; i++)
        memcpy(own + i * size, column, size);
    for (size_t i = 1; i < PE_CLASS_ROWS; i++)
        memcpy(own + (REPEATED + i - 1) * size, column + i * stride, size);
}

/* The rows of a table that are for offsets. */
static size_t count_rows(const pe_offsets *offsets)
{
    return count_lines(offsets) *
           (offsets->symmetric ? offsets->width : 2 * offsets->width - 1);
}

bool pe_offsets_take(pe_offsets *offsets, const void *table, size_t planes, pe_pace *pace)
{
    size_t rows = count_lines(offsets) * (2 * offsets->width - 1);
    size_t size = offsets->element_size, stride = planes * size;
    const unsigned char *column = table;
    unsigned char *lines = offsets->lines = pe_keep(pace, rows, stride);
    for (size_t plane = 0; lines && plane < planes; plane++) {
        if (!pe_pace_may_continue(pace, ENTRY_PRICE * (double)rows))
            return false;
        PE_BY_SIZE(size, take_plane(offsets, lines, column, stride, SIZE))
        lines += rows * size;
        column += size;
    }
    if (!lines || !offsets->class_token)
        return lines != NULL;
    unsigned char *own = offsets->class_entries = pe_keep(pace, REPEATED + 2, stride);
    column = (const unsigned char *)table + count_rows(offsets) * stride;
    for (size_t plane = 0; own && plane < planes; plane++)
        take_class(own + plane * (REPEATED + 2) * size, column + plane * size, stride, size);
    return own != NULL;
}

double pe_offsets_price(uint64_t entries, uint64_t planes)
{
    return ENTRY_PRICE * (double)entries * (double)planes;
}

bool pe_offsets_take_numbers(pe_offsets *offsets, pe_pace *pace)
{
    const size_t rows = count_rows(offsets) + (offsets->class_token ? PE_CLASS_ROWS : 0);
    int32_t *numbers = pe_keep(pace, rows, sizeof *numbers);
    for (size_t i = 0; numbers && i < rows; i++)
        numbers[i] = (int32_t)i;
    return numbers && pe_offsets_take(offsets, numbers, 1, pace);
}

void pe_offsets_fill(const pe_offsets *offsets, uint64_t queries, int64_t offset,
                     pe_window window, void *dst)
{
    const uint64_t keys = offsets->height * offsets->width + offsets->class_token;
    pe_copier copier;
    pe_copier_init(&copier, dst, window.rows * offsets->element_size);
    for (uint64_t at = window.first, end = at + window.rows, count; at < end; at += count) {
        uint64_t row = at / keys, key = at % keys;
        count = keys - key < end - at ? keys - key : end - at;
        copy_row(offsets, (size_t)(row / queries), (size_t)(offset + (int64_t)(row % queries)),
                 (size_t)key, (size_t)count, &copier);
    }
    pe_copier_done(&copier);
}
