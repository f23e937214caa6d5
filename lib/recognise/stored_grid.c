/* Proposing how a stored table was interpolated for another grid. Every way to read both tables
 * as grids is tried with every filter on a few target cells, and proposed if these fit. */
#include "recognise/recognisers.h"

#include "numerics/resample.h"
#include "recognise/stored_rows.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define SOURCES_MAX 24 /* grids of so many cells, the squarest first */
#define TARGETS_MAX 48
#define STRETCHED   4 /* the most that the proportions of cells change */
#define PLACES      3 /* of either axis, whose cells are looked at */
#define COLUMNS     8 /* that are looked at, in each of two blocks */
#define BLOCKS      2

typedef unsigned long long number;

static const uint64_t PREFIXES[] = {1, 0, 2, 5};

/* ---- filters ---- */

static const struct option {
    pe_filter filter;
    bool align_corners, antialias;
    double scale_offset;
    const char *text;
} OPTIONS[] = {
    {PE_CUBIC, false, false, 0, ""},
    {PE_CUBIC, false, true, 0, "&antialias=true"},
    {PE_CUBIC, true, false, 0, "&align_corners=true"},
    {PE_CUBIC, false, false, 0.1, "&scale_offset=0.1"},
    {PE_LINEAR, false, false, 0, "&mode=bilinear"},
    {PE_LINEAR, false, true, 0, "&mode=bilinear&antialias=true"},
    {PE_LINEAR, true, false, 0, "&mode=bilinear&align_corners=true"},
    {PE_LINEAR, false, false, 0.1, "&mode=bilinear&scale_offset=0.1"},
    {PE_NEAREST, false, false, 0, "&mode=nearest"},
};

/* Whether a filter gives what one before it does: where a grid grows, antialiasing changes
 * cubic weights alone. */
static bool repeats_earlier(const struct option *option, uint64_t source, uint64_t target)
{
    return option->antialias && option->filter == PE_LINEAR && source <= target;
}

/* One axis; false: the filter would be too wide. */
static bool find_axis(const struct option *option, uint64_t source, uint64_t target,
                      pe_resample *ret_axis)
{
    if (option->antialias && source > PE_RESAMPLE_SHRINK * target)
        return false;
    *ret_axis = option->scale_offset > 0
                    ? pe_resample_by_factor(option->filter, source, target, source,
                                            (double)target + option->scale_offset)
                    : pe_resample_to_size(option->filter, option->align_corners,
                                          option->antialias, source, target);
    return true;
}

/* ---- grids ---- */

typedef struct grid {
    uint64_t height, width;
} grid;

static void add_grid(uint64_t height, uint64_t width, size_t most, grid *grids, size_t *count)
{
    if (*count < most && width <= PE_RESAMPLE_MAX)
        grids[(*count)++] = (grid){height, width};
}

/* List the grids of so many cells, the squarest first, and the line. */
static size_t list_grids(uint64_t cells, size_t most, grid *grids)
{
    size_t count = 0;
    uint64_t side = (uint64_t)sqrt((double)cells);
    for (uint64_t small = side < PE_RESAMPLE_MAX ? side : PE_RESAMPLE_MAX; small > 1; small--) {
        if (cells % small != 0)
            continue;
        add_grid(small, cells / small, most - 1, grids, &count);
        if (cells / small != small && cells / small <= PE_RESAMPLE_MAX)
            add_grid(cells / small, small, most - 1, grids, &count);
    }
    add_grid(1, cells, most, grids, &count);
    return count;
}

/* ---- one candidate ---- */

/* What is looked at. */
typedef struct search {
    const pe_observation *seen;
    pe_trained table; /* the stored one */
    uint64_t prefix;
    grid source, target;
    const struct option *option;
    double unit;    /* of the dtype of the table from elsewhere */
    size_t columns; /* in each block; the second one begins in the middle */
} search;

static uint64_t get_block(const search *self, size_t block)
{
    return block * (self->table.columns / 2);
}

/* Whether the columns of one target cell are near what the filter gives, but for a quarter. */
static bool cell_fits(const search *self, const pe_resample *y_axis, const pe_resample *x_axis,
                      grid cell)
{
    const pe_taps y = pe_resample_find_taps(y_axis, cell.height),
                  x = pe_resample_find_taps(x_axis, cell.width);
    dd y_weights[PE_RESAMPLE_TAPS], x_weights[PE_RESAMPLE_TAPS];
    const uint64_t row = self->prefix + cell.height * self->target.width + cell.width;
    double found[COLUMNS], part[COLUMNS];
    size_t far = 0;
    (void)pe_taps_weights(&y, y_weights);
    (void)pe_taps_weights(&x, x_weights);
    for (size_t block = 0; block < BLOCKS && 4 * far <= BLOCKS * self->columns; block++) {
        double sums[COLUMNS] = {0}, sizes[COLUMNS] = {0};
        pe_view one = pe_view_part(&self->seen->view, 0, row, 1);
        one = pe_view_part(&one, 1, get_block(self, block), self->columns);
        if (!pe_view_read(&one, 0, 1, found))
            return false;
        for (size_t i = 0; i < y.count * x.count; i++) {
            const size_t down = i / x.count, across = i % x.count;
            const double weight = y_weights[down].hi * x_weights[across].hi;
            uint64_t source = pe_resample_cell(y_axis, &y, down) * self->source.width +
                              pe_resample_cell(x_axis, &x, across);
            pe_trained_row(&self->table, self->prefix + source, get_block(self, block),
                           self->columns, part);
            for (size_t c = 0; c < self->columns; c++) {
                sums[c] += weight * part[c];
                sizes[c] += fabs(weight * part[c]);
            }
        }
        for (size_t c = 0; c < self->columns; c++)
            far += !(fabs(found[c] - sums[c]) <= (0x1p-10 + 2 * self->unit) * sizes[c]);
    }
    return 4 * far <= BLOCKS * self->columns;
}

/* The places of an axis that are looked at: both ends and the middle. */
static uint64_t find_place(size_t index, uint64_t cells)
{
    return index * (cells - 1) / (PLACES - 1);
}

/* Whether the cells at some places fit, but for a quarter of them. */
static bool grids_fit(const search *self)
{
    pe_resample y, x;
    size_t far = 0;
    if (!find_axis(self->option, self->source.height, self->target.height, &y) ||
        !find_axis(self->option, self->source.width, self->target.width, &x))
        return false;
    for (size_t i = 0; i < PLACES * PLACES && 4 * far <= PLACES * PLACES; i++) {
        /* the middle first: at the ends many filters give the same */
        size_t place = (i + PLACES * PLACES / 2) % (PLACES * PLACES);
        grid cell = {find_place(place / PLACES, self->target.height),
                     find_place(place % PLACES, self->target.width)};
        far += !cell_fits(self, &y, &x, cell);
    }
    return 4 * far <= PLACES * PLACES;
}

/* ---- all candidates ---- */

static void propose_interpolation(const search *self, pe_proposals *proposals)
{
    const grid *source = &self->source, *target = &self->target;
    char width[32] = "", prefix[48] = "", from[80] = "";
    if (target->width != target->height)
        snprintf(width, sizeof width, "&width=%llu", (number)target->width);
    if (self->prefix > 0)
        snprintf(prefix, sizeof prefix, "&prefix_tokens=%llu", (number)self->prefix);
    if (source->width != source->height) /* a stored table is square without */
        snprintf(from, sizeof from, "&source_height=%llu&source_width=%llu",
                 (number)source->height, (number)source->width);
    pe_propose_request(proposals, "encoding", "height=%llu%s&set=%s%s%s%s",
                       (number)target->height, width, self->seen->set_name, prefix, from,
                       self->option->text);
}

/* Whether pictures may have such proportions: height and width are scaled alike, more or less.
 */
static bool are_alike(const grid *source, const grid *target)
{
    double down = (double)target->height / (double)source->height;
    double across = (double)target->width / (double)source->width;
    return down <= STRETCHED * across && across <= STRETCHED * down;
}

/* Propose all filters for two grids. */
static void propose_filters(search *self, double largest, pe_proposals *proposals)
{
    const bool line = self->source.height == 1;
    if (line != (self->target.height == 1) ||
        (!line && !are_alike(&self->source, &self->target)))
        return;
    pe_stored_sums(proposals, largest, (double)(self->source.height + self->source.width));
    for (size_t i = 0; i < PE_COUNT(OPTIONS); i++) {
        self->option = &OPTIONS[i];
        proposals->discrete = OPTIONS[i].filter == PE_NEAREST;
        if (repeats_earlier(self->option, self->source.height, self->target.height) &&
            repeats_earlier(self->option, self->source.width, self->target.width))
            continue;
        if (grids_fit(self))
            propose_interpolation(self, proposals);
    }
}

static bool prefix_fits(const search *self)
{
    size_t far = 0;
    for (uint64_t row = 0; row < self->prefix; row++)
        far += row >= self->seen->sampled ||
               !pe_stored_is_row(&self->table, row,
                                 self->seen->sample + row * self->table.columns, self->unit);
    return 4 * far <= self->prefix;
}

static void propose_grids(search *self, double largest, pe_proposals *proposals)
{
    const uint64_t rows = self->table.stored_rows;
    grid sources[SOURCES_MAX], targets[TARGETS_MAX];
    if (self->prefix >= rows || self->prefix >= self->seen->rows || !prefix_fits(self))
        return;
    size_t from = list_grids(rows - self->prefix, SOURCES_MAX, sources);
    size_t to = list_grids(self->seen->rows - self->prefix, TARGETS_MAX, targets);
    for (size_t s = 0; s < from; s++)
        for (size_t t = 0; t < to; t++) {
            self->source = sources[s];
            self->target = targets[t];
            propose_filters(self, largest, proposals);
        }
}

void pe_recognise_resized(pe_observation *seen, pe_proposals *proposals)
{
    search self = {.seen = seen, .unit = pe_observation_unit(&seen->view)};
    if (seen->view.rank != 2 || seen->sampled == 0 ||
        !pe_stored_find(seen, "table", seen->columns, &self.table))
        return;
    self.columns = seen->columns < COLUMNS ? (size_t)seen->columns : COLUMNS;
    if (get_block(&self, 1) + self.columns > seen->columns)
        self.columns = (size_t)(seen->columns - get_block(&self, 1));
    const double largest = pe_stored_largest(&self.table);
    for (size_t i = 0; i < PE_COUNT(PREFIXES); i++) {
        self.prefix = PREFIXES[i];
        propose_grids(&self, largest, proposals);
    }
}
