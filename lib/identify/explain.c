/* Explaining what is wrong with a table: its shape, or what its request says. */
#include "foreign/tolerance.h"
#include "identify/compared_lines.h"
#include "identify/mistakes.h"
#include "numerics/dtype.h"
#include "requests/request.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BATCH_MAX 4096 /* tables along a leading axis */

/* ---- shapes ---- */

static bool has_shape(const pe_view *view, const pe_view *shape)
{
    bool same = view->rank == shape->rank;
    for (size_t axis = 0; same && axis < view->rank; axis++)
        same = view->shape[axis] == shape->shape[axis];
    return same;
}

static bool find_transposed(pe_trial *trial, const pe_view *shape)
{
    for (size_t a = 0; a < trial->view.rank; a++)
        for (size_t b = a + 1; b < trial->view.rank; b++) {
            const pe_view turned = pe_view_transposed(&trial->view, a, b);
            if (has_shape(&turned, shape) &&
                pe_trial_fits(trial, trial->query, trial->tensor, &turned, 1))
                return pe_trial_say(trial, "transposed",
                                    "Transposed: the table has axes %zu and %zu exchanged, and "
                                    "is right otherwise.",
                                    a, b);
        }
    return false;
}

/* The first row of a view that is not the exact tensor's; the count of rows if all are. */
static uint64_t find_wrong_row(pe_trial *trial, const pe_view *view)
{
    const uint64_t rows = view->rank > 0 ? view->shape[0] : 1, lines = pe_view_lines(view);
    pe_compared_lines compared = {.request = NULL};
    uint64_t line = 0;
    if (pe_compared_lines_open(&compared, trial, trial->query, trial->tensor, view))
        while (line < lines && pe_compared_lines_fit(&compared, trial, view, line, line, 1))
            line++;
    pe_compared_lines_close(&compared);
    return line * rows / lines;
}

/* Say that some tables along an axis are right, and not all. */
static bool say_wrong_tables(pe_trial *trial, size_t axis, uint64_t wrong, uint64_t first)
{
    const unsigned long long extent = trial->view.shape[axis];
    const pe_view one = pe_view_at(&trial->view, axis, first);
    return pe_trial_say(trial, "batch",
                        "Of the %llu tables of axis %zu, %llu %s wrong, and the others are the "
                        "exact one: table %llu of axis %zu is wrong from row %llu.",
                        extent, axis, (unsigned long long)wrong, wrong == 1 ? "is" : "are",
                        (unsigned long long)first, axis,
                        (unsigned long long)find_wrong_row(trial, &one));
}

/* An axis along which the same table is repeated, or wrong at some indices. */
static bool find_batch(pe_trial *trial, const pe_view *shape)
{
    for (size_t axis = 0; axis < trial->view.rank; axis++) {
        const uint64_t extent = trial->view.shape[axis];
        uint64_t wrong = 0, first = 0;
        pe_view one = pe_view_at(&trial->view, axis, 0);
        if (!has_shape(&one, shape) || extent > BATCH_MAX)
            continue;
        for (uint64_t i = 0; i < extent && !trial->runner.ended; i++) {
            one = pe_view_at(&trial->view, axis, i);
            if (!pe_trial_fits(trial, trial->query, trial->tensor, &one, 1) && wrong++ == 0)
                first = i;
        }
        if (wrong == 0)
            return pe_trial_say(trial, "repeated",
                                "Axis %zu has %llu tables, and each of them is the exact one.",
                                axis, (unsigned long long)extent);
        if (wrong < extent && !trial->exhausted && !trial->runner.ended)
            return say_wrong_tables(trial, axis, wrong, first);
    }
    return false;
}

/* Rows before or behind those of the exact table. */
static bool find_more_rows(pe_trial *trial, const pe_view *shape)
{
    const uint64_t rows = shape->shape[0], more = trial->view.shape[0] - rows;
    const char *plural = more == 1 ? "" : "s";
    for (uint64_t first = 0; first <= more; first += more) {
        const pe_view part = pe_view_part(&trial->view, 0, first, rows);
        if (!pe_trial_fits(trial, trial->query, trial->tensor, &part, 1))
            continue;
        trial->found->first_row = first;
        trial->found->rows = rows;
        return pe_trial_say(trial, "rows",
                            "%llu row%s more: rows %llu to %llu are those of the request, and "
                            "%llu %s %s before them.",
                            (unsigned long long)more, plural, (unsigned long long)first,
                            (unsigned long long)(first + rows - 1), (unsigned long long)first,
                            first == 1 ? "row" : "rows", first == 1 ? "is" : "are");
    }
    return false;
}

/* Another number of rows. */
static bool find_rows(pe_trial *trial, const pe_view *shape)
{
    char text[PE_PRINT_MAX];
    const char *const changes[] = {"length", text, NULL};
    const uint64_t rows = trial->view.rank > 0 ? trial->view.shape[0] : 0;
    pe_view same = trial->view;
    if (shape->rank == 0 || same.rank != shape->rank)
        return false;
    const uint64_t wanted = shape->shape[0];
    same.shape[0] = wanted;
    if (!has_shape(&same, shape) || rows == wanted)
        return false;
    snprintf(text, sizeof text, "%llu", (unsigned long long)rows);
    if (pe_trial_fits_changed(trial, changes)) {
        const uint64_t more = rows > wanted ? rows - wanted : wanted - rows;
        return pe_trial_say(
            trial, "rows",
            "%llu row%s %s: rows 0 to %llu are equal, and all %llu are those of "
            "length=%s.",
            (unsigned long long)more, more == 1 ? "" : "s", rows > wanted ? "more" : "fewer",
            (unsigned long long)((rows < wanted ? rows : wanted) - 1), (unsigned long long)rows,
            text);
    }
    if (rows > wanted ? find_more_rows(trial, shape) : pe_find_fewer(trial, shape))
        return true;
    char query[PE_IDENTITY_QUERY_MAX]; /* a window of them */
    const char *given = trial->query;
    pe_change_query(given, "length", text, query);
    trial->query = query;
    bool found = pe_find_proposed_request(trial);
    trial->query = given;
    return found;
}

/* ---- the whole ---- */

/* What the values of a table in a wider dtype may have been rounded to: that of all lines. */
static pe_dtype find_format(const pe_trial *trial)
{
    static const pe_dtype FORMATS[] = {PE_BF16, PE_F16, PE_F32};
    const uint64_t columns = pe_view_columns(&trial->view), lines = pe_view_lines(&trial->view);
    double *line = malloc((size_t)columns * sizeof *line);
    pe_dtype format = trial->dtype;
    for (size_t i = 0; line && format == trial->dtype && i < PE_COUNT(FORMATS); i++) {
        if (pe_dtype_size(FORMATS[i]) >= pe_dtype_size(trial->dtype) || trial->dtype == PE_I32)
            break;
        bool fits = true;
        for (uint64_t row = 0; fits && row < lines; row++) {
            fits = pe_view_read_line(&trial->view, row, line);
            for (uint64_t c = 0; fits && c < columns; c++)
                fits = !isfinite(line[c]) || pe_round_number(line[c], FORMATS[i]) == line[c];
        }
        format = fits ? FORMATS[i] : format;
    }
    free(line);
    return format;
}

/* Find the mistake of a table, which is of another shape, or not. */
static bool find_table_mistake(pe_trial *trial, const pe_view *shape)
{
    if (has_shape(&trial->view, shape))
        return pe_find_mistake(trial) || find_transposed(trial, shape);
    return find_transposed(trial, shape) || find_batch(trial, shape) ||
           find_rows(trial, shape) || pe_find_mistake(trial);
}

/* Add of what the values are, where the sentence is of something else. */
static void add_format(pe_trial *trial)
{
    const size_t used = strlen(trial->found->sentence);
    if (strcmp(trial->found->kind, "values") != 0)
        snprintf(trial->found->sentence + used, sizeof trial->found->sentence - used,
                 " The values are %s numbers.",
                 trial->format == PE_BF16  ? "bfloat16"
                 : trial->format == PE_F16 ? "float16"
                                           : "float32");
}

/* Accept what rounding to the format of the values loses: those of the exact table, too, have
 * been rounded to it. */
static void widen_tolerance(pe_trial *trial)
{
    trial->tolerance.relative =
        fmax(trial->tolerance.relative, 2 * pe_dtypes[trial->format].unit);
    trial->tolerance.absolute += pe_dtype_ulp(trial->format, 0);
}

/* The largest entry of some lines. */
static double find_largest_entry(const pe_view *view)
{
    const uint64_t columns = pe_view_columns(view), lines = pe_view_lines(view);
    double *line = malloc((size_t)columns * sizeof *line), most = 0;
    for (uint64_t i = 0; line && i < PE_TRIAL_LINES; i++)
        if (pe_view_read_line(view, i * (lines - 1) / (PE_TRIAL_LINES - 1), line))
            for (uint64_t c = 0; c < columns; c++)
                most = isfinite(line[c]) ? fmax(most, fabs(line[c])) : most;
    free(line);
    return most;
}

pe_status pe_explain_mismatch(pe_request *request, const char *query, size_t tensor,
                              const pe_view *view, const pe_tolerance *tolerance,
                              const pe_limits *limits, const pe_runner *runner,
                              pe_explanation *ret_explanation, pe_error *reterr)
{
    const pe_tensor *wanted = pe_request_tensor(request, tensor);
    pe_trial trial = {.subject = &pe_table_subject,
                      .scheme = request->values.scheme,
                      .dtype = wanted->dtype,
                      .format = wanted->dtype,
                      .query = query,
                      .tolerance = *tolerance,
                      .limits = limits,
                      .left = pe_explain_price(request, tensor),
                      .found = ret_explanation,
                      .reterr = reterr};
    pe_view shape = {.rank = wanted->rank};
    *ret_explanation = (pe_explanation){.kind = "", .factor = 1};
    pe_error_init(reterr);
    pe_search_runner_init(&trial.runner, runner);
    snprintf(trial.tensor, sizeof trial.tensor, "%s", wanted->name);
    memcpy(shape.shape, wanted->shape, wanted->rank * sizeof *wanted->shape);
    shape = pe_view_squeezed(&shape);
    const pe_view watched = pe_search_wrap_view(&trial.runner, view);
    trial.view = pe_view_squeezed(&watched);
    if (pe_view_elements(view) == 0)
        return PE_OK;
    if (!pe_scheme_is_bounded(trial.scheme))
        trial.tolerance.absolute =
            fmax(trial.tolerance.absolute, find_largest_entry(&trial.view) * 0x1p-18);
    else if (!trial.tolerance.bounded ||
             pe_dtypes[trial.tolerance.arithmetic].unit < pe_dtypes[PE_F32].unit) {
        trial.tolerance.bounded = true;
        trial.tolerance.arithmetic = PE_F32;
    }
    bool found = find_table_mistake(&trial, &shape);
    if (!found && (trial.format = find_format(&trial)) != trial.dtype) {
        widen_tolerance(&trial);
        pe_forget_proposals(&trial);
        found = find_table_mistake(&trial, &shape);
        if (found)
            add_format(&trial);
    }
    pe_forget_proposals(&trial);
    ret_explanation->found = found;
    return reterr->status;
}

uint64_t pe_explain_footprint(const pe_request *request, size_t tensor)
{
    const pe_tensor *wanted = pe_request_tensor(request, tensor);
    return 2 * pe_stream_footprint(request, tensor, PE_STREAM_FAST) +
           64 * (wanted->elements / wanted->rows) + ((uint64_t)6 << 20);
}

double pe_explain_price(const pe_request *request, size_t tensor)
{
    const pe_tensor *wanted = pe_request_tensor(request, tensor);
    const uint64_t columns = wanted->elements / wanted->rows;
    return 4 * pe_request_price(request) + 0x1p28 + 2 * PE_PROPOSALS_PRICE((double)columns);
}
