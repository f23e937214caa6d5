/* Proposing sinusoidal encodings of grids. */
#include "recognise/recognisers.h"
#include "waves/grid_presets.h"

#include <math.h>
#include <stdio.h>

#define TESTED        8  /* channels, spread over all */
#define ZERO_ROWS_MAX 16 /* before the cells */
#define EXTENT_MAX    65536

/* How the cells of a grid may lie in a table. */
typedef struct grid_view {
    const pe_observation *seen;
    const char *shape; /* the choice of the parameter */
    uint64_t height, width, dim;
    uint64_t before; /* rows of zeros */
} grid_view;

/* The entry of a cell; NaN if it cannot be read. */
static double read_entry(const grid_view *grid, uint64_t y, uint64_t x, uint64_t channel)
{
    const pe_view *view = &grid->seen->view;
    uint64_t index[3] = {y, x, channel};
    pe_view at = *view;
    double entry = 0;
    if (view->rank == 2) {
        index[0] = grid->before + y * grid->width + x;
        index[1] = channel;
    } else if (grid->shape[0] == 'c') { /* chw */
        index[0] = channel;
        index[1] = y;
        index[2] = x;
    }
    for (size_t axis = view->rank; axis-- > 0;)
        at = pe_view_at(&at, axis, index[axis]);
    return pe_view_read(&at, 0, 1, &entry) ? entry : (double)NAN;
}

/* Whether a channel depends on one axis alone, in the first cells. */
static bool has_one_axis(const grid_view *grid, uint64_t channel)
{
    double corner = read_entry(grid, 0, 0, channel), right = read_entry(grid, 0, 1, channel);
    double below = read_entry(grid, 1, 0, channel), both = read_entry(grid, 1, 1, channel);
    return (corner == below && right == both) || (corner == right && below == both);
}

static bool may_be(const grid_view *grid)
{
    if (grid->height < 2 || grid->width < 2 || grid->dim < 4 || grid->dim % 4 != 0)
        return false;
    for (uint64_t i = 0; i < TESTED; i++)
        if (!has_one_axis(grid, i * (grid->dim - 1) / (TESTED - 1)))
            return false;
    return true;
}

static void propose(const grid_view *grid, pe_proposals *proposals)
{
    static const char *const ARRANGEMENTS[] = {"", "&layout=concat",
                                               "&layout=concat&grouping=function"};
    static const char *const ORDERS[] = {"", "&axis_order=height_first"};
    static const char *const BASES[] = {"", "&base=20", "&base=100", "&base=1000", "&base=50"};
    char cells[160], tokens[40] = "";
    proposals->angle = (double)(grid->height > grid->width ? grid->height : grid->width);
    if (grid->before > 0)
        snprintf(tokens, sizeof tokens, "&extra_tokens=%llu", (unsigned long long)grid->before);
    snprintf(cells, sizeof cells, "height=%llu&width=%llu&dim=%llu&shape=%s%s",
             (unsigned long long)grid->height, (unsigned long long)grid->width,
             (unsigned long long)grid->dim, grid->shape, tokens);
    for (size_t i = 0; i < PE_GRID_PRESET_COUNT; i++)
        pe_propose(proposals, "encoding", "%s&preset=%s", cells, pe_grid_presets[i].name);
    for (size_t base = 0; base < PE_COUNT(BASES); base++)
        for (size_t order = 0; order < PE_COUNT(ORDERS); order++)
            for (size_t i = 0; i < PE_COUNT(ARRANGEMENTS); i++)
                pe_propose(proposals, "encoding", "%s%s%s%s", cells, ARRANGEMENTS[i],
                           ORDERS[order], BASES[base]);
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

/* For a table [cells, dim], perhaps after rows of zeros, [dim, height, width] or [height,
 * width, dim]: presets, and arrangements of channels with usual bases. Every channel of such a
 * table depends on one axis alone, which few other tables do. */
void pe_recognise_sinusoidal_2d(pe_observation *seen, pe_proposals *proposals)
{
    const pe_view *view = &seen->view;
    if (view->rank == 3) {
        const grid_view first = {seen,           "chw",          view->shape[1],
                                 view->shape[2], view->shape[0], 0};
        const grid_view last = {seen, "hwc", view->shape[0], view->shape[1], view->shape[2], 0};
        if (may_be(&first))
            propose(&first, proposals);
        if (may_be(&last))
            propose(&last, proposals);
    }
    if (view->rank != 2 || seen->sampled == 0)
        return;
    uint64_t before = zero_rows(seen), cells = seen->rows - before;
    for (uint64_t width = 2; width <= EXTENT_MAX && width <= cells / 2; width++) {
        const grid_view grid = {seen, "nc", cells / width, width, seen->columns, before};
        if (cells % width == 0 && may_be(&grid))
            propose(&grid, proposals);
    }
}
