/* Explaining by rows that are shifted: a row in the middle is looked for among those before and
 * behind. */
#include "identify/compared_lines.h"
#include "identify/mistakes.h"
#include "requests/request.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SHIFT_MAX    8192                /* rows */
#define WIDE_ENTRIES ((uint64_t)1 << 21) /* that are looked at besides those of the table */
#define BLOCK_BYTES  ((size_t)1 << 16)
#define NEAR         0.02 /* of the largest entry: rows that are looked at closely */
#define PLACES_TRIED 4

/* The row that is looked for, and blocks of rows. */
typedef struct row_search {
    uint64_t columns, rows; /* of the wide table */
    uint64_t middle;        /* the row of the table, whose place is `shift_max` farther here */
    uint64_t shift_max;
    double *row, *exact;
    unsigned char *elements;
    double most;
    pe_dtype dtype;
    pe_stream *stream;
} row_search;

static bool is_row(const row_search *self, const double *exact)
{
    for (uint64_t c = 0; c < self->columns; c++)
        if (!(fabs(exact[c] - self->row[c]) <= NEAR * self->most))
            return false;
    return true;
}

/* Name what was found. */
static bool say_shift(pe_trial *trial, int64_t shift, const char *offset)
{
    const long long rows = llabs((long long)shift);
    return pe_trial_say(
        trial, "shift",
        "Shifted by %lld row%s: row r of the table is row r %c %lld of the exact "
        "one, offset=%s.",
        rows, rows == 1 ? "" : "s", shift > 0 ? '+' : '-', rows, offset);
}

/* Try a shift of the positions. */
static bool try_shift(pe_trial *trial, int64_t shift, double step, double offset)
{
    char text[PE_PRINT_MAX];
    const char *const changes[] = {"offset", text, NULL};
    pe_print_number(text, offset + (double)shift * step);
    return shift != 0 && pe_trial_fits_changed(trial, changes) && say_shift(trial, shift, text);
}

/* Look for the row in all rows of the wide table. */
static bool search_rows(row_search *self, pe_trial *trial, double step, double offset)
{
    const size_t size = pe_dtype_size(self->dtype), bytes = (size_t)self->columns * size;
    const uint64_t at_once = bytes < BLOCK_BYTES ? BLOCK_BYTES / bytes : 1;
    size_t tried = 0;
    for (uint64_t row = 0, rows; row < self->rows; row += rows) {
        rows = self->rows - row < at_once ? self->rows - row : at_once;
        if (!pe_search_may_continue(&trial->runner) ||
            !pe_stream_read_fully(self->stream, row * bytes, self->elements, rows * bytes))
            return false;
        pe_read_row(self->exact, self->dtype, self->elements, (size_t)(rows * self->columns));
        for (uint64_t r = 0; r < rows && tried < PLACES_TRIED; r++) {
            const int64_t shift =
                (int64_t)(row + r) - (int64_t)self->middle - (int64_t)self->shift_max;
            if (shift == 0 || !is_row(self, self->exact + r * self->columns))
                continue;
            tried++;
            if (try_shift(trial, shift, step, offset))
                return true;
        }
    }
    return false;
}

/* Open the wide table, and read the row. */
static bool open_wide(row_search *self, pe_trial *trial, double step, double offset,
                      pe_request **ret_request)
{
    char before[PE_IDENTITY_QUERY_MAX], query[PE_IDENTITY_QUERY_MAX], text[PE_PRINT_MAX];
    pe_error error;
    const uint64_t at_once = BLOCK_BYTES / 2 + self->columns; /* of the smallest elements */
    pe_print_number(text, offset - (double)self->shift_max * step);
    pe_change_query(trial->query, "offset", text, before);
    snprintf(text, sizeof text, "%llu", (unsigned long long)self->rows);
    pe_change_query(before, "length", text, query);
    *ret_request = pe_trial_make_request(trial, query, trial->dtype);
    const pe_view wanted = {.rank = 2, .shape = {self->rows, self->columns}};
    const int index =
        *ret_request ? pe_find_query_tensor(*ret_request, trial->tensor, &wanted) : -1;
    if (index < 0 || !pe_trial_spend(trial, pe_request_price(*ret_request)) ||
        pe_stream_new(*ret_request, (size_t)index, BLOCK_BYTES, &trial->runner.own,
                      &self->stream, &error) != PE_OK)
        return false;
    trial->found->tried++;
    self->row = malloc((size_t)self->columns * sizeof *self->row);
    self->exact = malloc((size_t)at_once * sizeof *self->exact);
    self->elements = malloc((size_t)at_once * sizeof(double));
    if (!self->row || !self->exact || !self->elements) {
        pe_error_add(trial->reterr, PE_NO_MEMORY, "", "", "memory for the explanation");
        return false;
    }
    if (!pe_view_read_line(&trial->view, self->middle, self->row))
        return false;
    for (uint64_t c = 0; c < self->columns; c++)
        self->most = fmax(self->most, fabs(self->row[c]));
    return true;
}

static void end_search(row_search *self, pe_request *request)
{
    pe_stream_free(self->stream);
    pe_request_unref(request);
    free(self->row);
    free(self->exact);
    free(self->elements);
}

/* Try the positions, or queries, that begin a few steps before or behind. */
static bool try_offsets(pe_trial *trial, const char *name)
{
    pe_value offset, step = {.real = 1};
    char text[PE_PRINT_MAX];
    const char *const changes[] = {name, text, NULL};
    if (!pe_trial_read_value(trial, name, &offset, text))
        return false;
    if (strcmp(name, "offset") == 0 && !pe_trial_read_value(trial, "step", &step, text))
        step.real = 1;
    for (int shift = 1; shift <= 4; shift++)
        for (int side = 1; side >= -1; side -= 2) {
            pe_print_number(text, offset.real + side * shift * step.real);
            if (pe_trial_fits_changed(trial, changes))
                return pe_trial_say(trial, "shift",
                                    "Shifted by %d row%s: row r is row r %c %d of the exact "
                                    "one, %s=%s.",
                                    shift, shift == 1 ? "" : "s", side > 0 ? '+' : '-', shift,
                                    name, text);
        }
    return false;
}

bool pe_find_next_offset(pe_trial *trial)
{
    return try_offsets(trial, "query_offset") || try_offsets(trial, "offset");
}

bool pe_find_shift(pe_trial *trial)
{
    pe_value step, offset;
    char text[PE_PRINT_MAX];
    if (trial->view.rank != 2 || !pe_trial_read_value(trial, "offset", &offset, text) ||
        !pe_trial_read_value(trial, "step", &step, text))
        return false;
    row_search self = {.columns = trial->view.shape[1],
                       .middle = trial->view.shape[0] / 2,
                       .dtype = trial->dtype};
    self.shift_max = WIDE_ENTRIES / 2 / self.columns;
    if (self.shift_max > SHIFT_MAX)
        self.shift_max = SHIFT_MAX;
    self.rows = trial->view.shape[0] + 2 * self.shift_max;
    pe_request *request = NULL;
    bool found = trial->dtype != PE_I32 && self.columns <= WIDE_ENTRIES &&
                 open_wide(&self, trial, step.real, offset.real, &request) &&
                 search_rows(&self, trial, step.real, offset.real);
    end_search(&self, request);
    return found;
}
