#include "identify/column_order.h"

#include "recognise/lattice.h"

#include <math.h>
#include <stdlib.h>

#define NOISE          1.2 /* of the grain, which is five times the noise: six times that */
#define LEAST_ROWS     4
#define BLOCK_ENTRIES  ((uint64_t)1 << 16)
#define SUMMED_ENTRIES ((uint64_t)1 << 24) /* at most; more rows are left out evenly */
#define AXES_MAX       3
#define FAST_LEAST     8 /* one of so many columns is a wave that is measured, at least */

/* How far slow columns turn along their axis, in radians, if that begins at position 0. Up to
 * here the sum of a column rises with its frequency: sums of sines go as (1 - cos x) / x, those
 * of what cosines lack as 1 - sin x / x. Rounding keeps that order, while it may hide how far
 * so slow a wave turns. */
#define SLOW_SINE   2
#define SLOW_COSINE 4

#define SAME_FREQUENCY 0.005 /* relative */
#define SAME_PHASE     0.3   /* radians */

_Static_assert(PE_IDENTITY_COLUMNS_MAX <= UINT16_MAX, "indices of columns have 16 bits");

typedef struct column {
    uint16_t index;
    size_t axis; /* along which it changes; AXES_MAX: it is constant */
    bool sine;
    bool paired;      /* there is a wave of its frequency a quarter turn ahead or behind */
    double frequency; /* radians per row of its axis; 0: it is slow */
    double phase;     /* of a wave that is not slow, as cosines have it */
    double amplitude; /* the same */
    double mean;      /* of entries that were looked at */
    double sum;       /* of sines the entries, of cosines what they lack of the amplitude */
} column;

typedef struct matrix {
    const pe_view *view;
    uint64_t rows, count;
    pe_grid_lines lines; /* along the axes of the grid that the rows are, or all rows */
    double amplitude;
    double least;    /* that sums of columns differ by and noise does not bring */
    bool from_zero;  /* row 0 is position 0 */
    bool both;       /* there are sines and cosines */
    column *columns; /* [count] */
    double *block;   /* some rows */
    pe_error *reterr;
} matrix;

/* Read some rows of a view. False after a problem was added. */
static bool read_rows(matrix *self, const pe_view *view, uint64_t first, uint64_t rows)
{
    bool good = pe_view_read(view, first, rows, self->block);
    if (!good)
        pe_error_add(self->reterr, PE_MALFORMED, "body", "", "a table that can be read");
    return good;
}

/* Every `distance`-th row. */
static pe_view rows_apart(const pe_view *view, uint64_t distance)
{
    pe_view spread = *view;
    spread.strides[0] *= distance;
    spread.shape[0] = (view->shape[0] - 1) / distance + 1;
    return spread;
}

/* ---- axes and waves ---- */

/* Read the lines of a grid whose columns each change along one axis, or all rows. False: they
 * cannot be read, or memory ran out. */
static bool read_lines(matrix *self)
{
    pe_observation seen;
    pe_grid_view grid = {.seen = &seen};
    bool good = pe_observation_begin(&seen, self->view);
    if (!good || !pe_grid_find_width(&grid)) {
        self->lines = (pe_grid_lines){.axes = 1, .sizes = {self->rows}, .items = {seen}};
        return good;
    }
    const uint64_t frame = pe_grid_frame_rows(&grid);
    const uint64_t sizes[AXES_MAX] = {grid.height / frame, frame, grid.width};
    const size_t axes = grid.height / frame > 1 ? 3 : 2;
    good = pe_grid_lines_read(&seen, 0, axes, sizes + AXES_MAX - axes, &self->lines);
    pe_observation_end(&seen);
    return good;
}

/* The place of an axis, which are told from the last one on, among the lines. */
static size_t find_line(const matrix *self, size_t axis)
{
    return self->lines.axes - 1 - axis;
}

/* How far apart the entries of a column are along a line, and their mean. */
static double find_range(const pe_observation *line, uint64_t c, double *ret_mean)
{
    double least = INFINITY, most = -INFINITY, sum = 0;
    for (size_t row = 0; row < line->sampled; row++) {
        const double entry = pe_observation_entry(line, row, c);
        least = entry < least ? entry : least;
        most = entry > most ? entry : most;
        sum += entry;
    }
    *ret_mean = sum / (double)line->sampled;
    return most - least;
}

/* Find the axis of a column, and its wave along that. */
static void look_at_column(const matrix *self, const pe_observed_wave *const *waves,
                           column *own)
{
    const size_t axes = self->lines.axes;
    double most = axes > 1 ? self->view->grain : -INFINITY;
    own->axis = AXES_MAX;
    for (size_t axis = 0; axis < axes; axis++) {
        double mean;
        const double range =
            find_range(&self->lines.items[find_line(self, axis)], own->index, &mean);
        own->mean = axis == 0 || range > most ? mean : own->mean;
        own->axis = range > most ? axis : own->axis;
        most = range > most ? range : most;
    }
    own->axis = axes == 1 ? 0 : own->axis;
    if (own->axis == AXES_MAX)
        return;
    const pe_observed_wave *wave = &waves[find_line(self, own->axis)][own->index];
    own->frequency = wave->found ? wave->frequency : 0;
    own->phase = wave->found ? wave->phase : 0;
    own->amplitude = wave->found ? wave->amplitude : 0;
}

/* Look at all columns. *ret_waves: enough of them are waves. False after a problem was added.
 */
static bool look_at_columns(matrix *self, const pe_observed_wave *known, bool *ret_waves)
{
    const pe_observed_wave *waves[PE_AXES_MAX];
    uint64_t fast = 0;
    bool good = read_lines(self);
    for (size_t a = 0; good && a < self->lines.axes; a++) {
        waves[a] = known && self->lines.axes == 1 ? known
                                                  : pe_observation_waves(&self->lines.items[a]);
        good = waves[a] != NULL;
    }
    for (uint64_t c = 0; good && c < self->count; c++) {
        self->columns[c] = (column){.index = (uint16_t)c};
        look_at_column(self, waves, &self->columns[c]);
        fast += self->columns[c].frequency > 0;
    }
    *ret_waves = fast * FAST_LEAST >= self->count;
    if (!good)
        pe_error_add(self->reterr, PE_NO_MEMORY, "", "", "memory for the search");
    pe_grid_lines_end(&self->lines);
    return good;
}

/* ---- sines and cosines ---- */

/* Tell sines from cosines by row 0, if that is position 0: every entry is 0 or the amplitude.
 * False after a problem was added. */
static bool read_kinds(matrix *self)
{
    const double *row = self->block, near = self->view->grain;
    uint64_t sines = 0;
    self->from_zero = true;
    if (!read_rows(self, self->view, 0, 1))
        return false;
    for (uint64_t c = 0; c < self->count; c++)
        self->amplitude = row[c] > self->amplitude ? row[c] : self->amplitude;
    for (uint64_t c = 0; c < self->count && self->from_zero; c++) {
        self->columns[c].sine = fabs(row[c]) <= near;
        sines += self->columns[c].sine;
        self->from_zero = self->columns[c].sine || fabs(row[c] - self->amplitude) <= near;
    }
    self->both = sines > 0 && sines < self->count;
    return true;
}

/* By axes, and the faster ones first. */
static int by_frequency(const void *a, const void *b)
{
    const column *one = a, *other = b;
    if (one->axis != other->axis)
        return one->axis < other->axis ? -1 : 1;
    if (one->frequency != other->frequency)
        return one->frequency > other->frequency ? -1 : 1;
    return one->index < other->index ? -1 : one->index > other->index;
}

/* Whether a wave is a quarter turn behind another one, as sines are behind cosines. */
static bool is_behind(const column *one, const column *other)
{
    const double turn = acos(-1) / 2;
    return fabs(remainder(other->phase - one->phase - turn, 4 * turn)) < SAME_PHASE;
}

/* Find the other kind's columns of each frequency. Returns how many columns have some. */
static uint64_t pair_columns(matrix *self)
{
    uint64_t paired = 0;
    for (uint64_t first = 0, end; first < self->count; first = end) {
        const column *own = &self->columns[first];
        for (end = first + 1;
             end < self->count && self->columns[end].axis == own->axis &&
             self->columns[end].frequency >= (1 - SAME_FREQUENCY) * own->frequency;)
            end++;
        for (uint64_t c = first; own->frequency > 0 && c < end; c++) {
            column *one = &self->columns[c];
            for (uint64_t k = first; k < end && !one->paired; k++) {
                one->sine = is_behind(one, &self->columns[k]);
                one->paired = one->sine || is_behind(&self->columns[k], one);
            }
            paired += one->paired;
        }
    }
    return paired;
}

/* Whether a column is small enough to be one of slow sines. */
static bool is_small(const matrix *self, const column *own)
{
    return 2 * own->mean * own->mean < self->amplitude * self->amplitude;
}

/* Tell sines from cosines where row 0 is another position: by the phases of waves that have the
 * same frequency, and slow ones by their size. */
static void find_kinds(matrix *self)
{
    uint64_t fast = 0, small = 0;
    double sum = 0;
    qsort(self->columns, (size_t)self->count, sizeof *self->columns, by_frequency);
    for (uint64_t c = 0; c < self->count; c++) {
        fast += self->columns[c].frequency > 0;
        sum += self->columns[c].amplitude;
    }
    self->amplitude = sum / (double)fast;
    for (uint64_t c = 0; c < self->count; c++)
        small += self->columns[c].frequency == 0 && is_small(self, &self->columns[c]);
    self->both = 2 * pair_columns(self) > fast;
    for (uint64_t c = 0; c < self->count; c++) {
        column *own = &self->columns[c];
        if (!self->both)
            own->sine = 2 * small > self->count - fast;
        else if (!own->paired)
            own->sine = is_small(self, own);
    }
}

/* Let columns be slow whose order is told by their sums. */
static void find_slow(matrix *self)
{
    for (uint64_t c = 0; c < self->count; c++) {
        column *own = &self->columns[c];
        const double extent =
            own->axis < AXES_MAX ? (double)self->lines.sizes[find_line(self, own->axis)] : 0;
        if (self->from_zero && own->frequency * extent < (own->sine ? SLOW_SINE : SLOW_COSINE))
            own->frequency = 0;
    }
}

/* Give constant columns to the axes that have the fewest of their kind. */
static void place_constants(matrix *self)
{
    uint64_t counts[2][AXES_MAX] = {{0}};
    for (int constant = 0; constant < 2; constant++)
        for (uint64_t c = 0; c < self->count; c++) {
            column *own = &self->columns[c];
            size_t fewest = 0;
            if ((own->axis == AXES_MAX) != (constant > 0))
                continue;
            for (size_t axis = 1; axis < self->lines.axes; axis++)
                if (counts[own->sine][axis] < counts[own->sine][fewest])
                    fewest = axis;
            own->axis = constant > 0 ? fewest : own->axis;
            counts[own->sine][own->axis]++;
        }
}

/* ---- the order ---- */

/* Add up all columns. */
static bool sum_rows(matrix *self, uint64_t at_once, bool *ret_finite)
{
    const uint64_t entries = self->rows * self->count;
    const pe_view spread = rows_apart(self->view, (entries - 1) / SUMMED_ENTRIES + 1);
    self->least = NOISE * self->view->grain * sqrt((double)spread.shape[0]);
    for (uint64_t first = 0, rows; first < spread.shape[0]; first += rows) {
        rows = spread.shape[0] - first < at_once ? spread.shape[0] - first : at_once;
        if (!read_rows(self, &spread, first, rows))
            return false;
        const double *row = self->block;
        for (uint64_t i = 0; i < rows; i++, row += self->count)
            for (uint64_t c = 0; c < self->count; c++) {
                column *own = &self->columns[c];
                own->sum += own->sine ? row[own->index] : self->amplitude - row[own->index];
            }
    }
    *ret_finite = true;
    for (uint64_t c = 0; c < self->count; c++)
        *ret_finite = *ret_finite && isfinite(self->columns[c].sum);
    return true;
}

/* By axes, sines first, then by falling frequency. */
static int faster_first(const void *a, const void *b)
{
    const column *one = a, *other = b;
    if (one->axis != other->axis)
        return one->axis < other->axis ? -1 : 1;
    if (one->sine != other->sine)
        return one->sine ? -1 : 1;
    if (one->frequency != other->frequency)
        return one->frequency > other->frequency ? -1 : 1;
    if (one->sum != other->sum)
        return one->sum > other->sum ? -1 : 1;
    return one->index < other->index ? -1 : one->index > other->index;
}

/* Whether noise leaves open which of two neighbours is the slower one. */
static bool is_open(const matrix *self)
{
    for (uint64_t c = 1; c < self->count; c++) {
        const column *one = &self->columns[c - 1], *other = &self->columns[c];
        const double more = one->sum - other->sum; /* 0: they may well be the same */
        if (one->axis == other->axis && one->sine == other->sine && one->frequency == 0 &&
            more > 0 && more < self->least)
            return true;
    }
    return false;
}

/* Write the order of the sorted columns of an axis, sines and cosines in turn. Returns the end
 * of the axis; 0: there are not as many of both. */
static uint64_t write_axis(const matrix *self, uint64_t first, uint16_t *order)
{
    const column *own = &self->columns[first];
    uint64_t sines = 0, end = first;
    for (; end < self->count && self->columns[end].axis == own->axis; end++)
        sines += self->columns[end].sine;
    const uint64_t cosines = end - first - sines;
    if (self->both && sines != cosines)
        return 0;
    for (uint64_t c = 0; c < end - first; c++) {
        const uint64_t place = !self->both ? c : c < sines ? 2 * c : 2 * (c - sines) + 1;
        order[first + place] = own[c].index;
    }
    return end;
}

/* Write the order of sorted columns. False: there is none, or they are in it. */
static bool write_order(const matrix *self, uint16_t *order)
{
    bool moved = false;
    for (uint64_t first = 0; first < self->count;) {
        first = write_axis(self, first, order);
        if (first == 0)
            return false;
    }
    for (uint64_t c = 0; c < self->count; c++)
        moved = moved || order[c] != c;
    return moved;
}

/* Sort the columns. *ret_sorted: they are waves that can be ordered. False after a problem was
 * added. */
static bool sort_columns(matrix *self, const pe_observed_wave *observed, uint64_t at_once,
                         bool *ret_sorted)
{
    if (!look_at_columns(self, observed, ret_sorted))
        return false;
    if (!*ret_sorted)
        return true;
    if (!read_kinds(self))
        return false;
    if (!self->from_zero)
        find_kinds(self);
    find_slow(self);
    if (!sum_rows(self, at_once, ret_sorted))
        return false;
    place_constants(self);
    qsort(self->columns, (size_t)self->count, sizeof *self->columns, faster_first);
    *ret_sorted = *ret_sorted && !is_open(self);
    return true;
}

bool pe_column_order_find(const pe_view *view, const pe_observed_wave *waves,
                          uint16_t order[PE_IDENTITY_COLUMNS_MAX], uint64_t *ret_count,
                          bool *ret_pairs, pe_error *reterr)
{
    matrix self = {.view = view, .reterr = reterr};
    bool good = true, sorted = false;
    *ret_count = 0;
    *ret_pairs = false;
    if (view->rank != 2 || view->shape[0] < LEAST_ROWS || view->shape[1] < 2 ||
        view->shape[1] > PE_IDENTITY_COLUMNS_MAX)
        return true;
    self.rows = view->shape[0];
    self.count = view->shape[1];
    const uint64_t at_once = BLOCK_ENTRIES / self.count;
    self.columns = malloc((size_t)self.count * sizeof *self.columns);
    self.block = malloc((size_t)(at_once * self.count) * sizeof *self.block);
    if (!self.columns || !self.block) {
        pe_error_add(reterr, PE_NO_MEMORY, "", "", "memory for the search");
        good = false;
    } else {
        good = sort_columns(&self, waves, at_once, &sorted);
        *ret_count = good && sorted && write_order(&self, order) ? self.count : 0;
        *ret_pairs = self.both && self.lines.axes == 1;
    }
    free(self.columns);
    free(self.block);
    return good;
}
