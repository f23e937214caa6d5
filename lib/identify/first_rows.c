#include "identify/first_rows.h"

#include "numerics/hash.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define ENTRIES_MAX ((uint64_t)1 << 20) /* that are held, at least one row */
#define LEAST_SIDE  4                   /* of what has diagonals */
#define STEPS       64                  /* a line, on the way to its place */

/* ---- reading ---- */

static uint64_t find_stride(const pe_first_rows *self, size_t axis)
{
    uint64_t stride = 1;
    for (size_t i = axis + 1; i < self->view.rank; i++)
        stride *= self->view.shape[i];
    return stride;
}

/* Read lines along the last axis of a view, each matrix of them at once. */
static bool read_lines(const pe_view *view, uint64_t first, uint64_t rows, double *dst)
{
    const uint64_t columns = view->shape[view->rank - 1];
    const uint64_t height = view->rank > 1 ? view->shape[view->rank - 2] : 1;
    for (uint64_t row = first, now; row < first + rows; row += now, dst += now * columns) {
        pe_view matrix = *view;
        uint64_t inner = pe_view_elements(view) / columns, rest = row;
        while (matrix.rank > 2) {
            inner /= matrix.shape[0];
            matrix = pe_view_at(&matrix, 0, rest / inner);
            rest %= inner;
        }
        now = height - rest < first + rows - row ? height - rest : first + rows - row;
        if (matrix.rank > 1 ? !pe_view_read(&matrix, rest, now, dst)
                            : !pe_view_read(&matrix, 0, columns, dst))
            return false;
    }
    return true;
}

/* Read rows, which are several lines of the parts of complex numbers. */
static bool read_rows(const pe_first_rows *self, uint64_t first, uint64_t rows, double *dst)
{
    const uint64_t lines = self->columns / self->lines.shape[self->lines.rank - 1];
    return read_lines(&self->lines, first * lines, rows * lines, dst);
}

/* Go on through the table while all of its entries are the same. */
static bool read_constant(pe_first_rows *self)
{
    const uint64_t most = self->rows;
    const double value = self->entries[0];
    for (uint64_t row = most, now; row < self->total; row += now) {
        now = most < self->total - row ? most : self->total - row;
        if (!read_rows(self, row, now, self->entries))
            return false;
        for (uint64_t i = 0; i < now * self->columns; i++)
            if (self->entries[i] != value)
                return read_rows(self, 0, most, self->entries);
    }
    self->rows = self->total;
    return true;
}

static void measure_entries(pe_first_rows *self)
{
    const uint64_t count = self->rows * self->columns;
    double sum = 0, squares = 0;
    self->integers = self->constant = true;
    for (uint64_t i = 0; i < count; i++) {
        const double entry = self->entries[i] + 0.0; /* -0 becomes 0 */
        self->entries[i] = entry;
        self->not_finite += isfinite(entry) ? 0 : 1;
        self->integers = self->integers && rint(entry) == entry;
        self->constant = self->constant && entry == self->entries[0];
        sum += entry;
    }
    self->mean = sum / (double)count;
    if (!pe_search_may_continue(self->runner))
        return;
    for (uint64_t i = 0; i < count; i++)
        squares += (self->entries[i] - self->mean) * (self->entries[i] - self->mean);
    self->deviation = sqrt(squares / (double)count);
}

bool pe_first_rows_read(pe_first_rows *self, const pe_view *view, pe_search_runner *runner,
                        bool one)
{
    const pe_view lines = pe_view_squeezed(view);
    const uint64_t elements = pe_view_elements(&lines);
    *self = (pe_first_rows){.view = lines, .lines = lines, .runner = runner};
    if (view->is_complex && lines.rank > 1) /* the two parts are columns */
        self->view.shape[--self->view.rank - 1] *= lines.shape[lines.rank - 1];
    const size_t rank = self->view.rank;
    self->columns = rank > 0 ? self->view.shape[rank - 1] : 1;
    self->total = elements / self->columns;
    if (rank < 1 || self->columns > ENTRIES_MAX)
        return false;
    const uint64_t most = one ? 1 : ENTRIES_MAX / self->columns;
    self->rows = self->total < most ? self->total : most;
    self->entries = malloc((size_t)(self->rows * self->columns) * sizeof *self->entries);
    if (!self->entries || !read_rows(self, 0, self->rows, self->entries) ||
        !pe_search_may_continue(runner))
        return false;
    measure_entries(self);
    return one || !self->constant || read_constant(self);
}

void pe_first_rows_done(pe_first_rows *self)
{
    free(self->entries);
}

/* ---- what repeats ---- */

/* Count them by a hash table of those that were found. */
static uint64_t count_different(const double *entries, uint64_t count, uint64_t length)
{
    const size_t bytes = (size_t)length * sizeof *entries;
    uint64_t slots = 2, different = 0, steps = STEPS * count;
    while (slots < 2 * count)
        slots *= 2;
    const double **found = calloc((size_t)slots, sizeof *found);
    for (uint64_t i = 0; found && i < count; i++) {
        const double *line = entries + i * length;
        uint64_t slot = pe_hash_bytes((const char *)line, bytes) & (slots - 1);
        for (; found[slot] && memcmp(found[slot], line, bytes) != 0; steps--) {
            slot = (slot + 1) & (slots - 1);
            if (steps == 0) { /* of lines that were chosen to collide */
                free(found);
                return 0;
            }
        }
        different += !found[slot];
        found[slot] = line;
    }
    free(found);
    return different;
}

uint64_t pe_count_different_rows(const pe_first_rows *self)
{
    return count_different(self->entries, self->rows, self->columns);
}

uint64_t pe_count_different_columns(const pe_first_rows *self)
{
    const uint64_t rows = self->rows, columns = self->columns;
    double *turned = malloc((size_t)(rows * columns) * sizeof *turned);
    for (uint64_t row = 0; turned && row < rows; row++)
        for (uint64_t c = 0; c < columns; c++)
            turned[c * rows + row] = self->entries[row * columns + c];
    const uint64_t different = turned ? count_different(turned, columns, rows) : 0;
    free(turned);
    return different;
}

/* ---- what is alike ---- */

bool pe_has_diagonals(const pe_first_rows *self, size_t axis)
{
    const uint64_t stride = find_stride(self, axis), next = find_stride(self, axis + 1);
    const uint64_t *shape = self->view.shape, count = self->rows * self->columns;
    bool changes = false;
    if (shape[axis] < LEAST_SIDE || shape[axis + 1] < LEAST_SIDE || count < 4 * stride)
        return false;
    for (uint64_t i = stride; i < count; i++) {
        const uint64_t above = i / stride % shape[axis];
        if (above == 0)
            continue;
        const double entry = self->entries[i];
        changes = changes || entry != self->entries[i - stride];
        if (i / next % shape[axis + 1] > 0 && entry != self->entries[i - stride - next])
            return false;
    }
    return changes;
}

double pe_correlate_rows(const pe_first_rows *self)
{
    const uint64_t columns = self->columns;
    double squares = 0, others = 0, products = 0;
    for (uint64_t c = 0; c < columns; c++) {
        double mean = 0;
        for (uint64_t row = 0; row < self->rows; row++)
            mean += self->entries[row * columns + c] / (double)self->rows;
        for (uint64_t row = 1; row < self->rows; row++) {
            const double one = self->entries[row * columns + c] - mean;
            const double before = self->entries[(row - 1) * columns + c] - mean;
            squares += one * one;
            others += before * before;
            products += one * before;
        }
    }
    const double least = 1e-24 * (double)(self->rows * columns) *
                         (self->mean * self->mean + self->deviation * self->deviation);
    /* below that they are what the means were rounded by */
    return squares > least && others > least ? products / sqrt(squares * others) : 0;
}
