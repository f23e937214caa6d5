#include "identify/column_order.h"

#include "recognise/wave_fit.h"

#include <math.h>
#include <stdlib.h>

#define LEAST_ROWS     4
#define BLOCK_ENTRIES  ((uint64_t)1 << 16)
#define SUMMED_ENTRIES ((uint64_t)1 << 24) /* at most; more rows are left out evenly */

/* How far slow columns turn in the whole table, in radians. Up to here the sum of a column
 * rises with its frequency: sums of sines go as (1 - cos x) / x, those of what cosines lack as
 * 1 - sin x / x. Rounding keeps that order, while it may hide how far so slow a wave turns. */
#define SLOW_SINE   2
#define SLOW_COSINE 4

/* A wave that turns less in the rows that were fitted is fitted to rows all over the table. */
#define SHORT_TURN 2

_Static_assert(PE_IDENTITY_COLUMNS_MAX <= UINT16_MAX, "indices of columns have 16 bits");

typedef struct column {
    uint16_t index;
    bool sine;        /* its row 0 is 0; else that is the amplitude */
    double frequency; /* radians per row; 0: it is slow */
    double sum;       /* of sines the entries, of cosines what they lack of the amplitude */
} column;

typedef struct matrix {
    const pe_view *view;
    uint64_t rows, count;
    double amplitude;
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

/* Read row 0, of which every entry must be 0 or the amplitude: most other tables end here. */
static bool read_kinds(matrix *self, bool *ret_waves)
{
    const double *row = self->block;
    *ret_waves = true;
    if (!read_rows(self, self->view, 0, 1))
        return false;
    for (uint64_t c = 0; c < self->count; c++)
        self->amplitude = row[c] > self->amplitude ? row[c] : self->amplitude;
    for (uint64_t c = 0; c < self->count && *ret_waves; c++) {
        self->columns[c] = (column){.index = (uint16_t)c, .sine = row[c] == 0};
        *ret_waves = row[c] == 0 || row[c] == self->amplitude;
    }
    return true;
}

/* Fit waves to rows at a distance, for the columns that turn little in `known` rows. False
 * after a problem was added. */
static bool fit_rows(matrix *self, uint64_t distance, uint64_t known)
{
    const pe_view spread = rows_apart(self->view, distance);
    pe_observation seen;
    const bool good = pe_observation_begin(&seen, &spread);
    for (uint64_t c = 0; good && c < self->count; c++)
        if (self->columns[c].frequency * (double)known < SHORT_TURN) {
            const pe_observed_wave wave =
                pe_fit_wave(seen.sample + c, (size_t)self->count, seen.sampled, PE_LEAST_ANGLE);
            self->columns[c].frequency = wave.found ? wave.frequency / (double)distance : 0;
        }
    if (!good)
        pe_error_add(self->reterr, PE_NO_MEMORY, "", "", "memory for the search");
    pe_observation_end(&seen);
    return good;
}

/* Measure the frequencies of all columns but the slow ones, from the waves of the first rows.
 */
static bool measure_frequencies(matrix *self, const pe_observed_wave *waves, bool *ret_waves)
{
    const uint64_t known = pe_observation_rows(self->rows, self->count);
    bool good = waves || fit_rows(self, 1, 0);
    *ret_waves = false;
    for (uint64_t c = 0; c < self->count; c++) {
        if (waves)
            self->columns[c].frequency = waves[c].found ? waves[c].frequency : 0;
        *ret_waves = *ret_waves || self->columns[c].frequency > 0;
    }
    if (good && *ret_waves && known < self->rows)
        good = fit_rows(self, (self->rows - 1) / known + 1, known);
    for (uint64_t c = 0; c < self->count; c++) {
        column *own = &self->columns[c];
        if (own->frequency * (double)self->rows < (own->sine ? SLOW_SINE : SLOW_COSINE))
            own->frequency = 0;
    }
    return good;
}

/* Add up all columns. */
static bool sum_rows(matrix *self, uint64_t at_once, bool *ret_finite)
{
    const uint64_t entries = self->rows * self->count;
    const pe_view spread = rows_apart(self->view, (entries - 1) / SUMMED_ENTRIES + 1);
    for (uint64_t first = 0, rows; first < spread.shape[0]; first += rows) {
        rows = spread.shape[0] - first < at_once ? spread.shape[0] - first : at_once;
        if (!read_rows(self, &spread, first, rows))
            return false;
        const double *entry = self->block;
        for (uint64_t row = 0; row < rows; row++)
            for (uint64_t c = 0; c < self->count; c++, entry++)
                self->columns[c].sum +=
                    self->columns[c].sine ? *entry : self->amplitude - *entry;
    }
    *ret_finite = true;
    for (uint64_t c = 0; c < self->count; c++)
        *ret_finite = *ret_finite && isfinite(self->columns[c].sum);
    return true;
}

/* Sines first, then by falling frequency. */
static int faster_first(const void *a, const void *b)
{
    const column *one = a, *other = b;
    if (one->sine != other->sine)
        return one->sine ? -1 : 1;
    if (one->frequency != other->frequency)
        return one->frequency > other->frequency ? -1 : 1;
    if (one->sum != other->sum)
        return one->sum > other->sum ? -1 : 1;
    return one->index < other->index ? -1 : one->index > other->index;
}

/* Write the order of sorted columns. False: there is none, or they are in it. */
static bool write_order(const matrix *self, uint16_t *order)
{
    uint64_t sines = 0;
    bool moved = false;
    while (sines < self->count && self->columns[sines].sine)
        sines++;
    const uint64_t cosines = self->count - sines;
    const bool both = sines > 0 && cosines > 0;
    if (both && sines != cosines)
        return false;
    for (uint64_t c = 0; c < self->count; c++) {
        uint64_t place = !both ? c : c < sines ? 2 * c : 2 * (c - sines) + 1;
        order[place] = self->columns[c].index;
        moved = moved || order[place] != place;
    }
    return moved;
}

/* Whether the columns are waves that can be ordered; *ret_good is false after a problem was
 * added. */
static bool measure_columns(matrix *self, const pe_observed_wave *observed, uint64_t at_once,
                            bool *ret_good)
{
    bool waves = false, finite = false;
    *ret_good = read_kinds(self, &waves);
    if (*ret_good && waves)
        *ret_good = measure_frequencies(self, observed, &waves);
    if (*ret_good && waves)
        *ret_good = sum_rows(self, at_once, &finite);
    return *ret_good && waves && finite;
}

bool pe_column_order_find(const pe_view *view, const pe_observed_wave *waves,
                          uint16_t order[PE_IDENTITY_COLUMNS_MAX], uint64_t *ret_count,
                          pe_error *reterr)
{
    matrix self = {.view = view, .reterr = reterr};
    bool good = true;
    *ret_count = 0;
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
    } else if (measure_columns(&self, waves, at_once, &good)) {
        qsort(self.columns, (size_t)self.count, sizeof *self.columns, faster_first);
        *ret_count = write_order(&self, order) ? self.count : 0;
    }
    free(self.columns);
    free(self.block);
    return good;
}
