/* Whether a table is that of a request: some lines of it first, and then all entries. */
#include "identify/compared_lines.h"
#include "numerics/dtype.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The exact side of a changed table: entries times a factor, rounded to a format. */
typedef struct changed_side {
    pe_stream *stream; /* of f64 */
    pe_stream *losses;
    pe_dtype dtype, format;
    double factor;
    bool lossy; /* reads losses */
} changed_side;

/* A pe_exact_side's `read`. */
static size_t read_changed(void *context, uint64_t offset, void *dst, size_t bytes)
{
    const changed_side *self = context;
    const size_t size = self->lossy ? sizeof(double) : pe_dtype_size(self->dtype);
    double values[512];
    size_t count = bytes / size < PE_COUNT(values) ? bytes / size : PE_COUNT(values);
    if (!pe_stream_read_fully(self->lossy ? self->losses : self->stream,
                              offset / size * sizeof(double), values, count * sizeof(double)))
        return 0;
    for (size_t i = 0; i < count; i++)
        values[i] = self->lossy ? fabs(self->factor) * values[i]
                                : pe_round_number(pe_entry_times(values[i], self->factor),
                                                  self->format);
    if (self->lossy)
        memcpy(dst, values, count * sizeof(double));
    else
        pe_round_row(self->dtype, values, count, dst);
    return count * size;
}

/* Compare all entries with the request's, changed. */
static bool compare_changed(pe_compared_lines *self, pe_trial *trial, const pe_view *view,
                            double factor, pe_comparison *ret_comparison)
{
    const pe_tensor *tensor = pe_request_tensor(self->request, self->tensor);
    changed_side exact = {.losses = self->losses,
                          .dtype = trial->dtype,
                          .format = trial->format,
                          .factor = factor};
    changed_side lost = exact;
    lost.lossy = true;
    pe_exact_side side = {.context = &exact,
                          .losses = self->losses ? &lost : NULL,
                          .read = read_changed,
                          .name = tensor->name,
                          .dtype = trial->dtype,
                          .rank = tensor->rank,
                          .request = self->request};
    pe_request *wide;
    pe_error error;
    memcpy(side.shape, tensor->shape, tensor->rank * sizeof *tensor->shape);
    bool good = pe_request_with_dtype(self->request, PE_F64, &wide, &error) == PE_OK;
    if (!good)
        return false;
    good = pe_stream_new(wide, self->tensor, PE_STREAM_FAST, &trial->runner.own, &exact.stream,
                         &error) == PE_OK &&
           pe_compare_sides(&side, view, trial->tolerance, &trial->runner.own, ret_comparison,
                            &error) == PE_OK;
    pe_stream_free(exact.stream);
    pe_request_unref(wide);
    return good;
}

/* Compare all entries. */
static bool all_fit(pe_compared_lines *self, pe_trial *trial, const pe_view *view,
                    double factor)
{
    pe_comparison *comparison = malloc(sizeof *comparison);
    pe_error error;
    bool good = comparison != NULL;
    if (!good)
        pe_error_add(trial->reterr, PE_NO_MEMORY, "", "", "memory for the explanation");
    else if (factor == 1 && trial->format == trial->dtype)
        good = pe_compare_table(self->request, self->tensor, view, trial->tolerance,
                                &trial->runner.own, comparison, &error) == PE_OK;
    else
        good = compare_changed(self, trial, view, factor, comparison);
    good = good && comparison->outside == 0;
    if (good) {
        trial->vague = pe_comparison_is_vague(comparison);
        trial->found->entries = comparison->entries;
        trial->found->differing = comparison->differing;
        trial->found->max_abs = comparison->absolute.error;
    }
    free(comparison);
    return good;
}

/* Note how far some lines are off, the more of them the nearer to the first one, where angles
 * are small and requests that differ little are near each other. */
static void measure_lines(pe_compared_lines *self, pe_trial *trial, const pe_view *view,
                          double factor)
{
    const uint64_t count = pe_view_lines(view);
    trial->far = 0;
    for (uint64_t i = 0; i < PE_TRIAL_LINES; i++) {
        const uint64_t line = (count - 1) >> (PE_TRIAL_LINES - 1 - i);
        if (!pe_compared_lines_read(self, trial, view, line, line))
            trial->far = INFINITY;
        for (uint64_t c = 0; trial->far < INFINITY && c < self->columns; c++) {
            const double error = self->found[c] - factor * self->exact[c];
            trial->far += isfinite(error) ? error * error : 0;
        }
    }
}

static bool table_fits(pe_trial *trial, const char *query, const char *tensor,
                       const pe_view *view, double factor)
{
    pe_compared_lines self = {.request = NULL};
    const uint64_t count = pe_view_lines(view);
    bool good = pe_compared_lines_open(&self, trial, query, tensor, view);
    trial->far = INFINITY;
    if (good && trial->measures)
        measure_lines(&self, trial, view, factor);
    /* the last lines first: where positions are large, requests differ most */
    for (uint64_t i = 0; good && i < PE_TRIAL_LINES; i++) {
        const uint64_t line = (count - 1) - i * (count - 1) / (PE_TRIAL_LINES - 1);
        good = pe_compared_lines_fit(&self, trial, view, line, line, factor);
    }
    good = good && pe_trial_spend(trial, pe_request_price(self.request)) &&
           all_fit(&self, trial, view, factor);
    pe_compared_lines_close(&self);
    return good;
}

static bool measure_table_factor(pe_trial *trial, double *ret_factor)
{
    pe_compared_lines self = {.request = NULL};
    const uint64_t count = pe_view_lines(&trial->view);
    double products = 0, squares = 0;
    bool good = pe_compared_lines_open(&self, trial, trial->query, trial->tensor, &trial->view);
    for (uint64_t i = 0; good && i < 3; i++) {
        good = pe_compared_lines_read(&self, trial, &trial->view, i * (count - 1) / 2,
                                      i * (count - 1) / 2);
        for (uint64_t c = 0; good && c < self.columns; c++)
            if (isfinite(self.exact[c]) && isfinite(self.found[c])) {
                products += self.found[c] * self.exact[c];
                squares += self.exact[c] * self.exact[c];
            }
    }
    pe_compared_lines_close(&self);
    *ret_factor = products / squares;
    return good && squares > 0 && products != 0 && isfinite(*ret_factor);
}

const pe_trial_subject pe_table_subject = {.name = "table",
                                           .fits = table_fits,
                                           .measure_factor = measure_table_factor,
                                           .is_table = true};
