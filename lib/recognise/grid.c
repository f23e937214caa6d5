/* Proposing sinusoidal encodings of grids. */
#include "recognise/recognisers.h"

#include "numerics/angle.h"
#include "recognise/wave_law.h"
#include "waves/presets.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define TESTED        8  /* channels, spread over all */
#define ZERO_ROWS_MAX 16 /* before the cells */
#define EXTENT_MAX    65536
#define TEXT          64
#define MASK_TEXT     256
#define NEARLY        1e-3 /* relative: what a measured step may be off by */

typedef unsigned long long number;

/* How the cells of a grid may lie in a table. */
typedef struct grid_view {
    const pe_observation *seen;
    const char *shape; /* the choice of the parameter */
    uint64_t height, width, dim;
    uint64_t before; /* rows of zeros */
    pe_view cells;   /* [height, width, dim] */
} grid_view;

/* View a table's cells. */
static grid_view view_cells(const pe_observation *seen, const char *shape, uint64_t height,
                            uint64_t width, uint64_t before)
{
    const pe_view *view = &seen->view;
    grid_view grid = {.seen = seen,
                      .shape = shape,
                      .height = height,
                      .width = width,
                      .dim = view->shape[shape[0] == 'c' ? 0 : view->rank - 1],
                      .before = before,
                      .cells = *view};
    pe_view *cells = &grid.cells;
    if (shape[0] == 'c') { /* chw */
        *cells = pe_view_transposed(cells, 0, 1);
        *cells = pe_view_transposed(cells, 1, 2);
    } else if (view->rank == 2) {
        *cells = pe_view_part(view, 0, before, height * width);
        cells->rank = 3;
        cells->shape[0] = height;
        cells->shape[1] = width;
        cells->shape[2] = grid.dim;
        cells->strides[2] = view->strides[1];
        cells->strides[1] = view->strides[0];
        cells->strides[0] = width * view->strides[0];
    }
    return grid;
}

/* The entry of a cell; NaN if it cannot be read. */
static double read_entry(const grid_view *grid, uint64_t y, uint64_t x, uint64_t channel)
{
    const pe_view line = pe_view_at(&grid->cells, 0, y), cell = pe_view_at(&line, 0, x);
    double entry = 0;
    return pe_view_read(&cell, channel, 1, &entry) ? entry : (double)NAN;
}

/* Whether a channel depends on one axis alone, in the first cells. */
static bool has_one_axis(const grid_view *grid, uint64_t channel, bool *changes)
{
    double corner = read_entry(grid, 0, 0, channel), right = read_entry(grid, 0, 1, channel);
    double below = read_entry(grid, 1, 0, channel), both = read_entry(grid, 1, 1, channel);
    const pe_observation *seen = grid->seen;
    *changes = *changes || !pe_observation_is_same(seen, both, corner);
    return (pe_observation_is_same(seen, corner, below) &&
            pe_observation_is_same(seen, right, both)) ||
           (pe_observation_is_same(seen, corner, right) &&
            pe_observation_is_same(seen, below, both));
}

static bool may_be(const grid_view *grid)
{
    bool changes = false;
    if (grid->height < 2 || grid->width < 2 || grid->dim < 4 || grid->dim % 4 != 0)
        return false;
    for (uint64_t i = 0; i < TESTED; i++)
        if (!has_one_axis(grid, i * (grid->dim - 1) / (TESTED - 1), &changes))
            return false;
    return changes;
}

/* ---- the law of each axis ---- */

/* The cells along an axis from the first one on, and what their waves say. */
typedef struct axis_line {
    uint64_t cells; /* that are valid */
    pe_observation seen;
    bool is_read, has_law;
    pe_wave_law law;
} axis_line;

#define JUMP 0.02 /* more than slow channels change from one cell to the next */

/* Whether the other axis changes at a cell, whose channels are those that are equal in all
 * cells before it: its positions are 0 in masked cells. Slow cosines of 16 bits are equal in
 * the first two cells as well, but not up to where they fall fast. */
static bool is_masked(const pe_observation *line, uint64_t cell)
{
    for (uint64_t c = 0; c < line->columns; c++)
        if (pe_observation_is_same(line, pe_observation_entry(line, 0, c),
                                   pe_observation_entry(line, 1, c)) &&
            pe_observation_is_same(line, pe_observation_entry(line, 0, c),
                                   pe_observation_entry(line, cell - 1, c)) &&
            fabs(pe_observation_entry(line, cell, c) -
                 pe_observation_entry(line, cell - 1, c)) > JUMP)
            return true;
    return false;
}

/* Read a line [cells, dim] up to the first masked cell. */
static void read_line(const pe_view *all, axis_line *ret_line)
{
    pe_observation seen;
    *ret_line = (axis_line){.cells = all->shape[0]};
    const bool good = pe_observation_begin(&seen, all);
    for (uint64_t cell = 2; good && cell < seen.sampled && cell < ret_line->cells; cell++)
        if (is_masked(&seen, cell))
            ret_line->cells = cell;
    pe_observation_end(&seen);
    const pe_view part = pe_view_part(all, 0, 0, ret_line->cells);
    ret_line->is_read = pe_observation_begin(&ret_line->seen, &part) && good;
}

/* Read the law of an axis whose sines are these columns. */
static void read_law(axis_line *line, pe_columns sines)
{
    line->has_law = line->is_read && line->seen.sampled >= 4 &&
                    line->seen.columns >= sines.first + (sines.count - 1) * sines.stride + 1 &&
                    pe_wave_law_read(&line->seen, sines, true, &line->law) &&
                    line->law.geometric;
}

/* Where the sines of an axis are that has the first channels, or the others. */
static pe_columns select_sines(const grid_view *grid, size_t arrangement, bool first)
{
    const uint64_t half = grid->dim / 2, quarter = grid->dim / 4;
    if (arrangement == 2) /* by function */
        return (pe_columns){first ? 0 : quarter, 1, quarter};
    return (pe_columns){first ? 0 : half, arrangement == 0 ? 2 : 1, quarter};
}

/* ---- proposals ---- */

/* Write the valid cells of a grid, of which the first lines have `width` each. */
static void write_mask(const grid_view *grid, uint64_t height, uint64_t width,
                       char dst[MASK_TEXT])
{
    const uint64_t beside = grid->width - width, below = (grid->height - height) * grid->width;
    size_t used = 0;
    dst[0] = '\0';
    if (beside == 0 && below > 0)
        snprintf(dst, MASK_TEXT, "&mask=%llu,%llu", (number)height * width, (number)below);
    for (uint64_t y = 0; beside > 0 && y < height && used < MASK_TEXT; y++)
        used += (size_t)snprintf(dst + used, MASK_TEXT - used, "%s%llu,%llu",
                                 y == 0 ? "&mask=" : ",", (number)width,
                                 (number)beside + (y + 1 == height ? below : 0));
}

/* Propose the positions that the laws tell, as far as they agree: `rest` says all else. */
static void propose_positions(const axis_line *x, const axis_line *y, const char *rest,
                              pe_proposals *proposals)
{
    const axis_line *own = x->has_law ? x : y, *other = y->has_law ? y : x;
    const double cells = (double)own->cells, others = (double)other->cells;
    const double step = own->law.first, others_step = other->law.first;
    const double whole = rint(2 * own->law.offset) / 2 + 0.0, extent = step * cells;
    const bool is_near = fabs(whole - own->law.offset) < 0.05 && whole >= 0 && whole <= 1;
    const double nearly = fmax(NEARLY, fmax(own->law.first_error, other->law.first_error));
    char first[TEXT], text[TEXT];
    pe_propose_number(first, sizeof first, "first_position", whole, 0, "0");
    if (is_near && fabs(step - 1) < nearly && fabs(others_step - 1) < nearly)
        pe_propose_request(proposals, "encoding", "%s%s", rest, first);
    if (is_near && fabs(extent - others_step * others) < nearly * extent) {
        pe_propose_number(text, sizeof text, "turns", step * (cells + 1e-6) / PE_TURN, nearly,
                          "1");
        pe_propose_request(proposals, "encoding", "%s%s&normalize=cells%s", rest, first, text);
        for (int scale = 1; scale <= 4; scale *= 2)
            if (fabs(extent * scale - rint(extent * scale)) < nearly * extent)
                pe_propose_request(proposals, "encoding",
                                   "%s%s&base_size=%.0f&interpolation_scale=%d", rest, first,
                                   rint(extent * scale), scale);
    }
    if (fabs(step - others_step) >= nearly * step)
        return;
    pe_propose_number(text, sizeof text, "interpolation_scale", 1 / step, nearly, "1");
    if (is_near)
        pe_propose_request(proposals, "encoding", "%s%s%s", rest, first, text);
    const double table = rint(2 * own->law.offset + cells); /* of which it is the centre */
    if (!is_near && table > cells && table < EXTENT_MAX) {
        pe_propose_request(proposals, "encoding", "%s&table_size=%.0f%s", rest, table, text);
        pe_propose_request(proposals, "encoding", "%s&table_size=%.0f&base_size=%.0f", rest,
                           table, fmax(1, rint(step * table)));
    }
}

/* Write the frequencies of both axes, which are the same unless what is measured differs. */
static void write_frequencies(const grid_view *grid, const axis_line *x, const axis_line *y,
                              pe_wave_texts *ret_texts)
{
    const double quarter = (double)grid->dim / 4;
    pe_wave_law law = x->has_law ? x->law : y->law;
    const bool differ = x->has_law && y->has_law && !pe_wave_law_join(&x->law, &y->law, &law);
    pe_wave_law_frequencies(differ ? &x->law : &law, differ ? &y->law : NULL, "base", quarter,
                            quarter - 1, ret_texts);
}

/* Propose what the waves of both axes say. False: they say nothing. */
static bool propose_measured(const grid_view *grid, const char *cells, pe_proposals *proposals)
{
    static const char *const ARRANGEMENTS[] = {"", "&layout=concat",
                                               "&layout=concat&grouping=function"};
    static const char *const ORDERS[] = {"", "&axis_order=height_first"};
    const pe_view row = pe_view_at(&grid->cells, 0, 0), column = pe_view_at(&grid->cells, 1, 0);
    axis_line x, y;
    pe_wave_texts frequencies;
    char mask[MASK_TEXT], rest[2 * MASK_TEXT];
    bool measured = false;
    read_line(&row, &x);
    read_line(&column, &y);
    write_mask(grid, y.cells, x.cells, mask);
    for (size_t i = 0; i < PE_COUNT(ARRANGEMENTS) * PE_COUNT(ORDERS); i++) {
        read_law(&x, select_sines(grid, i / 2, i % 2 == 0));
        read_law(&y, select_sines(grid, i / 2, i % 2 != 0));
        if (!x.has_law && !y.has_law)
            continue;
        write_frequencies(grid, &x, &y, &frequencies);
        for (size_t k = 0; k < frequencies.count; k++) {
            snprintf(rest, sizeof rest, "%s%s%s%s%s", cells, ARRANGEMENTS[i / 2], ORDERS[i % 2],
                     frequencies.items[k], mask);
            propose_positions(&x, &y, rest, proposals);
        }
        measured = true;
    }
    pe_observation_end(&x.seen);
    pe_observation_end(&y.seen);
    return measured;
}

static void propose_layouts(const grid_view *grid, pe_proposals *proposals)
{
    static const char *const ARRANGEMENTS[] = {"", "&layout=concat",
                                               "&layout=concat&grouping=function"};
    static const char *const ORDERS[] = {"", "&axis_order=height_first"};
    char cells[160], tokens[40] = "";
    proposals->angle = (double)(grid->height > grid->width ? grid->height : grid->width);
    if (grid->before > 0)
        snprintf(tokens, sizeof tokens, "&extra_tokens=%llu", (number)grid->before);
    snprintf(cells, sizeof cells, "height=%llu&width=%llu&dim=%llu&shape=%s%s",
             (number)grid->height, (number)grid->width, (number)grid->dim, grid->shape, tokens);
    for (size_t i = 0; i < PE_GRID_PRESET_COUNT; i++)
        pe_propose_request(proposals, "encoding", "%s&preset=%s", cells,
                           pe_grid_presets[i].name);
    if (propose_measured(grid, cells, proposals))
        return;
    for (size_t i = 0; i < PE_COUNT(ARRANGEMENTS) * PE_COUNT(ORDERS); i++)
        pe_propose_request(proposals, "encoding", "%s%s%s", cells, ARRANGEMENTS[i / 2],
                           ORDERS[i % 2]);
}

/* The rows of zeros that a table begins with. */
static uint64_t zero_rows(const pe_observation *seen)
{
    uint64_t rows = 0;
    for (bool zero = true; zero && rows < seen->sampled && rows <= ZERO_ROWS_MAX; rows += zero)
        for (uint64_t column = 0; zero && column < seen->columns; column++)
            zero = pe_observation_entry(seen, rows, column) == 0;
    return rows;
}

static void propose_view(grid_view grid, pe_proposals *proposals)
{
    if (may_be(&grid))
        propose_layouts(&grid, proposals);
}

/* For a table [cells, dim], perhaps after rows of zeros, [dim, height, width] or [height,
 * width, dim]: presets, and what the waves of the first row and of the first column of cells
 * say. Every channel of such a table depends on one axis alone, which few other tables do. */
void pe_recognise_sinusoidal_2d(pe_observation *seen, pe_proposals *proposals)
{
    const pe_view *view = &seen->view;
    if (view->rank == 3) {
        propose_view(view_cells(seen, "chw", view->shape[1], view->shape[2], 0), proposals);
        propose_view(view_cells(seen, "hwc", view->shape[0], view->shape[1], 0), proposals);
    }
    if (view->rank != 2 || seen->sampled == 0)
        return;
    uint64_t before = zero_rows(seen), cells = seen->rows - before;
    for (uint64_t width = 2; width <= EXTENT_MAX && width <= cells / 2; width++)
        if (cells % width == 0)
            propose_view(view_cells(seen, "nc", cells / width, width, before), proposals);
}
