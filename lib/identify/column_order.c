#include "identify/column_order.h"

#include "identify/column_matching.h"
#include "recognise/lattice.h"
#include "recognise/wave_fit.h"

#include <math.h>
#include <stdlib.h>

#define LEAST_ROWS  4
#define PAIRED_ROWS 48   /* by which sines and cosines are paired */
#define NEARLY      0.01 /* relative: what squares may be off by, however small they are */
#define AXES_MAX    3
#define PART        8    /* one column in so many may be no wave, or have no partner */
#define VARIATION   4    /* of rows of tables that are sorted by entries, in ranges of a row */
#define ACCURATE    0.05 /* relative: of slower waves the range tells more */

_Static_assert(PE_IDENTITY_COLUMNS_MAX <= UINT16_MAX, "indices of columns have 16 bits");

/* A wave of one column, or of a sine and a cosine. */
typedef struct wave {
    uint16_t sine, cosine; /* the same if there is but one column */
    size_t axis;           /* along which it changes; AXES_MAX: it is constant */
    double frequency;      /* radians per row of its axis; 0: it is slow */
    double range;          /* of entries along its axis */
    const double *entries; /* [rows, columns], from its own on: of the first rows */
    uint64_t rows, columns;
} wave;

typedef struct matrix {
    pe_observation seen;
    uint64_t columns, count; /* of which there are so many waves */
    pe_grid_lines lines;     /* along the axes of the grid that the rows are, or all rows */
    bool paired;
    wave *waves; /* [columns] */
} matrix;

/* ---- pairs ---- */

/* The square of a column's size, and which one it is. */
typedef struct column_size {
    double square;
    uint16_t index;
} column_size;

static int smaller_first(const void *a, const void *b)
{
    const column_size *one = a, *other = b;
    if (one->square != other->square)
        return one->square < other->square ? -1 : 1;
    return one->index < other->index ? -1 : one->index > other->index;
}

static double square_entry(const pe_observation *seen, size_t row, uint64_t column)
{
    const double entry = pe_observation_entry(seen, row, column);
    return entry * entry;
}

/* Pair each of the larger columns with one of the smaller ones whose squares add up to the same
 * with its own in all rows, unless most have none. False: memory ran out. */
static bool pair_columns(matrix *self, column_size *sizes, double *squares)
{
    const pe_observation *seen = &self->seen;
    const uint64_t columns = self->columns, half = columns / 2, other = columns - half;
    const uint64_t rows = seen->sampled < PAIRED_ROWS ? seen->sampled : PAIRED_ROWS;
    const uint64_t distance = (seen->sampled - 1) / (rows - 1);
    uint16_t partners[PE_IDENTITY_COLUMNS_MAX];
    double mean = 0;
    for (uint16_t c = 0; c < columns; c++) {
        sizes[c] = (column_size){.index = c};
        for (uint64_t row = 0; row < rows; row++)
            sizes[c].square += square_entry(seen, row * distance, c);
        mean += sizes[c].square / (double)(rows * columns);
    }
    qsort(sizes, (size_t)columns, sizeof *sizes, smaller_first);
    for (uint64_t i = 0; i < rows * half; i++) {
        const uint64_t row = i / half * distance, place = i % half;
        squares[i] = square_entry(seen, row, sizes[place].index);
        squares[rows * half + i] =
            2 * mean - square_entry(seen, row, sizes[other + place].index);
    }
    if (!pe_match_entries(squares, squares + rows * half, rows, half,
                          mean * (NEARLY + seen->view.grain), 0, partners, &self->paired))
        return false;
    if (!self->paired)
        return true;
    for (uint64_t i = 0; i < half; i++)
        self->waves[self->count++] =
            (wave){.sine = sizes[partners[i]].index, .cosine = sizes[other + i].index};
    if (other > half)
        self->waves[self->count++] =
            (wave){.sine = sizes[half].index, .cosine = sizes[half].index};
    return true;
}

/* Pair the columns, or let each be a wave of its own. False: memory ran out. */
static bool find_pairs(matrix *self)
{
    const size_t columns = (size_t)self->columns;
    column_size *sizes = malloc(columns * sizeof *sizes);
    double *squares = malloc(PAIRED_ROWS * columns * sizeof *squares);
    const bool good = sizes && squares && pair_columns(self, sizes, squares);
    for (uint16_t c = 0; !self->paired && c < columns; c++)
        self->waves[self->count++] = (wave){.sine = c,
                                            .cosine = c,
                                            .entries = self->seen.sample + c,
                                            .rows = self->seen.sampled,
                                            .columns = self->columns};
    free(sizes);
    free(squares);
    return good;
}

/* Measure the frequency of a pair by what it turns from row to row, and then over more rows, as
 * long as that is no half turn; the sine is the one that is behind. */
static void measure_pair(const pe_observation *line, wave *own)
{
    for (size_t lag = 1; lag < line->sampled; lag *= 2) {
        double sine = 0, cosine = 0;
        for (size_t row = lag; row < line->sampled; row++) {
            const double s = pe_observation_entry(line, row - lag, own->sine);
            const double c = pe_observation_entry(line, row - lag, own->cosine);
            const double t = pe_observation_entry(line, row, own->sine);
            const double d = pe_observation_entry(line, row, own->cosine);
            sine += t * c - s * d;
            cosine += d * c + t * s;
        }
        own->frequency = pe_compute_angle(sine, cosine) / (double)lag;
        if (fabs(own->frequency) * (double)lag > 1)
            break;
    }
    if (!(own->frequency < 0)) {
        own->frequency = fmax(own->frequency, 0); /* of entries that are not finite */
        return;
    }
    const uint16_t behind = own->cosine;
    own->cosine = own->sine;
    own->sine = behind;
    own->frequency = -own->frequency;
}

/* ---- axes and waves ---- */

/* Read the lines of a grid whose columns each change along one axis, or all rows. False: they
 * cannot be read, or memory ran out. */
static bool read_lines(matrix *self)
{
    pe_grid_view grid = {.seen = &self->seen};
    uint64_t sizes[AXES_MAX] = {1, 1, self->seen.rows}, frame;
    size_t axes = 1;
    if (pe_grid_find_width(&grid)) {
        frame = pe_grid_frame_rows(&grid);
        sizes[0] = grid.height / frame;
        sizes[1] = frame;
        sizes[2] = grid.width;
        axes = sizes[0] > 1 ? 3 : 2;
    }
    return pe_grid_lines_read(&self->seen, 0, axes, sizes + AXES_MAX - axes, &self->lines);
}

/* How far apart the entries of a column are along a line. */
static double find_range(const pe_observation *line, uint64_t c)
{
    double least = INFINITY, most = -INFINITY;
    for (size_t row = 0; row < line->sampled; row++) {
        least = fmin(least, pe_observation_entry(line, row, c));
        most = fmax(most, pe_observation_entry(line, row, c));
    }
    return most - least;
}

/* Find the axis of a wave, from the last one on, and its frequency along that. False: memory
 * ran out. */
static bool look_at_wave(matrix *self, const pe_observed_wave *known, wave *own)
{
    const size_t axes = self->lines.axes;
    pe_observation *line = NULL;
    own->axis = AXES_MAX;
    own->range = axes > 1 ? self->seen.view.grain : -INFINITY;
    for (size_t axis = 0; axis < axes; axis++) {
        pe_observation *next = &self->lines.items[axes - 1 - axis];
        const double range = fmax(find_range(next, own->sine), find_range(next, own->cosine));
        if (!(range > own->range))
            continue;
        own->range = range;
        own->axis = axis;
        line = next;
    }
    if (line && self->paired) {
        measure_pair(line, own);
    } else if (line) {
        const pe_observed_wave *waves = known && axes == 1 ? known : pe_observation_waves(line);
        const pe_observed_wave *found = waves ? &waves[own->sine] : NULL;
        if (found && found->found && pe_observation_wave_error(line, found) < ACCURATE)
            own->frequency = found->frequency;
        return found;
    }
    return true;
}

/* Give constant waves to the axes that have the fewest. */
static void place_constants(matrix *self)
{
    uint64_t counts[AXES_MAX + 1] = {0};
    for (uint64_t i = 0; i < self->count; i++)
        counts[self->waves[i].axis]++;
    for (uint64_t i = 0; i < self->count; i++)
        for (size_t axis = 0; self->waves[i].axis == AXES_MAX && axis < self->lines.axes;
             axis++)
            if (counts[axis] * self->lines.axes < self->count) {
                self->waves[i].axis = axis;
                counts[axis]++;
            }
}

/* ---- orders ---- */

/* By axes, and by falling frequency and range. */
static int faster_first(const void *a, const void *b)
{
    const wave *one = a, *other = b;
    if (one->axis != other->axis)
        return one->axis < other->axis ? -1 : 1;
    if (one->frequency != other->frequency)
        return one->frequency > other->frequency ? -1 : 1;
    if (one->range != other->range)
        return one->range > other->range ? -1 : 1;
    return one->sine < other->sine ? -1 : one->sine > other->sine;
}

/* Write the orders of waves. Returns how many there are. */
static size_t order_waves(matrix *self,
                          uint16_t ret_orders[PE_COLUMN_ORDERS][PE_IDENTITY_COLUMNS_MAX])
{
    place_constants(self);
    qsort(self->waves, (size_t)self->count, sizeof *self->waves, faster_first);
    for (uint64_t i = 0; i < self->count; i++) {
        const wave *own = &self->waves[i];
        ret_orders[0][self->paired ? 2 * i : i] = own->sine;
        if (own->cosine == own->sine)
            continue;
        ret_orders[0][2 * i + 1] = ret_orders[1][i] = ret_orders[2][2 * i] = own->cosine;
        ret_orders[1][self->count + i] = ret_orders[2][2 * i + 1] = own->sine;
    }
    return self->paired && self->lines.axes == 1 && self->columns % 2 == 0 ? 3 : 1;
}

/* By the entries of the first rows, the largest first. */
static int larger_first(const void *a, const void *b)
{
    const wave *one = a, *other = b;
    for (uint64_t i = 0; i < one->rows * one->columns; i += one->columns)
        if (one->entries[i] != other->entries[i])
            return one->entries[i] > other->entries[i] ? -1 : 1;
    return one->sine < other->sine ? -1 : one->sine > other->sine;
}

/* Whether the entries of most rows hardly go up and down in the order of the columns. */
static bool is_smooth(const matrix *self)
{
    const uint64_t entries = self->waves[0].rows * self->columns;
    uint64_t smooth = 0;
    for (uint64_t i = 0; i < entries; i += self->columns) {
        double least = INFINITY, most = -INFINITY, sum = 0;
        for (uint64_t c = 0; c < self->columns; c++) {
            const double entry = self->waves[c].entries[i];
            sum += c > 0 ? fabs(entry - self->waves[c - 1].entries[i]) : 0;
            least = fmin(least, entry);
            most = fmax(most, entry);
        }
        smooth += sum <= VARIATION * (most - least);
    }
    return 4 * smooth * self->columns >= 3 * entries;
}

/* Whether the first row has but one number and 0, as that of position 0. */
static bool is_from_zero(const matrix *self)
{
    uint64_t others = 0;
    for (uint64_t c = 0; c < self->columns; c++)
        others += self->waves[c].entries[0] != 0 &&
                  self->waves[c].entries[0] != self->waves[0].entries[0];
    return others == 0;
}

static bool is_finite(const pe_observation *seen)
{
    size_t i = 0;
    while (i < seen->sampled * seen->columns && isfinite(seen->sample[i]))
        i++;
    return i == seen->sampled * seen->columns;
}

/* Write the orders by entries. Returns how many there are. */
static size_t order_entries(matrix *self,
                            uint16_t ret_orders[PE_COLUMN_ORDERS][PE_IDENTITY_COLUMNS_MAX])
{
    qsort(self->waves, (size_t)self->columns, sizeof *self->waves, larger_first);
    for (uint64_t c = 0; c < self->columns; c++) {
        ret_orders[0][c] = self->waves[c].sine;
        ret_orders[1][self->columns - 1 - c] = self->waves[c].sine;
    }
    return 2;
}

/* Measure the waves. *ret_waves: enough of them turn. False: memory ran out, or they cannot be
 * read. */
static bool look_at_waves(matrix *self, const pe_observed_wave *known, bool *ret_waves)
{
    uint64_t fast = 0;
    bool good = read_lines(self);
    for (uint64_t i = 0; good && i < self->count; i++) {
        good = look_at_wave(self, known, &self->waves[i]);
        fast += self->waves[i].frequency > 0;
    }
    *ret_waves = PART * fast >= self->count;
    return good;
}

bool pe_column_orders_find(const pe_view *view, const pe_observed_wave *waves,
                           uint16_t ret_orders[PE_COLUMN_ORDERS][PE_IDENTITY_COLUMNS_MAX],
                           size_t *ret_count, pe_error *reterr)
{
    matrix self = {.columns = view->rank == 2 ? view->shape[1] : 0};
    bool are_waves = false;
    *ret_count = 0;
    if (self.columns < 2 || self.columns > PE_IDENTITY_COLUMNS_MAX ||
        view->shape[0] < LEAST_ROWS)
        return true;
    self.waves = calloc((size_t)self.columns, sizeof *self.waves);
    bool good = self.waves && pe_observation_begin(&self.seen, view);
    const bool finite = good && is_finite(&self.seen); /* others have no order */
    good = good && (!finite || find_pairs(&self));
    if (good && finite && !self.paired)
        *ret_count = order_entries(&self, ret_orders);
    if (good && finite && (self.paired || !is_smooth(&self))) {
        *ret_count = !self.paired && is_from_zero(&self) ? 2 : 0;
        good = look_at_waves(&self, waves, &are_waves);
    }
    if (good && are_waves)
        *ret_count = order_waves(&self, ret_orders);
    if (!good)
        pe_error_add(reterr, PE_NO_MEMORY, "", "", "memory for the search");
    pe_grid_lines_end(&self.lines);
    pe_observation_end(&self.seen);
    free(self.waves);
    return good;
}
