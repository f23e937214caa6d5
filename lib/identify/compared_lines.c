#include "identify/compared_lines.h"

#include "foreign/tolerance.h"
#include "numerics/dtype.h"

#include <math.h>
#include <stdlib.h>

uint64_t pe_view_columns(const pe_view *view)
{
    return view->rank > 0 ? view->shape[view->rank - 1] : 1;
}

uint64_t pe_view_lines(const pe_view *view)
{
    return pe_view_elements(view) / pe_view_columns(view);
}

bool pe_view_read_line(const pe_view *view, uint64_t line, double *dst)
{
    pe_view part = *view;
    uint64_t lines = pe_view_lines(view);
    while (part.rank > 1) {
        lines /= part.shape[0];
        part = pe_view_at(&part, 0, line / lines);
        line %= lines;
    }
    return pe_view_read(&part, 0, part.rank > 0 ? part.shape[0] : 1, dst);
}

bool pe_compared_lines_open(pe_compared_lines *self, pe_trial *trial, const char *query,
                            const char *tensor, const pe_view *view)
{
    const pe_view squeezed = pe_view_squeezed(view);
    const double lines = (double)pe_view_lines(view);
    pe_error error;
    self->request = pe_trial_make_request(trial, query, trial->dtype);
    const int index =
        self->request ? pe_find_query_tensor(self->request, tensor, &squeezed) : -1;
    if (index < 0 || !pe_search_may_continue(&trial->runner) ||
        !pe_trial_spend(trial, (pe_request_price(self->request) -
                                pe_request_preparation_price(self->request)) *
                                   fmin(1, PE_TRIAL_LINES / lines)))
        return false;
    trial->found->tried++;
    self->tensor = (size_t)index;
    self->columns = pe_view_columns(view);
    const size_t columns = (size_t)self->columns;
    self->found = malloc(columns * sizeof *self->found);
    self->exact = malloc(columns * sizeof *self->exact);
    self->lost = calloc(columns, sizeof *self->lost);
    self->elements = malloc(columns * sizeof(double));
    if (!self->found || !self->exact || !self->lost || !self->elements) {
        pe_error_add(trial->reterr, PE_NO_MEMORY, "", "", "memory for the explanation");
        return false;
    }
    return pe_stream_new(self->request, self->tensor, columns * pe_dtype_size(trial->dtype),
                         &trial->runner.own, &self->stream, &error) == PE_OK;
}

void pe_compared_lines_close(pe_compared_lines *self)
{
    pe_stream_free(self->stream);
    pe_stream_free(self->losses);
    pe_request_unref(self->request);
    pe_request_unref(self->lossy);
    free(self->found);
    free(self->exact);
    free(self->lost);
    free(self->elements);
}

static bool read_losses(pe_compared_lines *self, const pe_trial *trial, uint64_t line)
{
    const size_t bytes = (size_t)self->columns * sizeof(double);
    pe_error error;
    if (!trial->tolerance.bounded || trial->scheme->errors != PE_ERRORS_OF_ANGLES ||
        trial->dtype == PE_I32)
        return true;
    if (!self->losses &&
        (pe_request_with_dtype(self->request, PE_LOSS, &self->lossy, &error) != PE_OK ||
         pe_stream_new(self->lossy, self->tensor, bytes, &trial->runner.own, &self->losses,
                       &error) != PE_OK))
        return false;
    return pe_stream_read_fully(self->losses, line * bytes, self->lost, bytes);
}

/* Whether two lines are near at all: for turning most down before anything else. */
static bool fits_factor(const pe_compared_lines *self, double factor)
{
    double most = 0, far = 0;
    for (uint64_t c = 0; c < self->columns; c++)
        if (isfinite(self->exact[c])) {
            most = fmax(most, fabs(factor * self->exact[c]));
            far = fmax(far, isnan(self->found[c])
                                ? INFINITY
                                : fabs(self->found[c] - factor * self->exact[c]));
        }
    return far <= 0.25 * most + 1e-30;
}

bool pe_compared_lines_read(pe_compared_lines *self, const pe_trial *trial, const pe_view *view,
                            uint64_t line, uint64_t exact_line)
{
    const size_t columns = (size_t)self->columns, size = pe_dtype_size(trial->dtype);
    if (!pe_view_read_line(view, line, self->found) ||
        !pe_stream_read_fully(self->stream, exact_line * columns * size, self->elements,
                              columns * size))
        return false;
    pe_read_row(self->exact, trial->dtype, self->elements, columns);
    return true;
}

bool pe_compared_lines_fit(pe_compared_lines *self, const pe_trial *trial, const pe_view *view,
                           uint64_t line, uint64_t exact_line, double factor)
{
    const size_t columns = (size_t)self->columns;
    const pe_entry_bound bound = pe_bound_entries(trial->tolerance.arithmetic);
    pe_tolerance tolerance = trial->tolerance;
    if (factor != 1) { /* of an element, which has been rounded */
        tolerance.relative = fmax(tolerance.relative, 2 * pe_dtypes[trial->dtype].unit);
        tolerance.absolute += 2 * fabs(factor) * pe_dtype_ulp(trial->dtype, 0);
    }
    if (!pe_compared_lines_read(self, trial, view, line, exact_line))
        return false;
    if (trial->tolerance.any_mask)
        pe_mask_entries(self->found, self->exact, columns, columns);
    if (!fits_factor(self, factor) || !read_losses(self, trial, exact_line))
        return false;
    for (size_t c = 0; c < columns; c++) {
        const double found = self->found[c], exact = pe_entry_times(self->exact[c], factor);
        const double error = fabs(found - exact);
        if (found == exact || (isnan(found) && isnan(exact)))
            continue;
        self->differing++;
        self->max_abs = fmax(self->max_abs, error);
        if (pe_is_outside(&tolerance, trial->format, error,
                          error / pe_dtype_ulp(trial->format, exact), found, exact,
                          pe_bound_entry(&bound, exact, fabs(factor) * self->lost[c])))
            return false;
    }
    return true;
}
