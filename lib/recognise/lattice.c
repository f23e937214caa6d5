/* Grids: the sizes that fit the rows of a table; and proposing sinusoidal encodings of volumes.
 */
#include "recognise/lattice.h"
#include "recognise/recognisers.h"
#include "recognise/wave_law.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define TEXT       64
#define EXTENT_MAX 65536

typedef unsigned long long number;

static const uint64_t CORNER[] = {0, 0}, RIGHT[] = {0, 1}, BELOW[] = {1, 0};

/* ---- grids ---- */

double pe_grid_cell(const pe_grid_view *grid, uint64_t y, uint64_t x, uint64_t column)
{
    uint64_t row = grid->before + y * grid->width + x;
    return row < grid->seen->sampled ? pe_observation_entry(grid->seen, row, column)
                                     : (double)NAN;
}

/* Whether a column has the same in two cells. */
static bool are_same(const pe_grid_view *grid, const uint64_t one[2], const uint64_t other[2],
                     uint64_t column)
{
    return pe_observation_is_same(grid->seen, pe_grid_cell(grid, one[0], one[1], column),
                                  pe_grid_cell(grid, other[0], other[1], column));
}

/* Whether the columns that do not change from the first cell to the next hardly do in some
 * more: slow ones may, and a few that turn by whole turns. */
static bool is_line(const pe_grid_view *grid)
{
    uint64_t changed = 0;
    for (uint64_t c = 0; c < grid->seen->columns; c++)
        for (uint64_t x = 2; x < 4 && x < grid->width; x++)
            changed += are_same(grid, CORNER, RIGHT, c) &&
                       fabs(pe_grid_cell(grid, 0, 0, c) - pe_grid_cell(grid, 0, x, c)) > 0.01;
    return 8 * changed <= grid->seen->columns;
}

bool pe_grid_is_separable(const pe_grid_view *grid, uint64_t y)
{
    for (uint64_t c = 0; c < grid->seen->columns; c++) {
        const uint64_t below[] = {y, 0}, both[] = {y, 1};
        if (!(are_same(grid, CORNER, below, c) && are_same(grid, RIGHT, both, c)) &&
            !(are_same(grid, CORNER, RIGHT, c) && are_same(grid, below, both, c)))
            return false;
    }
    return true;
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

static bool is_row_major(const pe_grid_view *grid)
{
    return has_two_axes(grid) && is_line(grid) && pe_grid_is_separable(grid, 1) &&
           (grid->height == 2 || pe_grid_is_separable(grid, 2));
}

uint64_t pe_grid_frame_rows(const pe_grid_view *grid)
{
    const pe_observation *seen = grid->seen;
    uint64_t column = 0;
    while (column < seen->columns && are_same(grid, CORNER, BELOW, column))
        column++;
    for (uint64_t y = 2; column < seen->columns && y < grid->height; y++) {
        const pe_view row = pe_view_at(&seen->view, 0, grid->before + y * grid->width);
        double entry;
        if (pe_view_read(&row, column, 1, &entry) &&
            pe_observation_is_same(seen, entry, pe_grid_cell(grid, 0, 0, column)))
            return y;
    }
    return grid->height;
}

bool pe_grid_find_width(pe_grid_view *grid)
{
    const uint64_t cells = grid->seen->rows - grid->before - grid->after;
    for (grid->width = 2; grid->width <= EXTENT_MAX && 2 * grid->width <= cells;
         grid->width++) {
        grid->height = cells / grid->width;
        if (cells % grid->width == 0 && is_row_major(grid))
            return true;
    }
    return false;
}

/* ---- sinusoidal_3d ---- */

/* The cells along the width, and along the depth, from the first one on. */
typedef struct volume_lines {
    pe_observation width, depth;
} volume_lines;

/* How the channels of a volume may be arranged. */
typedef struct arrangement {
    const char *text;
    bool quarter, concat;
    size_t before_width, before_depth; /* axes whose channels come first */
} arrangement;

#define ARRANGEMENTS(split, quarter, layout, concat)                                           \
    {split layout, quarter, concat, 2, 0},                                                     \
        {split layout "&axis_order=depth_width_height", quarter, concat, 1, 0},                \
    {                                                                                          \
        split layout "&axis_order=width_height_depth", quarter, concat, 0, 2                   \
    }

static const arrangement VOLUMES[] = {
    ARRANGEMENTS("", false, "", false), ARRANGEMENTS("&split=quarter", true, "", false),
    ARRANGEMENTS("", false, "&layout=concat", true),
    ARRANGEMENTS("&split=quarter", true, "&layout=concat", true)};

static bool read_axis(pe_observation *line, uint64_t first, uint64_t channels, bool concat,
                      pe_wave_law *ret_law)
{
    const pe_columns sines = {first, concat ? 1 : 2, channels / 2};
    return line->sampled >= 4 && channels >= 4 && first + channels <= line->columns &&
           pe_wave_law_read(line, sines, true, ret_law) && ret_law->geometric;
}

/* Write what the positions of an axis are divided by. */
static void write_interpolation(const char *name, const pe_wave_law *law, char dst[TEXT])
{
    pe_propose_number(dst, TEXT, name, 1 / law->first, fmax(law->first_error, 1e-4), "1");
}

/* Write what the waves say of an arrangement: the frequencies, and the distances of cells.
 * Without waves there is one text, which is empty. */
static void write_law(volume_lines *lines, uint64_t dim, const arrangement *own,
                      pe_wave_texts *ret_frequencies, char *scales_text, size_t size)
{
    const uint64_t deep = own->quarter ? dim / 4 : (dim + 5) / 6 * 2;
    const uint64_t wide = own->quarter ? 3 * dim / 8 : deep;
    const uint64_t before = own->before_width == 0 ? 0 : deep + (own->before_width - 1) * wide;
    char scales[2][TEXT] = {"", ""};
    pe_wave_law law, along_depth, along_width;
    const bool has_depth =
        read_axis(&lines->depth, own->before_depth * wide, deep, own->concat, &along_depth);
    const bool has_width = read_axis(&lines->width, before, wide, own->concat, &along_width);
    *ret_frequencies = (pe_wave_texts){.count = 1};
    law = has_width ? along_width : along_depth;
    if (has_width && has_depth && wide == deep)
        pe_wave_law_join(&along_width, &along_depth, &law);
    if (has_width || has_depth) {
        const double pairs = (double)(has_width ? wide : deep) / 2;
        pe_wave_law_frequencies(&law, NULL, "base", pairs, pairs - 1, ret_frequencies);
    }
    if (has_depth)
        write_interpolation("temporal_interpolation_scale", &along_depth, scales[0]);
    if (has_width)
        write_interpolation("spatial_interpolation_scale", &along_width, scales[1]);
    snprintf(scales_text, size, "%s%s", scales[0], scales[1]);
}

/* Propose all arrangements of one size; the cells along two axes are views [cells, dim]. */
static void propose_volume(pe_proposals *proposals, const char *cells, const pe_view *width,
                           const pe_view *depth)
{
    static const char *const PRESETS[] = {"tatp22", "cogvideox", "prithvi", "simple_vit"};
    volume_lines lines = {.width = {.rows = 0}, .depth = {.rows = 0}};
    bool good = width->shape[0] < 2 || pe_observation_begin(&lines.width, width);
    good = (depth->shape[0] < 2 || pe_observation_begin(&lines.depth, depth)) && good;
    for (size_t i = 0; i < PE_COUNT(PRESETS); i++)
        pe_propose_request(proposals, "encoding", "preset=%s&%s", PRESETS[i], cells);
    for (size_t i = 0; good && i < PE_COUNT(VOLUMES); i++) {
        pe_wave_texts frequencies;
        char scales[2 * TEXT];
        write_law(&lines, width->shape[1], &VOLUMES[i], &frequencies, scales, sizeof scales);
        for (size_t k = 0; k < frequencies.count; k++)
            pe_propose_request(proposals, "encoding", "%s%s%s%s", cells, VOLUMES[i].text,
                               frequencies.items[k], scales);
    }
    pe_observation_end(&lines.width);
    pe_observation_end(&lines.depth);
}

/* Propose a volume [depth, height * width, dim], or [rows, dim] of which a grid has been seen
 * in the first rows; `depth` 0: it is the height of the grid over that of a frame. */
static void propose_frames(pe_observation *seen, pe_proposals *proposals, const pe_view *volume,
                           uint64_t depth, const char *shape)
{
    pe_grid_view grid = {.seen = seen};
    char text[160];
    if (seen->sampled < 4 || !pe_grid_find_width(&grid))
        return;
    const uint64_t rows = depth ? grid.height : pe_grid_frame_rows(&grid);
    const uint64_t frames = depth ? depth : grid.height / rows;
    const pe_view width = pe_view_part(&seen->view, 0, 0, grid.width);
    pe_view deep = pe_view_part(volume, 0, 0, frames);
    if (depth)
        deep = pe_view_at(&deep, 1, 0);
    else
        deep.strides[0] *= rows * grid.width;
    proposals->angle = (double)(grid.height + grid.width);
    snprintf(text, sizeof text, "depth=%llu&height=%llu&width=%llu&dim=%llu%s", (number)frames,
             (number)rows, (number)grid.width, (number)seen->columns, shape);
    propose_volume(proposals, text, &width, &deep);
}

/* Propose a volume [depth, height, width, dim]. */
static void propose_cells(const pe_view *view, pe_proposals *proposals)
{
    const uint64_t *shape = view->shape;
    const pe_view frame = pe_view_at(view, 0, 0), lines = pe_view_at(view, 1, 0);
    const pe_view width = pe_view_at(&frame, 0, 0), depth = pe_view_at(&lines, 1, 0);
    char text[160];
    proposals->angle = fmax((double)shape[0], fmax((double)shape[1], (double)shape[2]));
    snprintf(text, sizeof text, "depth=%llu&height=%llu&width=%llu&dim=%llu&shape=dhwc",
             (number)shape[0], (number)shape[1], (number)shape[2], (number)shape[3]);
    propose_volume(proposals, text, &width, &depth);
}

void pe_recognise_sinusoidal_3d(pe_observation *seen, pe_proposals *proposals)
{
    const pe_view *view = &seen->view;
    if (view->rank < 2 || view->shape[view->rank - 1] % 2 != 0 || view->shape[0] < 2)
        return;
    if (view->rank == 4) {
        propose_cells(view, proposals);
    } else if (view->rank == 3) {
        const pe_view frame = pe_view_at(view, 0, 0);
        pe_observation first;
        if (pe_observation_begin(&first, &frame))
            propose_frames(&first, proposals, view, view->shape[0], "&shape=dnc");
        pe_observation_end(&first);
    } else {
        propose_frames(seen, proposals, view, 0, "&shape=nc");
    }
}
