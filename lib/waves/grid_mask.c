/* Counting valid cells, and a table for each count. */
#include "waves/grid_mask.h"

#include "waves/fill.h"

#include <math.h>

static double axis_rows(double lines, double steps, bool normalized)
{
    double rows = steps + 1;
    return normalized ? fmin(lines * rows, rows * (rows + 1) / 2) : rows;
}

double pe_grid_mask_bytes(double height, double width, bool normalized, double row_bytes)
{
    return row_bytes *
           (axis_rows(height, width, normalized) + axis_rows(width, height, normalized));
}

/* The lines of an axis: rows of the grid for x, columns for y. */
typedef struct line_set {
    size_t lines, steps;             /* lines, and cells of each */
    size_t line_stride, step_stride; /* from line to line, and from cell to cell, in cells */
    uint32_t *totals;                /* valid cells of each line */
    uint32_t *starts; /* [steps + 1]: where the table of a total starts; UINT32_MAX: unused */
} line_set;

/* Set 1 for a valid cell and 0 for another one. */
static void read_runs(const double *runs, size_t count, uint32_t *ret_cells)
{
    size_t cell = 0;
    for (size_t run = 0; run < count; run++)
        for (size_t end = cell + (size_t)runs[run]; cell < end; cell++)
            ret_cells[cell] = run % 2 == 0;
}

/* Replace the cells' validity by the counts of valid cells up to each. Normalized lines are as
 * long as their totals, others have all cells. */
static void count_cells(const line_set *set, bool normalized, uint32_t *cells)
{
    for (size_t step = 0; step <= set->steps; step++)
        set->starts[step] = UINT32_MAX;
    for (size_t line = 0; line < set->lines; line++) {
        uint32_t *cell = cells + line * set->line_stride, count = 0;
        for (size_t step = 0; step < set->steps; step++, cell += set->step_stride)
            *cell = count += *cell;
        set->totals[line] = normalized ? count : (uint32_t)set->steps;
        set->starts[set->totals[line]] = 0;
    }
}

/* Turn counts into rows of the table. Returns the number of its rows. */
static size_t place_counts(const line_set *set, uint32_t *cells)
{
    uint32_t rows = 0;
    for (size_t total = 0; total <= set->steps; total++)
        if (set->starts[total] != UINT32_MAX) {
            set->starts[total] = rows;
            rows += (uint32_t)total + 1;
        }
    for (size_t line = 0; line < set->lines; line++) {
        uint32_t *cell = cells + line * set->line_stride;
        for (size_t step = 0; step < set->steps; step++, cell += set->step_stride)
            *cell += set->starts[set->totals[line]];
    }
    return rows;
}

/* Fill the tables of all totals: row c is the c-th valid cell, row 0 the place before it. */
static bool fill_tables(const line_set *set, const pe_axis *rule, pe_lattice_axis *axis,
                        pe_pace *pace)
{
    const size_t row_bytes = pe_wave_row_bytes(&axis->wave);
    for (size_t total = 0; total <= set->steps; total++) {
        if (set->starts[total] == UINT32_MAX)
            continue;
        if (!pe_axis_set_wave(rule, total, &axis->wave, pace))
            return false;
        axis->wave.positions.count = total + 1;
        axis->wave.positions.offset -= axis->wave.positions.step;
        pe_wave_fill(&axis->wave, 0, total + 1, axis->entries + set->starts[total] * row_bytes);
    }
    return true;
}

static bool mask_axis(line_set set, const double *runs, size_t count, const pe_axis *rule,
                      pe_lattice_axis *axis, pe_pace *pace)
{
    set.totals = pe_keep(pace, set.lines, sizeof *set.totals);
    set.starts = pe_keep(pace, set.steps + 1, sizeof *set.starts);
    axis->rows = pe_keep(pace, set.lines * set.steps, sizeof *axis->rows);
    if (!set.totals || !set.starts || !axis->rows)
        return false;
    read_runs(runs, count, axis->rows);
    count_cells(&set, rule->normalized, axis->rows);
    size_t table_rows = place_counts(&set, axis->rows);
    axis->entries = pe_keep(pace, table_rows, pe_wave_row_bytes(&axis->wave));
    bool good = axis->entries && fill_tables(&set, rule, axis, pace);
    axis->wave.positions.count = table_rows;
    return good;
}

bool pe_grid_mask(pe_lattice *lattice, const double *runs, size_t count, const pe_axis *rules,
                  pe_pace *pace)
{
    const size_t height = lattice->axes[0].places, width = lattice->axes[1].places;
    const line_set columns = {width, height, 1, width, NULL, NULL};
    const line_set rows = {height, width, width, 1, NULL, NULL};
    return mask_axis(columns, runs, count, &rules[0], &lattice->axes[0], pace) &&
           mask_axis(rows, runs, count, &rules[1], &lattice->axes[1], pace);
}
