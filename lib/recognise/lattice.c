/* Proposing tables of grids: the sizes that fit the rows, and arrangements that are published.
 */
#include "recognise/recognisers.h"

#include "recognise/wave_law.h"
#include "waves/axial_presets.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define TEXT       48
#define EXTENT_MAX 65536
#define TOKENS_MAX 8 /* rows before or after the cells */

typedef unsigned long long number;

/* ---- grids ---- */

/* A table whose rows, after some of angle 0, are the cells of a grid. */
typedef struct axial_view {
    const pe_observation *seen;
    bool sines;
    uint64_t before, after; /* rows of angle 0 */
    uint64_t height, width;
} axial_view;

/* An entry of a cell among the rows that have been read; NaN elsewhere. */
static double cell(const axial_view *grid, uint64_t y, uint64_t x, uint64_t column)
{
    uint64_t row = grid->before + y * grid->width + x;
    return row < grid->seen->sampled ? pe_observation_entry(grid->seen, row, column)
                                     : (double)NAN;
}

/* Whether the columns that do not change from the first cell to the next hardly do in some
 * more: slow ones may, and a few that turn by whole turns. */
static bool is_line(const axial_view *grid)
{
    uint64_t changed = 0;
    for (uint64_t c = 0; c < grid->seen->columns; c++)
        for (uint64_t x = 2; x < 4 && x < grid->width; x++)
            changed += cell(grid, 0, 0, c) == cell(grid, 0, 1, c) &&
                       fabs(cell(grid, 0, 0, c) - cell(grid, 0, x, c)) > 0.01;
    return 8 * changed <= grid->seen->columns;
}

/* Whether every column depends on one axis alone, in the first cells of lines 0 and y. */
static bool is_separable(const axial_view *grid, uint64_t y)
{
    for (uint64_t c = 0; c < grid->seen->columns; c++) {
        double corner = cell(grid, 0, 0, c), right = cell(grid, 0, 1, c);
        double below = cell(grid, y, 0, c), both = cell(grid, y, 1, c);
        if (!(corner == below && right == both) && !(corner == right && below == both))
            return false;
    }
    return true;
}

static bool is_row_major(const axial_view *grid)
{
    return is_line(grid) && is_separable(grid, 1) &&
           (grid->height == 2 || is_separable(grid, 2));
}

/* The rows of a frame, if a grid is one of frames: its columns begin anew then. */
static uint64_t frame_rows(const axial_view *grid)
{
    uint64_t column = 0;
    while (column < grid->seen->columns && cell(grid, 0, 0, column) == cell(grid, 1, 0, column))
        column++;
    for (uint64_t y = 2; column < grid->seen->columns && y < grid->height; y++)
        if (cell(grid, y, 0, column) == cell(grid, 0, 0, column))
            return y;
    return grid->height;
}

/* Find the width of the narrowest grid whose columns depend on one axis each, as wider ones
 * have several lines of it in one. False: there is none. */
static bool find_width(axial_view *grid)
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
    axial_view grid = {.seen = seen};
    char text[160];
    if (seen->sampled < 4 || !find_width(&grid))
        return;
    const uint64_t rows = depth ? grid.height : frame_rows(&grid);
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

/* ---- axial_rope ---- */

/* Whether all entries of a row are those of angle 0. */
static bool is_still(const pe_observation *seen, const double *row, bool sines)
{
    for (uint64_t column = 0; column < seen->columns; column++)
        if (row[column] != (sines ? 0 : 1))
            return false;
    return true;
}

/* Count the rows of angle 0 at the end, up to TOKENS_MAX. */
static uint64_t still_rows_at_end(const pe_observation *seen, bool sines, double *row)
{
    uint64_t count = 0;
    while (count < TOKENS_MAX && count < seen->rows &&
           pe_view_read(&seen->view, seen->rows - 1 - count, 1, row) &&
           is_still(seen, row, sines))
        count++;
    return count;
}

/* Write "&rope_theta=…" by the columns of the last axis, which turn along one line of cells, in
 * a table of half or of full width. */
static void write_theta(const axial_view *grid, bool full, char *dst, size_t size)
{
    const uint64_t all = grid->seen->columns, own = all / (full ? 4 : 2);
    const pe_columns places[] = {
        {0, 1, own}, {own, 1, own}, {0, 2, own}, {full ? all / 2 : 1, 2, own}};
    pe_view line = pe_view_part(&grid->seen->view, 0, grid->before, grid->width);
    pe_observation seen;
    pe_wave_law law = {.geometric = false};
    dst[0] = '\0';
    bool good = pe_observation_begin(&seen, &line) && seen.sampled >= 4;
    for (size_t i = 0; good && i < PE_COUNT(places) && !law.geometric; i++)
        if (!pe_wave_law_read(&seen, places[i], grid->sines, &law))
            law.geometric = false;
    pe_observation_end(&seen);
    if (law.geometric)
        pe_wave_law_base(&law, (double)own, 1, "rope_theta", "10000", dst, size);
}

static void write_tokens(const axial_view *grid, char *dst, size_t size)
{
    dst[0] = '\0';
    if (grid->before + grid->after > 0)
        snprintf(dst, size, "&prefix=%llu&suffix=%llu", (number)grid->before,
                 (number)grid->after);
}

/* Propose the arrangements of one grid; `measured`: with the theta that its columns tell. */
static void propose_grid(const axial_view *grid, pe_proposals *proposals, const char *sizes,
                         bool measured, size_t variants)
{
    static const char *const WIDTHS[] = {"", "&table=full"};
    static const char *const LAYOUTS[] = {"", "&layout=interleaved", "&layout=half_by_axis"};
    static const char *const LADDERS[] = {"", "&ladder=split", "&arrangement=alternating"};
    static const char *const ORDERS[] = {"", "&axis_order=reversed"};
    const char *tensor = grid->sines ? "sin" : "cos";
    char cells[256], tokens[2 * TEXT], theta[TEXT] = "";
    write_tokens(grid, tokens, sizeof tokens);
    for (int full = 0; full < 2 && grid->seen->columns % (full ? 4 : 1) == 0; full++) {
        snprintf(cells, sizeof cells, "sizes=%s&dim=%llu%s%s", sizes,
                 (number)(full ? grid->seen->columns : 2 * grid->seen->columns), WIDTHS[full],
                 tokens);
        if (measured)
            write_theta(grid, full, theta, sizeof theta);
        for (size_t i = 0; i < PE_AXIAL_PRESET_COUNT; i++)
            pe_propose(proposals, tensor, "preset=%s&%s%s", pe_axial_presets[i].name, cells,
                       i > 0 ? theta : "");
        for (size_t i = 0; i < variants; i++)
            pe_propose(proposals, tensor, "%s%s%s%s%s", cells, theta, ORDERS[i % 2],
                       LADDERS[i / 2 % 3], LAYOUTS[i / 6]);
    }
}

static void propose_row_major(const axial_view *grid, pe_proposals *proposals)
{
    const uint64_t rows = frame_rows(grid), frames = grid->height / rows;
    char sizes[3 * TEXT];
    proposals->angle = fmax((double)grid->height, (double)grid->width) + 7;
    if (grid->height % rows == 0) {
        snprintf(sizes, sizeof sizes, "%llu,%llu,%llu", (number)frames, (number)rows,
                 (number)grid->width);
        propose_grid(grid, proposals, sizes, false, frames > 1 ? 6 : 0);
    }
    snprintf(sizes, sizeof sizes, "%llu,%llu", (number)grid->height, (number)grid->width);
    propose_grid(grid, proposals, sizes, true, 18);
}

/* Propose cells that come in squares of 2 x 2. */
static void propose_merged(const axial_view *grid, pe_proposals *proposals)
{
    char tokens[2 * TEXT];
    write_tokens(grid, tokens, sizeof tokens);
    proposals->angle = fmax((double)grid->height, (double)grid->width) + 7;
    for (int full = 0; full < 2 && grid->seen->columns % (full ? 4 : 1) == 0; full++)
        pe_propose(proposals, grid->sines ? "sin" : "cos",
                   "preset=qwen2_vl_vision&sizes=%llu,%llu&dim=%llu%s%s", (number)grid->height,
                   (number)grid->width,
                   (number)(full ? grid->seen->columns : 2 * grid->seen->columns),
                   full ? "&table=full" : "", tokens);
}

/* Propose the sizes that fit: a grid, or else those whose cells may come in squares. */
static void propose_sizes(const axial_view *table, pe_proposals *proposals)
{
    const uint64_t cells = table->seen->rows - table->before - table->after;
    axial_view found = *table;
    if (find_width(&found)) {
        propose_row_major(&found, proposals);
        return;
    }
    for (uint64_t width = 2; width <= EXTENT_MAX && width <= cells; width += 2) {
        axial_view grid = *table;
        grid.width = width;
        grid.height = cells / width;
        if (cells % (2 * width) == 0 && width <= 4 * grid.height && grid.height <= 4 * width)
            propose_merged(&grid, proposals);
    }
}

/* Propose the grids of a table of cosines or of sines. */
static void propose_grids(pe_observation *seen, pe_proposals *proposals, bool sines,
                          double *row)
{
    axial_view grid = {.seen = seen, .sines = sines};
    while (grid.before < TOKENS_MAX && grid.before < seen->sampled &&
           is_still(seen, seen->sample + grid.before * seen->columns, sines))
        grid.before++;
    grid.after = still_rows_at_end(seen, sines, row);
    if (grid.before > 0)
        grid.before--; /* the first cell has angle 0, too, unless all cells turn */
    for (int more = 0; more < 2 && grid.before + grid.after < seen->rows; more++, grid.before++)
        propose_sizes(&grid, proposals);
}

void pe_recognise_axial_rope(pe_observation *seen, pe_proposals *proposals)
{
    double *row;
    if (seen->view.rank != 2 || seen->sampled < 4 || seen->columns < 2 || seen->columns > 4096)
        return;
    row = malloc((size_t)seen->columns * sizeof *row);
    if (!row)
        return;
    propose_grids(seen, proposals, false, row);
    propose_grids(seen, proposals, true, row);
    free(row);
}

/* ---- fourier ---- */

/* Propose the published frequencies and layouts for points of a grid. */
static void propose_features(const pe_observation *seen, pe_proposals *proposals,
                             const char *sizes, uint64_t axes, uint64_t longest)
{
    static const char *const GRIDS[] = {"", "&grid=centers", "&grid=unit", "&grid=index"};
    static const char *const PRESETS[] = {"nerfstudio", "nerf", "perceiver", "timm_pixel",
                                          "timm_fourier_embed"};
    static const char *const ANGLES[] = {"", "&angle=half_turns", "&angle=radians"};
    static const char *const LAYOUTS[] = {"", "&layout=by_frequency",
                                          "&layout=concat_by_frequency"};
    static const char *const INPUTS[] = {"", "&include_input=first", "&include_input=last"};
    const bool input = seen->columns % (2 * axes) != 0;
    const number bands = (seen->columns - (input ? axes : 0)) / (2 * axes);
    char points[160];
    if (input && seen->columns % (2 * axes) != axes)
        return;
    snprintf(points, sizeof points, "sizes=%s&bands=%llu", sizes, bands);
    for (size_t grid = 0; grid < PE_COUNT(GRIDS); grid++)
        for (size_t i = 0; i < PE_COUNT(PRESETS); i++)
            pe_propose(proposals, "encoding", "preset=%s&%s%s", PRESETS[i], points,
                       GRIDS[grid]);
    for (size_t i = 0; i < 9; i++)
        for (size_t in = input ? 1 : 0; in < (input ? 3 : 1); in++) {
            for (size_t grid = 0; grid < PE_COUNT(GRIDS); grid++)
                pe_propose(proposals, "encoding", "%s%s%s%s%s", points, GRIDS[grid],
                           ANGLES[i % 3], LAYOUTS[i / 3], INPUTS[in]);
            pe_propose(proposals, "encoding", "%s&spacing=linear&max_frequency=%.17g%s%s%s",
                       points, (double)longest / 2, ANGLES[i % 3], LAYOUTS[i / 3], INPUTS[in]);
        }
}

void pe_recognise_fourier(pe_observation *seen, pe_proposals *proposals)
{
    axial_view grid = {.seen = seen};
    char sizes[3 * TEXT];
    if (seen->view.rank != 2 || seen->sampled < 2)
        return;
    proposals->angle = 1000;
    if (seen->sampled >= 4 && find_width(&grid)) {
        const uint64_t rows = frame_rows(&grid);
        snprintf(sizes, sizeof sizes, "%llu,%llu", (number)grid.height, (number)grid.width);
        propose_features(seen, proposals, sizes, 2,
                         grid.width > grid.height ? grid.width : grid.height);
        snprintf(sizes, sizeof sizes, "%llu,%llu,%llu", (number)(grid.height / rows),
                 (number)rows, (number)grid.width);
        if (rows < grid.height)
            propose_features(seen, proposals, sizes, 3, grid.width > rows ? grid.width : rows);
        return;
    }
    snprintf(sizes, sizeof sizes, "%llu", (number)seen->rows);
    propose_features(seen, proposals, sizes, 1, seen->rows);
}
