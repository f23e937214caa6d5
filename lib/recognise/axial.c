/* Proposing rotary tables of grids: sizes by the columns that each axis turns, frequencies and
 * coordinates by the waves along each axis. */
#include "numerics/elementary.h"
#include "recognise/axial_columns.h"
#include "recognise/lattice.h"
#include "recognise/recognisers.h"
#include "recognise/table_positions.h"
#include "waves/presets.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TEXT        64
#define SUFFIX_MAX  8    /* rows after the cells */
#define WRONG_AMONG 12   /* columns, one of which may have a wrong entry */
#define NEARLY      2e-3 /* relative: what a measured step may be off by */

typedef unsigned long long number;

/* A table of cosines or of sines, and the grid that its rows are. */
typedef struct axial_table {
    pe_grid_view grid;
    bool sines;
    pe_grid_lines lines;
    int32_t *axis_of_column; /* [columns]; -1: it does not change */
} axial_table;

/* The only axis along which a column changes; -1: none, -2: more than one. */
static int32_t find_axis(const axial_table *self, uint64_t column)
{
    int32_t axis = -1;
    for (size_t a = 0; a < self->lines.axes; a++)
        if (!pe_column_is_still(&self->lines.items[a], column))
            axis = axis == -1 ? (int32_t)a : -2;
    return axis;
}

/* Read which axis turns which column. A few with wrong entries may be any one's. False: many
 * columns change along two, or memory ran out. */
static bool find_axes_of_columns(axial_table *self)
{
    const uint64_t columns = self->grid.seen->columns;
    uint64_t wrong = 0;
    self->axis_of_column = malloc((size_t)columns * sizeof *self->axis_of_column);
    for (uint64_t c = 0; self->axis_of_column && c < columns; c++) {
        const int32_t axis = find_axis(self, c);
        wrong += axis == -2;
        self->axis_of_column[c] = axis == -2 ? -1 : axis;
    }
    return self->axis_of_column && WRONG_AMONG * wrong <= columns;
}

/* ---- frequencies and coordinates ---- */

/* What the waves along the axes say, of one arrangement of columns. */
typedef struct axial_laws {
    bool found[PE_AXES_MAX], any;
    double first[PE_AXES_MAX];  /* the frequency of theta's power 0, in radians per cell */
    double offset[PE_AXES_MAX]; /* the position of the first cell, in cells */
    pe_wave_texts thetas;       /* "&rope_theta=…", or one that is empty */
} axial_laws;

static void read_laws(axial_table *table, const pe_axial_columns *columns, axial_laws *ret_laws)
{
    double least = INFINITY, log_theta = 0;
    *ret_laws = (axial_laws){.any = false, .thetas = {.count = 1}};
    for (size_t a = 0; a < table->lines.axes; a++) {
        pe_wave_law law;
        const pe_columns own = pe_axial_columns_select(columns, a);
        const double pairs = (double)own.count;
        if (!pe_grid_law_read(&table->lines, a, own, table->sines, &law))
            continue;
        ret_laws->found[a] = ret_laws->any = true;
        ret_laws->first[a] = law.first;
        ret_laws->offset[a] = pe_wave_offset(law.offset);
        if (pairs * law.ratio_error >= least)
            continue;
        least = pairs * law.ratio_error;
        log_theta = -pairs * pe_log_double(law.ratio);
        pe_wave_law_frequencies(&law, NULL, "rope_theta", pairs, 0, &ret_laws->thetas);
    }
    for (size_t a = 0; a < table->lines.axes && columns->split_ladder; a++) {
        const pe_columns own = pe_axial_columns_select(columns, a);
        const double pairs = (double)(own.count > 0 ? own.count : 1);
        ret_laws->first[a] *=
            pe_exp_double(log_theta * pe_axial_columns_start(columns, a) / pairs);
    }
}

/* Write "&name=1,2" of numbers of the axes; nothing if all are the default. */
static void write_list(const axial_table *table, const char *name, const double *numbers,
                       double usual, char dst[TEXT])
{
    int used = snprintf(dst, TEXT, "&%s=", name);
    bool all = true;
    for (size_t a = 0; a < table->lines.axes && used < TEXT; a++) {
        all = all && numbers[a] == usual;
        used +=
            snprintf(dst + used, TEXT - (size_t)used, "%s%.10g", a > 0 ? "," : "", numbers[a]);
    }
    if (all || used >= TEXT)
        dst[0] = '\0';
}

/* Write "&first_index=…", or that and "&reference_sizes=…": angles of 1 radian for each cell of
 * the reference grid. */
static void write_index(const axial_table *table, const axial_laws *laws, char dst[2 * TEXT])
{
    double first[PE_AXES_MAX] = {0}, reference[PE_AXES_MAX] = {0}, rate = 1, offset = 0;
    bool same = true;
    char text[TEXT];
    for (size_t a = 0; a < table->lines.axes; a++)
        if (laws->found[a]) {
            rate = laws->first[a];
            offset = laws->offset[a];
        }
    for (size_t a = 0; a < table->lines.axes; a++) { /* of a short axis as of the others */
        const double own = laws->found[a] ? laws->first[a] : rate;
        const double size = (double)table->lines.sizes[a];
        first[a] = laws->found[a] ? laws->offset[a] : size > 1 ? offset : 0;
        reference[a] = fmax(rint(own * size), 1);
        same = same && fabs(own - 1) < NEARLY;
    }
    write_list(table, "first_index", first, 0, dst);
    text[0] = '\0';
    if (!same)
        write_list(table, "reference_sizes", reference, -1, text);
    snprintf(dst + strlen(dst), TEXT, "%s", text);
}

/* Write "&coordinate_type=centres…" if the steps tell the size by which all axes are
 * normalised, and the first coordinates are those of its cells. */
static void write_centres(const axial_table *table, const axial_laws *laws, char dst[2 * TEXT])
{
    bool separate = true, longest = true, shortest = true;
    double most = 0, least = INFINITY;
    dst[0] = '\0';
    for (size_t a = 0; a < table->lines.axes; a++) {
        most = fmax(most, (double)table->lines.sizes[a]);
        least = fmin(least, (double)table->lines.sizes[a]);
    }
    for (size_t a = 0; a < table->lines.axes; a++) {
        const double size = (double)table->lines.sizes[a],
                     extent = 2 * PE_TURN / laws->first[a];
        if (!laws->found[a])
            continue;
        if (fabs(laws->offset[a] + (extent - 1) / 2) > 0.05)
            return;
        separate = separate && fabs(extent - size) < NEARLY * size;
        longest = longest && fabs(extent - most) < NEARLY * most;
        shortest = shortest && fabs(extent - least) < NEARLY * least;
    }
    if (separate || longest || shortest)
        snprintf(dst, 2 * TEXT, "&coordinate_type=centres%s",
                 separate  ? ""
                 : longest ? "&normalize=max"
                           : "&normalize=min");
}

/* ---- proposals ---- */

/* What is proposed of one grid. */
typedef struct axial_proposer {
    axial_table *table;
    pe_proposals *proposals;
    char cells[4 * TEXT]; /* "sizes=…", and the rows beside the grid */
    char rest[4 * TEXT];  /* what presets were proposed with last */
} axial_proposer;

/* Propose the presets once with each theta and coordinates that arrangements tell. */
static void propose_presets(axial_proposer *self, const pe_axial_columns *columns,
                            const char *theta, const char *places)
{
    char rest[sizeof self->rest];
    snprintf(rest, sizeof rest, "&dim=%zu%s%s%s", 2 * columns->request.pairs,
             columns->full ? "&table=full" : "", theta, places);
    if (strcmp(rest, self->rest) == 0)
        return;
    memcpy(self->rest, rest, sizeof rest);
    for (size_t i = 0; i < PE_AXIAL_PRESET_COUNT; i++) {
        pe_propose_request(self->proposals, self->table->sines ? "sin" : "cos",
                           "preset=%s&%s%s", pe_axial_presets[i].name, self->cells, rest);
    }
}

/* A pe_axial_columns_use. */
static void propose_columns(void *context, const pe_axial_columns *columns)
{
    axial_proposer *self = context;
    const char *tensor = self->table->sines ? "sin" : "cos";
    axial_laws laws;
    char index[2 * TEXT] = "", centres[2 * TEXT] = "";
    read_laws(self->table, columns, &laws);
    if (laws.any) {
        write_centres(self->table, &laws, centres);
        write_index(self->table, &laws, index);
    }
    propose_presets(self, columns, laws.thetas.items[0], centres[0] ? "" : index);
    for (size_t i = 0; i < laws.thetas.count; i++)
        pe_propose_request(self->proposals, tensor, "%s%s%s%s", self->cells, columns->text,
                           laws.thetas.items[i], centres[0] ? centres : index);
    if (!laws.any) /* DINOv3's */
        pe_propose_request(self->proposals, tensor,
                           "%s%s&rope_theta=100&coordinate_type=centres", self->cells,
                           columns->text);
}

/* Write the rows beside the cells. */
static void write_rows(const pe_grid_view *grid, char dst[2 * TEXT])
{
    dst[0] = '\0';
    if (grid->before + grid->after > 0)
        snprintf(dst, 2 * TEXT, "&prefix=%llu&suffix=%llu", (number)grid->before,
                 (number)grid->after);
}

/* Write "&sizes=…". */
static void write_sizes(const axial_table *table, char dst[TEXT])
{
    double sizes[PE_AXES_MAX] = {0};
    for (size_t a = 0; a < table->lines.axes; a++)
        sizes[a] = (double)table->lines.sizes[a];
    write_list(table, "sizes", sizes, 0, dst);
}

static void propose_sizes(const pe_grid_view *grid, bool sines, size_t axes,
                          const uint64_t *sizes, pe_proposals *proposals)
{
    axial_table table = {.grid = *grid, .sines = sines};
    axial_proposer self = {.table = &table, .proposals = proposals};
    char rows[2 * TEXT], cells[TEXT];
    if (pe_grid_lines_read(grid->seen, grid->before, axes, sizes, &table.lines) &&
        find_axes_of_columns(&table)) {
        write_sizes(&table, cells);
        write_rows(grid, rows);
        snprintf(self.cells, sizeof self.cells, "%s%s", cells + 1, rows);
        pe_axial_columns_try(grid->seen, table.axis_of_column, axes, propose_columns, &self);
    }
    pe_grid_lines_end(&table.lines);
    free(table.axis_of_column);
}

/* Propose a grid of two axes, and one of frames. */
static void propose_grid(const pe_grid_view *grid, bool sines, pe_proposals *proposals)
{
    const uint64_t rows = pe_grid_frame_rows(grid), frames = grid->height / rows;
    const uint64_t volume[] = {frames, rows, grid->width}, area[] = {grid->height, grid->width};
    proposals->angle = fmax((double)grid->height, (double)grid->width) + 7;
    propose_sizes(grid, sines, 2, area, proposals);
    if (frames * rows == grid->height)
        propose_sizes(grid, sines, 3, volume, proposals);
}

/* Propose cells that come in squares of 2 x 2. */
static void propose_merged(const pe_grid_view *grid, bool sines, pe_proposals *proposals)
{
    char rows[2 * TEXT];
    write_rows(grid, rows);
    proposals->angle = fmax((double)grid->height, (double)grid->width) + 7;
    for (int full = 0; full < 2 && grid->seen->columns % (full ? 4 : 1) == 0; full++)
        pe_propose_request(proposals, sines ? "sin" : "cos",
                           "preset=qwen2_vl_vision&sizes=%llu,%llu&dim=%llu%s%s",
                           (number)grid->height, (number)grid->width,
                           (number)(full ? grid->seen->columns : 2 * grid->seen->columns),
                           full ? "&table=full" : "", rows);
}

/* ---- rows ---- */

/* Whether all entries of a row are those of angle 0. */
static bool is_still(const pe_observation *seen, const double *row, bool sines)
{
    for (uint64_t column = 0; column < seen->columns; column++)
        if (!pe_observation_is_same(seen, row[column], sines ? 0 : 1))
            return false;
    return true;
}

/* Count the rows of angle 0 at the end. */
static uint64_t still_rows_at_end(const pe_observation *seen, bool sines, double *row)
{
    uint64_t count = 0;
    while (count < SUFFIX_MAX && count < seen->rows &&
           pe_view_read(&seen->view, seen->rows - 1 - count, 1, row) &&
           is_still(seen, row, sines))
        count++;
    return count;
}

/* Whether every column depends on one axis alone, in the first square of 2 x 2 cells. */
static bool has_square(const pe_grid_view *table)
{
    pe_grid_view square = *table;
    square.width = 2;
    return pe_grid_is_separable(&square, 1);
}

/* Propose the sizes that fit: a grid, or else those whose cells may come in squares. */
static void propose_cells(const pe_grid_view *table, bool sines, pe_proposals *proposals)
{
    const uint64_t cells = table->seen->rows - table->before - table->after;
    pe_grid_view found = *table;
    if (pe_grid_find_width(&found)) {
        propose_grid(&found, sines, proposals);
        return;
    }
    const uint64_t widest = has_square(table) ? cells / 2 : 0;
    for (uint64_t width = 2; width <= widest; width += 2) {
        pe_grid_view grid = *table;
        grid.width = width;
        grid.height = cells / width;
        if (cells % (2 * width) == 0 && width <= 4 * grid.height && grid.height <= 4 * width)
            propose_merged(&grid, sines, proposals);
    }
}

/* Propose the grids of a table of cosines or of sines; `row` has room for one. */
static void propose_table(pe_observation *seen, bool sines, double *row,
                          pe_proposals *proposals)
{
    pe_grid_view grid = {.seen = seen};
    while (grid.before < seen->sampled &&
           is_still(seen, seen->sample + grid.before * seen->columns, sines))
        grid.before++;
    if (grid.before == seen->sampled)
        return;
    grid.after = still_rows_at_end(seen, sines, row);
    if (grid.before > 0)
        grid.before--; /* the first cell has angle 0, too, unless all cells turn */
    for (int more = 0; more < 2 && grid.before + grid.after < seen->rows; more++, grid.before++)
        propose_cells(&grid, sines, proposals);
}

/* ---- coordinates ---- */

/* Read the coordinate of the first cell, and the step to the next one along each axis, as the
 * frequency of an angle in radians. False: coordinates do not rise. */
static bool read_coordinates(const axial_table *table, axial_laws *ret_laws)
{
    bool rising = true;
    *ret_laws = (axial_laws){.any = true};
    for (size_t a = 0; a < table->lines.axes; a++) {
        const pe_observation *line = &table->lines.items[a];
        const double first = pe_observation_entry(table->grid.seen, 0, a);
        const double step = line->sampled > 1 ? pe_observation_entry(line, 1, a) - first : 1;
        rising = rising && step > 0 && isfinite(step);
        ret_laws->found[a] = true;
        ret_laws->first[a] = step;
        ret_laws->offset[a] = pe_find_decimal(first / step, 1e-6) + 0.0;
    }
    return rising;
}

/* Propose coordinates [cells, axes]: of centres, or those that count cells, from anywhere, also
 * as in a grid of another size. */
static void propose_coordinates(const pe_observation *seen, pe_proposals *proposals)
{
    static const char *const CENTRES[] = {"", "&normalize=max", "&normalize=min"};
    axial_table table = {.grid = {.seen = seen}};
    const pe_grid_view *grid = &table.grid;
    const size_t axes = (size_t)seen->columns;
    axial_laws laws;
    char index[2 * TEXT], sizes[TEXT];
    if (axes > 3 || !pe_grid_find_width(&table.grid))
        return;
    const uint64_t rows = axes == 3 ? pe_grid_frame_rows(grid) : grid->height;
    const uint64_t extents[] = {grid->height / rows, rows, grid->width};
    proposals->angle = fmax((double)grid->height, (double)grid->width);
    if (pe_grid_lines_read(seen, 0, axes, extents + 3 - axes, &table.lines) &&
        read_coordinates(&table, &laws)) {
        write_sizes(&table, sizes);
        write_index(&table, &laws, index);
        for (size_t i = 0; laws.offset[axes - 1] < 0 && i < PE_COUNT(CENTRES); i++)
            pe_propose_request(proposals, "coordinates", "%s&dim=%zu&coordinate_type=centres%s",
                               sizes + 1, 4 * axes, CENTRES[i]);
        pe_propose_request(proposals, "coordinates", "%s&dim=%zu%s", sizes + 1, 4 * axes,
                           index);
    }
    pe_grid_lines_end(&table.lines);
}

void pe_recognise_axial_rope(pe_observation *seen, pe_proposals *proposals)
{
    double *row;
    if (seen->view.rank != 2 || seen->sampled < 4 || seen->columns < 2 || seen->columns > 4096)
        return;
    propose_coordinates(seen, proposals);
    row = malloc((size_t)seen->columns * sizeof *row);
    for (int sines = 0; row && sines < 2; sines++)
        propose_table(seen, sines, row, proposals);
    free(row);
}
