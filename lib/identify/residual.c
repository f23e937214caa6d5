#include "identify/residual.h"

#include "identify/compared_lines.h"
#include "numerics/dtype.h"

#include <math.h>
#include <stdlib.h>

#define ENOUGH 32 /* entries that tell a mean square within a factor of ... */
#define UNLIKE 3
#define TIED   4.5  /* standard deviations of a correlation */
#define WEAK   0.01 /* at most, of the squares of the tensor */

/* A table on its way beside the tensor. */
typedef struct residual {
    const pe_view *view;
    pe_stream *stream;
    pe_dtype dtype;
    uint64_t lines, columns;
    double *left, *before; /* [columns]: of this line, and of the last one */
    double *exact;
    unsigned char *elements;
} residual;

static bool residual_begin(residual *self, pe_request *request, size_t tensor,
                           const pe_view *view, const pe_runner *runner)
{
    pe_error error;
    *self = (residual){.view = view,
                       .dtype = pe_request_tensor(request, tensor)->dtype,
                       .lines = pe_view_lines(view),
                       .columns = pe_view_columns(view)};
    const size_t columns = (size_t)self->columns;
    self->left = malloc(columns * sizeof *self->left);
    self->before = malloc(columns * sizeof *self->before);
    self->exact = malloc(columns * sizeof *self->exact);
    self->elements = malloc(columns * sizeof(double));
    return self->left && self->before && self->exact && self->elements &&
           pe_stream_new(request, tensor, PE_STREAM_FAST, runner, &self->stream, &error) ==
               PE_OK;
}

static void residual_end(residual *self)
{
    pe_stream_free(self->stream);
    free(self->left);
    free(self->before);
    free(self->exact);
    free(self->elements);
}

/* Take a line of the tensor from that of the table. The one that was left before is kept. */
static bool read_line(residual *self, uint64_t line)
{
    const size_t size = (size_t)self->columns * pe_dtype_size(self->dtype);
    double *before = self->left;
    self->left = self->before;
    self->before = before;
    if (!pe_view_read_line(self->view, line, self->left) ||
        !pe_stream_read_fully(self->stream, line * size, self->elements, size))
        return false;
    pe_read_row(self->exact, self->dtype, self->elements, (size_t)self->columns);
    for (uint64_t c = 0; c < self->columns; c++)
        self->left[c] -= self->exact[c];
    return true;
}

/* Sums of what is left of a line, a column or all, but for infinite entries. */
typedef struct squares {
    double sum, count;
    double exact; /* of the tensor's entries; of a column of their distances from the first */
    double first;
} squares;

/* Whether enough entries have a mean square far from that of the whole. */
static bool is_unlike(squares own, double whole)
{
    const double mean = own.sum / own.count;
    return own.count >= ENOUGH && (mean > UNLIKE * whole || mean < whole / UNLIKE);
}

/* Add a product to the sum of them, and of their squares, which of noise is about as large. */
static void note_tie(double tie[2], double product)
{
    tie[0] += isfinite(product) ? product : 0;
    tie[1] += isfinite(product) ? product * product : 0;
}

#define TIES 3

/* Whether a sum of products is further from 0 than those of noise are. */
static bool are_tied(double ties[TIES][2], double most)
{
    bool tied = false;
    for (size_t i = 0; i < TIES; i++)
        tied = tied || fabs(ties[i][0]) > most * sqrt(ties[i][1]);
    return tied;
}

/* Note the distance of an entry of the tensor from the first one of its column. */
static void note_distance(squares *column, double exact)
{
    column->first = column->count > 0 ? column->first : exact;
    column->exact += (exact - column->first) * (exact - column->first);
    column->count++;
}

bool pe_residual_is_noise(pe_request *request, size_t tensor, const pe_view *view, bool shown,
                          const pe_runner *runner, double *ret_size)
{
    residual self;
    squares all = {0, 0, 0, 0};
    squares *rows = calloc((size_t)pe_view_lines(view), sizeof *rows);
    squares *columns = calloc((size_t)pe_view_columns(view), sizeof *columns);
    uint64_t hidden = 0;          /* columns that noise hides, which may be another law's */
    double ties[TIES][2] = {{0}}; /* with the line before, a constant, the tensor */
    bool good = residual_begin(&self, request, tensor, view, runner) && rows && columns;
    for (uint64_t line = 0; good && line < self.lines; line++) {
        good = read_line(&self, line);
        for (uint64_t c = 0; good && c < self.columns; c++) {
            const double left = self.left[c];
            if (!isfinite(left))
                continue;
            rows[line].sum += left * left;
            columns[c].sum += left * left;
            rows[line].count++;
            all.exact += self.exact[c] * self.exact[c];
            note_distance(&columns[c], self.exact[c]);
            note_tie(ties[0], line > 0 ? left * self.before[c] : 0);
            note_tie(ties[1], left);
            note_tie(ties[2], left * self.exact[c]);
        }
        all.sum += rows[line].sum;
        all.count += rows[line].count;
        good = good && !are_tied(ties, 2 * TIED); /* to be sure */
    }
    const double whole = all.sum / all.count;
    good = good && whole > 0 && all.sum <= WEAK * all.exact;
    good = good && !are_tied(ties, TIED);
    for (uint64_t c = 0; good && c < self.columns; c++) {
        good = !is_unlike(columns[c], whole);
        hidden += columns[c].exact < columns[c].sum;
    }
    good = good && (shown || view->rank < 2 || 2 * hidden <= self.columns);
    for (uint64_t line = 0; good && line < self.lines; line++)
        good = !is_unlike(rows[line], whole);
    residual_end(&self);
    free(rows);
    free(columns);
    *ret_size = sqrt(whole);
    return good;
}

bool pe_residual_measure_change(pe_request *request, pe_request *changed, size_t tensor,
                                const pe_view *view, uint64_t lines, const pe_runner *runner,
                                double *ret_part, double *ret_error)
{
    residual self, other;
    double left = 0, both = 0, change = 0, count = 0;
    bool good = residual_begin(&self, request, tensor, view, runner);
    good = residual_begin(&other, changed, tensor, view, runner) && good;
    for (uint64_t line = 0; good && line < self.lines; line += 1 + self.lines / lines) {
        good = read_line(&self, line) && read_line(&other, line);
        for (uint64_t c = 0; good && c < self.columns; c++) {
            const double own = self.left[c], step = other.exact[c] - self.exact[c];
            if (!isfinite(own) || !isfinite(step))
                continue;
            left += own * own;
            both += own * step;
            change += step * step;
            count++;
        }
    }
    residual_end(&self);
    residual_end(&other);
    *ret_part = both / change;
    *ret_error = sqrt((left - both * *ret_part) / (count * change));
    return good && change > 0;
}

uint64_t pe_residual_first_far(pe_request *request, size_t tensor, const pe_view *view,
                               const pe_comparison *compared, double far,
                               const pe_runner *runner)
{
    residual self;
    size_t block = 0;
    while (block < compared->block_count && !(compared->blocks[block].max_abs > far))
        block++;
    if (block == compared->block_count)
        return 0;
    bool good = residual_begin(&self, request, tensor, view, runner), is_far = false;
    uint64_t line = compared->blocks[block].first;
    for (; good && !is_far && line < self.lines; line += !is_far) {
        good = read_line(&self, line);
        for (uint64_t c = 0; good && c < self.columns; c++)
            is_far = is_far || fabs(self.left[c]) > far;
    }
    residual_end(&self);
    return is_far ? line : 0;
}
