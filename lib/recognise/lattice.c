/* Grids: the sizes that fit the rows of a table, and what changes along each axis. */
#include "recognise/lattice.h"

#include <math.h>

#define EXTENT_MAX 65536
#define LEAST_ROWS 4 /* of a line whose waves are measured */

static const uint64_t CORNER[] = {0, 0}, RIGHT[] = {0, 1}, BELOW[] = {1, 0};

/* ---- sizes ---- */

/* An entry of a cell; NaN if there is none, or it cannot be read. */
static double read_cell(const pe_grid_view *grid, uint64_t y, uint64_t x, uint64_t column)
{
    const uint64_t row = grid->before + y * grid->width + x;
    double entry;
    if (row < grid->seen->sampled)
        return pe_observation_entry(grid->seen, row, column);
    if (row >= grid->seen->rows)
        return (double)NAN;
    const pe_view cell = pe_view_at(&grid->seen->view, 0, row);
    return pe_view_read(&cell, column, 1, &entry) ? entry : (double)NAN;
}

/* Whether a column has the same in two cells. */
static bool are_same(const pe_grid_view *grid, const uint64_t one[2], const uint64_t other[2],
                     uint64_t column)
{
    return pe_observation_is_same(grid->seen, read_cell(grid, one[0], one[1], column),
                                  read_cell(grid, other[0], other[1], column));
}

/* Whether the columns that do not change from the first cell to the next hardly do in some
 * more: slow ones may, and a few that turn by whole turns. */
static bool is_line(const pe_grid_view *grid)
{
    uint64_t changed = 0;
    for (uint64_t c = 0; c < grid->seen->columns; c++)
        for (uint64_t x = 2; x < 4 && x < grid->width; x++)
            changed += are_same(grid, CORNER, RIGHT, c) &&
                       fabs(read_cell(grid, 0, 0, c) - read_cell(grid, 0, x, c)) >
                           0.01 + 18 * grid->seen->view.grain;
    return 8 * changed <= grid->seen->columns;
}

bool pe_grid_is_separable(const pe_grid_view *grid, uint64_t y)
{
    const uint64_t below[] = {y, 0}, both[] = {y, 1};
    uint64_t other = 0;
    for (uint64_t c = 0; c < grid->seen->columns && 16 * other <= grid->seen->columns; c++)
        other += !(are_same(grid, CORNER, below, c) && are_same(grid, RIGHT, both, c)) &&
                 !(are_same(grid, CORNER, RIGHT, c) && are_same(grid, below, both, c));
    return 16 * other <= grid->seen->columns;
}

/* Whether some columns change from the first cell to the next, and some to the next line. */
static bool has_two_axes(const pe_grid_view *grid)
{
    bool right = false, below = false;
    for (uint64_t c = 0; c < grid->seen->columns && !(right && below); c++) {
        right = right || !are_same(grid, CORNER, RIGHT, c);
        below = below || !are_same(grid, CORNER, BELOW, c);
    }
    return right && below;
}

bool pe_grid_is_row_major(const pe_grid_view *grid)
{
    return grid->width > 1 && grid->height > 1 && has_two_axes(grid) && is_line(grid) &&
           pe_grid_is_separable(grid, 1) &&
           (grid->height == 2 || pe_grid_is_separable(grid, 2));
}

uint64_t pe_grid_frame_rows(const pe_grid_view *grid)
{
    const pe_observation *seen = grid->seen;
    uint64_t column = 0;
    while (column < seen->columns && are_same(grid, CORNER, BELOW, column))
        column++;
    for (uint64_t y = 2; column < seen->columns && y < grid->height; y++)
        if (are_same(grid, CORNER, (const uint64_t[]){y, 0}, column))
            return y;
    return grid->height;
}

bool pe_grid_find_width(pe_grid_view *grid)
{
    const uint64_t cells = grid->seen->rows - grid->before - grid->after;
    for (grid->width = 2; grid->width <= EXTENT_MAX && 2 * grid->width <= cells;
         grid->width++) {
        grid->height = cells / grid->width;
        if (cells % grid->width == 0 && pe_grid_is_row_major(grid))
            return true;
    }
    return false;
}

/* ---- axes ---- */

bool pe_grid_lines_read(const pe_observation *seen, uint64_t before, size_t axes,
                        const uint64_t *sizes, pe_grid_lines *ret_lines)
{
    uint64_t distance = 1;
    bool good = true;
    *ret_lines = (pe_grid_lines){.axes = axes};
    for (size_t a = axes; a-- > 0; distance *= sizes[a]) {
        pe_view line = pe_view_part(&seen->view, 0, before, sizes[a]);
        line.strides[0] *= distance;
        ret_lines->sizes[a] = sizes[a];
        if (sizes[a] > 1)
            good = pe_observation_begin(&ret_lines->items[a], &line) && good;
    }
    return good;
}

void pe_grid_lines_end(pe_grid_lines *lines)
{
    for (size_t a = 0; a < lines->axes; a++)
        pe_observation_end(&lines->items[a]);
}

bool pe_grid_law_read(pe_grid_lines *lines, size_t axis, pe_columns columns, bool sines,
                      pe_wave_law *ret_law)
{
    pe_observation *line = &lines->items[axis];
    return line->sampled >= LEAST_ROWS && columns.count > 0 &&
           columns.first + (columns.count - 1) * columns.stride < line->columns &&
           pe_wave_law_read(line, columns, sines, ret_law) && ret_law->geometric;
}
