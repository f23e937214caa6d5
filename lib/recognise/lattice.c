/* Grids: the sizes that fit the rows of a table; and proposing sinusoidal encodings of volumes.
 */
#include "recognise/lattice.h"
#include "recognise/recognisers.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define EXTENT_MAX  65536
#define REPEATS_MAX 64

typedef unsigned long long number;

/* ---- grids ---- */

double pe_grid_cell(const pe_grid_view *grid, uint64_t y, uint64_t x, uint64_t column)
{
    uint64_t row = grid->before + y * grid->width + x;
    return row < grid->seen->sampled ? pe_observation_entry(grid->seen, row, column)
                                     : (double)NAN;
}

/* Whether the columns that do not change from the first cell to the next hardly do in some
 * more: slow ones may, and a few that turn by whole turns. */
static bool is_line(const pe_grid_view *grid)
{
    uint64_t changed = 0;
    for (uint64_t c = 0; c < grid->seen->columns; c++)
        for (uint64_t x = 2; x < 4 && x < grid->width; x++)
            changed += pe_grid_cell(grid, 0, 0, c) == pe_grid_cell(grid, 0, 1, c) &&
                       fabs(pe_grid_cell(grid, 0, 0, c) - pe_grid_cell(grid, 0, x, c)) > 0.01;
    return 8 * changed <= grid->seen->columns;
}

/* Whether every column depends on one axis alone, in the first cells of lines 0 and y. */
static bool is_separable(const pe_grid_view *grid, uint64_t y)
{
    for (uint64_t c = 0; c < grid->seen->columns; c++) {
        double corner = pe_grid_cell(grid, 0, 0, c), right = pe_grid_cell(grid, 0, 1, c);
        double below = pe_grid_cell(grid, y, 0, c), both = pe_grid_cell(grid, y, 1, c);
        if (!(corner == below && right == both) && !(corner == right && below == both))
            return false;
    }
    return true;
}

/* Whether some columns change from the first cell to the next, and some to the next line. */
static bool has_two_axes(const pe_grid_view *grid)
{
    bool right = false, below = false;
    for (uint64_t c = 0; c < grid->seen->columns && !(right && below); c++) {
        right = right || pe_grid_cell(grid, 0, 0, c) != pe_grid_cell(grid, 0, 1, c);
        below = below || pe_grid_cell(grid, 0, 0, c) != pe_grid_cell(grid, 1, 0, c);
    }
    return right && below;
}

static bool is_row_major(const pe_grid_view *grid)
{
    return has_two_axes(grid) && is_line(grid) && is_separable(grid, 1) &&
           (grid->height == 2 || is_separable(grid, 2));
}

uint64_t pe_grid_frame_rows(const pe_grid_view *grid)
{
    const pe_observation *seen = grid->seen;
    uint64_t column = 0;
    while (column < seen->columns &&
           pe_grid_cell(grid, 0, 0, column) == pe_grid_cell(grid, 1, 0, column))
        column++;
    for (uint64_t y = 2; column < seen->columns && y < grid->height; y++) {
        const pe_view row = pe_view_at(&seen->view, 0, grid->before + y * grid->width);
        double entry;
        if (pe_view_read(&row, column, 1, &entry) && entry == pe_grid_cell(grid, 0, 0, column))
            return y;
    }
    return grid->height;
}

bool pe_grid_find_width(pe_grid_view *grid)
{
    const uint64_t cells =
        (grid->seen->rows - grid->before - grid->after) / (grid->repeats ? grid->repeats : 1);
    for (grid->width = 2; grid->width <= EXTENT_MAX && 2 * grid->width <= cells;
         grid->width++) {
        grid->height = cells / grid->width;
        if (cells % grid->width == 0 && is_row_major(grid))
            return true;
    }
    return false;
}

/* Whether the first two rows of a grid are read again after some others. */
static bool comes_again(const pe_grid_view *grid, uint64_t distance, double *rows)
{
    const pe_observation *seen = grid->seen;
    const size_t count = 2 * (size_t)seen->columns;
    return grid->before + 2 <= seen->sampled &&
           pe_view_read(&seen->view, grid->before + distance, 2, rows) &&
           memcmp(rows, seen->sample + grid->before * seen->columns, count * sizeof *rows) == 0;
}

uint64_t pe_grid_find_repeats(const pe_grid_view *grid, double *rows)
{
    const uint64_t all = grid->seen->rows - grid->before - grid->after;
    uint64_t repeats = 1;
    for (uint64_t times = 2; times <= REPEATS_MAX && 4 * times <= all; times++)
        if (all % times == 0 && comes_again(grid, all / times, rows))
            repeats = times;
    return repeats;
}

/* ---- sinusoidal_3d ---- */

/* Propose all arrangements of one size. */
static void propose_volume(pe_proposals *proposals, const char *cells)
{
    static const char *const PRESETS[] = {"tatp22", "cogvideox", "prithvi"};
    static const char *const SPLITS[] = {"", "&split=quarter"};
    static const char *const LAYOUTS[] = {"", "&layout=concat"};
    static const char *const ORDERS[] = {"", "&axis_order=depth_width_height",
                                         "&axis_order=width_height_depth"};
    static const char *const BASES[] = {"", "&base=100", "&base=1000"};
    for (size_t i = 0; i < PE_COUNT(PRESETS); i++)
        pe_propose(proposals, "encoding", "preset=%s&%s", PRESETS[i], cells);
    for (size_t i = 0; i < 36; i++)
        pe_propose(proposals, "encoding", "%s%s%s%s%s", cells, SPLITS[i % 2],
                   LAYOUTS[i / 2 % 2], ORDERS[i / 4 % 3], BASES[i / 12]);
}

/* Propose a volume whose frames, or the first of them, have been seen; `depth` 0: it is the
 * height of the grid over that of a frame. */
static void propose_frames(pe_observation *seen, pe_proposals *proposals, uint64_t depth,
                           const char *shape)
{
    pe_grid_view grid = {.seen = seen};
    char text[160];
    if (seen->sampled < 4 || !pe_grid_find_width(&grid))
        return;
    const uint64_t rows = depth ? grid.height : pe_grid_frame_rows(&grid);
    proposals->angle = (double)(grid.height + grid.width);
    snprintf(text, sizeof text, "depth=%llu&height=%llu&width=%llu&dim=%llu%s",
             (number)(depth ? depth : grid.height / rows), (number)rows, (number)grid.width,
             (number)seen->columns, shape);
    propose_volume(proposals, text);
}

void pe_recognise_sinusoidal_3d(pe_observation *seen, pe_proposals *proposals)
{
    const pe_view *view = &seen->view;
    const uint64_t *shape = view->shape;
    char text[160];
    if (view->rank < 2 || shape[view->rank - 1] % 2 != 0 || shape[0] < 2)
        return;
    if (view->rank == 4) {
        proposals->angle = fmax((double)shape[0], fmax((double)shape[1], (double)shape[2]));
        snprintf(text, sizeof text, "depth=%llu&height=%llu&width=%llu&dim=%llu&shape=dhwc",
                 (number)shape[0], (number)shape[1], (number)shape[2], (number)shape[3]);
        propose_volume(proposals, text);
    } else if (view->rank == 3) {
        const pe_view frame = pe_view_at(view, 0, 0);
        pe_observation first;
        if (pe_observation_begin(&first, &frame))
            propose_frames(&first, proposals, shape[0], "&shape=dnc");
        pe_observation_end(&first);
    } else {
        propose_frames(seen, proposals, 0, "&shape=nc");
    }
}
