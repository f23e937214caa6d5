#include "identify/trial.h"

#include "foreign/tolerance.h"
#include "identify/judge.h"
#include "numerics/dtype.h"
#include "requests/request.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- lines ---- */

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

/* ---- requests ---- */

#define REQUEST_PRICE 0x1p17 /* of making a request and a stream, and reading some lines */

bool pe_trial_spend(pe_trial *trial, double price)
{
    const bool enough = price <= trial->left;
    trial->left -= enough ? price : 0;
    return enough;
}

pe_request *pe_trial_request(pe_trial *trial, const char *query, pe_dtype dtype)
{
    const pe_dtype real = dtype == PE_I32 ? PE_F32 : dtype;
    pe_request *request =
        pe_query_request(trial->scheme, query, pe_dtype_name(real), trial->limits);
    if (request &&
        !pe_trial_spend(trial, REQUEST_PRICE + pe_request_preparation_price(request))) {
        pe_request_unref(request);
        return NULL;
    }
    return request;
}

bool pe_trial_value(pe_trial *trial, const char *name, pe_value *ret_value,
                    char ret_text[PE_PRINT_MAX])
{
    const size_t index = pe_parameter_index(&trial->scheme->info, name);
    const pe_dtype real = trial->dtype == PE_I32 ? PE_F32 : trial->dtype;
    pe_request *request =
        pe_query_request(trial->scheme, trial->query, pe_dtype_name(real), trial->limits);
    bool has = request && index < trial->scheme->info.parameter_count;
    if (has) {
        const pe_parameter *row = pe_parameter_at(&trial->scheme->info, index);
        char text[PE_PRINT_MAX];
        *ret_value = *pe_request_value(request, index);
        has = ret_value->present && row->type != PE_STORED && row->type != PE_REAL_LIST &&
              row->type != PE_INTEGER_LIST;
        if (has)
            snprintf(ret_text, PE_PRINT_MAX, "%s", pe_value_text(row, ret_value, text));
    }
    pe_request_unref(request);
    return has;
}

/* ---- some lines ---- */

/* The tensor of a request, its losses if they are needed, and lines of both. */
typedef struct lines {
    pe_request *request, *lossy;
    size_t tensor;
    pe_stream *stream, *losses;
    uint64_t columns;
    double *found, *exact, *lost;
    unsigned char *elements;
} lines;

static bool begin_lines(lines *self, pe_trial *trial, const char *query, const char *tensor,
                        const pe_view *view)
{
    const pe_view squeezed = pe_view_squeezed(view);
    pe_error error;
    self->request = pe_trial_request(trial, query, trial->dtype);
    const int index = self->request ? pe_query_tensor(self->request, tensor, &squeezed) : -1;
    if (index < 0 || !pe_watch_may_continue(&trial->watch))
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
                         &trial->watch.runner, &self->stream, &error) == PE_OK;
}

static void end_lines(lines *self)
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

static bool read_losses(lines *self, const pe_trial *trial, uint64_t line)
{
    const size_t bytes = (size_t)self->columns * sizeof(double);
    pe_error error;
    if (!trial->tolerance.bounded || trial->scheme->errors != PE_ERRORS_OF_ANGLES ||
        trial->dtype == PE_I32)
        return true;
    if (!self->losses &&
        (pe_request_with_dtype(self->request, PE_LOSS, &self->lossy, &error) != PE_OK ||
         pe_stream_new(self->lossy, self->tensor, bytes, &trial->watch.runner, &self->losses,
                       &error) != PE_OK))
        return false;
    return pe_judge_read(self->losses, line * bytes, self->lost, bytes);
}

/* Whether two lines are near at all: for turning most down before anything else. */
static bool is_near(const lines *self, double factor)
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

/* Read a line of both. */
static bool read_line(lines *self, const pe_trial *trial, const pe_view *view, uint64_t line)
{
    const size_t columns = (size_t)self->columns, size = pe_dtype_size(trial->dtype);
    if (!pe_view_read_line(view, line, self->found) ||
        !pe_judge_read(self->stream, line * columns * size, self->elements, columns * size))
        return false;
    pe_read_row(self->exact, trial->dtype, self->elements, columns);
    return true;
}

/* Whether a line is within the tolerance, which a format of the values widens. */
static bool line_fits(lines *self, const pe_trial *trial, const pe_view *view, uint64_t line,
                      double factor)
{
    const size_t columns = (size_t)self->columns;
    if (!read_line(self, trial, view, line))
        return false;
    if (trial->tolerance.any_mask)
        pe_mask_entries(self->found, self->exact, columns, columns);
    if (!is_near(self, factor) || !read_losses(self, trial, line))
        return false;
    for (size_t c = 0; c < columns; c++) {
        const double found = self->found[c], exact = factor * self->exact[c];
        const double error = fabs(found - exact);
        if (found == exact || (isnan(found) && isnan(exact)))
            continue;
        if (pe_is_outside(&trial->tolerance, trial->format, error,
                          error / pe_dtype_ulp(trial->format, exact), found, exact,
                          fabs(factor) * self->lost[c]))
            return false;
    }
    return true;
}

/* ---- all of them ---- */

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
    if (!pe_judge_read(self->lossy ? self->losses : self->stream,
                       offset / size * sizeof(double), values, count * sizeof(double)))
        return 0;
    for (size_t i = 0; i < count; i++)
        values[i] = self->lossy ? fabs(self->factor) * values[i]
                                : pe_round_number(self->factor * values[i], self->format);
    if (self->lossy)
        memcpy(dst, values, count * sizeof(double));
    else
        pe_round_row(self->dtype, values, count, dst);
    return count * size;
}

/* Compare all entries with the request's, changed. */
static bool compare_changed(lines *self, pe_trial *trial, const pe_view *view, double factor,
                            pe_comparison *ret_comparison)
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
    pe_tolerance tolerance = trial->tolerance;
    pe_request *wide;
    pe_error error;
    if (trial->format != trial->dtype) /* both are rounded */
        tolerance.relative = fmax(tolerance.relative, 2 * pe_dtypes[trial->format].unit);
    memcpy(side.shape, tensor->shape, tensor->rank * sizeof *tensor->shape);
    bool good = pe_request_with_dtype(self->request, PE_F64, &wide, &error) == PE_OK;
    if (!good)
        return false;
    good = pe_stream_new(wide, self->tensor, PE_STREAM_FAST, &trial->watch.runner,
                         &exact.stream, &error) == PE_OK &&
           pe_compare_sides(&side, view, tolerance, &trial->watch.runner, ret_comparison,
                            &error) == PE_OK;
    pe_stream_free(exact.stream);
    pe_request_unref(wide);
    return good;
}

/* Compare all entries. */
static bool all_fit(lines *self, pe_trial *trial, const pe_view *view, double factor)
{
    pe_comparison *comparison = malloc(sizeof *comparison);
    pe_error error;
    bool good = comparison != NULL;
    if (!good)
        pe_error_add(trial->reterr, PE_NO_MEMORY, "", "", "memory for the explanation");
    else if (factor == 1 && trial->format == trial->dtype)
        good = pe_compare(self->request, self->tensor, view, trial->tolerance,
                          &trial->watch.runner, comparison, &error) == PE_OK;
    else
        good = compare_changed(self, trial, view, factor, comparison);
    good = good && comparison->outside == 0;
    if (good) {
        trial->found->entries = comparison->entries;
        trial->found->differing = comparison->differing;
        trial->found->max_abs = comparison->absolute.error;
    }
    free(comparison);
    return good;
}

bool pe_trial_fits(pe_trial *trial, const char *query, const char *tensor, const pe_view *view,
                   double factor)
{
    lines self = {.request = NULL};
    const uint64_t count = pe_view_lines(view);
    bool good = begin_lines(&self, trial, query, tensor, view);
    /* the last lines first: where positions are large, requests differ most */
    for (uint64_t i = 0; good && i < PE_TRIAL_LINES; i++)
        good = line_fits(&self, trial, view,
                         (count - 1) - i * (count - 1) / (PE_TRIAL_LINES - 1), factor);
    good = good && pe_trial_spend(trial, pe_request_price(self.request)) &&
           all_fit(&self, trial, view, factor);
    end_lines(&self);
    if (good) {
        pe_explanation *found = trial->found;
        found->found = true;
        found->factor = factor;
        snprintf(found->query, sizeof found->query, "%s", query);
        snprintf(found->tensor, sizeof found->tensor, "%s", tensor);
    }
    return good;
}

bool pe_trial_ratio(pe_trial *trial, double *ret_factor)
{
    lines self = {.request = NULL};
    const uint64_t count = pe_view_lines(&trial->view);
    double products = 0, squares = 0;
    bool good = begin_lines(&self, trial, trial->query, trial->tensor, &trial->view);
    for (uint64_t i = 0; good && i < 3; i++) {
        good = read_line(&self, trial, &trial->view, i * (count - 1) / 2);
        for (uint64_t c = 0; good && c < self.columns; c++)
            if (isfinite(self.exact[c]) && isfinite(self.found[c])) {
                products += self.found[c] * self.exact[c];
                squares += self.exact[c] * self.exact[c];
            }
    }
    end_lines(&self);
    *ret_factor = products / squares;
    return good && squares > 0 && products != 0 && isfinite(*ret_factor);
}

bool pe_trial_change(pe_trial *trial, const char *const *changes)
{
    char query[PE_IDENTITY_QUERY_MAX], before[PE_IDENTITY_QUERY_MAX];
    pe_explanation *found = trial->found;
    snprintf(query, sizeof query, "%s", trial->query);
    found->change_count = 0;
    for (; changes[0]; changes += 2) {
        memcpy(before, query, sizeof before);
        pe_query_change(before, changes[0], changes[1][0] ? changes[1] : NULL, query);
        if (strcmp(before, query) == 0 || found->change_count == PE_CHANGES_MAX)
            continue;
        pe_change *change = &found->changes[found->change_count++];
        snprintf(change->name, sizeof change->name, "%s", changes[0]);
        snprintf(change->value, sizeof change->value, "%s", changes[1]);
    }
    if (pe_trial_fits(trial, query, trial->tensor, &trial->view, 1))
        return true;
    found->change_count = 0;
    return false;
}

bool pe_trial_say(pe_trial *trial, const char *kind, const char *sentence, ...)
{
    va_list list;
    trial->found->kind = kind;
    va_start(list, sentence);
    vsnprintf(trial->found->sentence, sizeof trial->found->sentence, sentence, list);
    va_end(list);
    return true;
}
