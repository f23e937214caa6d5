/* Similarity of positions: distances and correlations between the rows of a scheme's primary
 * tensor, as schemes derived from the registry's.
 *
 * The rows are computed in double and kept in panels of eight, column by column, so that a
 * kernel accumulates eight pairs side by side. Each sum runs over the columns in ascending
 * order, whatever the processor; so entry (i, j) has the bits of entry (j, i). */
#include "kernel.h"
#include "params.h"

#include "dtype.h"

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const METRICS[] = {"l2", "l1", "dot", "cosine", "pearson", NULL};
enum metric { L2, L1, DOT, COSINE, PEARSON };

static const pe_parameter OWN[] = {
    {.name = "metric",
     .type = PE_CHOICE,
     .required = true,
     .choices = METRICS,
     .help = "l2, l1: distance; dot: product; cosine: of the angle; pearson: correlation over "
             "the columns"},
    {.name = "rows",
     .type = PE_INTEGER_LIST,
     .maximum = 9007199254740992.0,
     .unit = "row numbers",
     .help = "rows of the table to compare with all; by default all"},
};
#define OWN_COUNT PE_COUNT(OWN)
#define REVISION  1 /* of what is done with the rows; below 100 */

static const pe_tensor_help TENSORS[] = {
    {"similarity", "[n, n] or [rows, n]", "metric of each row with each row of the table"}};

enum {
    SCHEME_COUNT = 0
#define SCHEME(name) +1
#include "schemes/schemes.def"
#undef SCHEME
};
#define PARAMETERS_MAX 48

static struct {
    char name[64];
    pe_scheme scheme;
    pe_parameter parameters[PARAMETERS_MAX];
} derived[SCHEME_COUNT];
static pthread_once_t derived_once = PTHREAD_ONCE_INIT;

/* The values of the scheme whose rows are compared, in double. */
typedef struct row_values {
    pe_value items[PARAMETERS_MAX];
    pe_values values;
} row_values;

static void read_row_values(const pe_values *values, row_values *ret_rows)
{
    const pe_scheme *of = pe_scheme_find(values->scheme->info.of);
    size_t own = of->info.parameter_count, all = pe_all_parameter_count(&of->info);
    memcpy(ret_rows->items, values->items, own * sizeof *values->items);
    for (size_t i = own; i < all; i++)
        ret_rows->items[i] = values->items[i + OWN_COUNT];
    ret_rows->items[pe_parameter_index(&of->info, "dtype")].integer = PE_F64;
    ret_rows->values = (pe_values){of, ret_rows->items};
}

static void plan(const pe_values *values, pe_plan *ret_plan, pe_error *reterr)
{
    row_values rows;
    pe_plan of = {0};
    read_row_values(values, &rows);
    rows.values.scheme->plan(&rows.values, &of, reterr);
    if (reterr->status != PE_OK)
        return;
    const pe_tensor *table = &of.tensors[0];
    if (table->rank != 2 || table->dtype != PE_F64) {
        pe_error_add(reterr, PE_OUT_OF_RANGE, "scheme", rows.values.scheme->info.name,
                     "one whose primary tensor is a real matrix [n, d]; this one's %s has %zu "
                     "axes or is not real",
                     table->name, table->rank);
        return;
    }
    uint64_t n = table->shape[0], chosen = n;
    if (pe_is_present(values, "rows")) {
        const pe_value *list = pe_value_of(values, "rows");
        chosen = list->count;
        for (size_t i = 0; i < list->count; i++) {
            char given[PE_PRINT_MAX];
            if (list->items[i] < (double)n)
                continue;
            pe_error_add(reterr, PE_OUT_OF_RANGE, "rows",
                         pe_plain_number(list->items[i], given),
                         "row numbers from 0 to %llu: the table has %llu rows",
                         (unsigned long long)(n - 1), (unsigned long long)n);
            break;
        }
    }
    pe_plan_add(ret_plan, "similarity", pe_requested_dtype(values), 2, (uint64_t[]){chosen, n});
    uint64_t padded = (n + PE_PANEL - 1) / PE_PANEL * PE_PANEL;
    ret_plan->held = of.held + padded * table->shape[1] * sizeof(double);
}

/* ---- the table in panels ---- */

typedef struct similarity {
    size_t n, d;
    int metric;
    pe_dtype dtype;
    const double *chosen; /* row numbers, NULL: all; borrowed */
    double *panels;       /* [n / PE_PANEL][d][PE_PANEL] */
    double *norms;        /* of each row; NaN where it has none */
} similarity;

static double *element(const similarity *state, size_t row, size_t column)
{
    return &state->panels[(row / PE_PANEL * state->d + column) * PE_PANEL + row % PE_PANEL];
}

static void release(void *of)
{
    similarity *state = of;
    if (!state)
        return;
    free(state->panels);
    free(state->norms);
    free(state);
}

/* Compute the table's rows, a panel at a time. */
static bool fill_panels(similarity *state, const row_values *rows, const pe_plan *of,
                        const pe_runner *runner, pe_error *reterr)
{
    const pe_scheme *scheme = rows->values.scheme;
    void *made = NULL;
    double *block = malloc(PE_PANEL * state->d * sizeof *block);
    bool ready = block && (!scheme->prepare ||
                           (made = scheme->prepare(&rows->values, of, runner, reterr)));
    for (size_t first = 0; ready && first < state->n; first += PE_PANEL) {
        size_t count = state->n - first < PE_PANEL ? state->n - first : PE_PANEL;
        scheme->fill(&rows->values, of, made, (pe_window){0, first, count}, block);
        for (size_t r = 0; r < count; r++)
            for (size_t c = 0; c < state->d; c++)
                *element(state, first + r, c) = block[r * state->d + c];
    }
    if (ready)
        (scheme->release ? scheme->release : free)(made);
    free(block);
    return ready;
}

/* Bring the largest value of a row near 1 by a power of two, which leaves angles as they are,
 * so that no square ends beyond the doubles. */
static void scale(const similarity *state, size_t row)
{
    double largest = 0;
    int exponent;
    for (size_t c = 0; c < state->d; c++)
        largest = fmax(largest, fabs(*element(state, row, c)));
    frexp(largest, &exponent);
    for (size_t c = 0; c < state->d; c++)
        *element(state, row, c) = ldexp(*element(state, row, c), -exponent);
}

/* Take the mean off a row; NaN for a constant one, which has no correlation. */
static void center(const similarity *state, size_t row)
{
    double sum = 0, first = *element(state, row, 0);
    bool constant = true;
    for (size_t c = 0; c < state->d; c++) {
        sum += *element(state, row, c);
        constant = constant && *element(state, row, c) == first;
    }
    for (size_t c = 0; c < state->d; c++)
        *element(state, row, c) =
            constant ? 0 : *element(state, row, c) - sum / (double)state->d;
}

static void make_norms(const similarity *state)
{
    for (size_t row = 0; row < state->n; row++) {
        double square = 0;
        if (state->metric == COSINE || state->metric == PEARSON)
            scale(state, row);
        if (state->metric == PEARSON)
            center(state, row);
        for (size_t c = 0; c < state->d; c++)
            square += *element(state, row, c) * *element(state, row, c);
        state->norms[row] = square > 0 ? sqrt(square) : NAN;
    }
}

/* ---- rows of the matrix ---- */

static size_t chosen_row(const similarity *state, uint64_t index)
{
    return state->chosen ? (size_t)state->chosen[index] : (size_t)index;
}

/* Turn the sums of a row with rows first … first + count of the table into the metric. */
static void finish(const similarity *state, size_t row, size_t first, size_t count,
                   double *sums)
{
    switch (state->metric) {
    case L2:
        for (size_t j = 0; j < count; j++)
            sums[j] = sqrt(sums[j]);
        return;
    case L1:
    case DOT:
        return;
    default:
        for (size_t j = 0; j < count; j++) {
            double ratio = sums[j] / (state->norms[row] * state->norms[first + j]);
            sums[j] = isnan(ratio) ? (double)NAN : fmax(-1, fmin(1, ratio));
        }
        if (row >= first && row - first < count && !isnan(state->norms[row]))
            sums[row - first] = 1;
    }
}

static const pe_pair_kind KINDS[] = {[L2] = PE_PAIR_SQUARES,
                                     [L1] = PE_PAIR_MAGNITUDES,
                                     [DOT] = PE_PAIR_PRODUCTS,
                                     [COSINE] = PE_PAIR_PRODUCTS,
                                     [PEARSON] = PE_PAIR_PRODUCTS};

#define CHUNK_PANELS 32                   /* at a time, few enough to stay in the caches: */
#define CHUNK_BYTES  ((size_t)512 * 1024) /* so many at most */
#define CHUNK_ROWS   (CHUNK_PANELS * PE_PANEL)

/* What is done with each finished run of a row: `index` of the window, columns first …. */
typedef void (*take_run)(const similarity *state, uint64_t index, size_t first, size_t count,
                         const double *values, void *context);

/* Compare up to PE_PAIR_ROWS rows with some panels. */
static void compare(const similarity *state, uint64_t index, size_t rows, size_t first_panel,
                    size_t panels, take_run take, void *context)
{
    double sums[PE_PAIR_ROWS][CHUNK_ROWS];
    const double *starts[PE_PAIR_ROWS];
    size_t first = first_panel * PE_PANEL, count = panels * PE_PANEL;
    for (size_t r = 0; r < PE_PAIR_ROWS; r++) /* the last one again where there are fewer */
        starts[r] = element(state, chosen_row(state, index + (r < rows ? r : rows - 1)), 0);
    pe_kernel_get()->pairs(KINDS[state->metric], starts, element(state, first, 0), state->d,
                           panels, sums[0], CHUNK_ROWS);
    if (count > state->n - first)
        count = state->n - first;
    for (size_t r = 0; r < rows; r++) {
        finish(state, chosen_row(state, index + r), first, count, sums[r]);
        take(state, index + r, first, count, sums[r], context);
    }
}

static void compare_all(const similarity *state, uint64_t first, uint64_t rows, take_run take,
                        void *context)
{
    size_t panels = (state->n + PE_PANEL - 1) / PE_PANEL;
    size_t chunk = CHUNK_BYTES / (state->d * PE_PANEL * sizeof(double));
    chunk = chunk < 1 ? 1 : chunk > CHUNK_PANELS ? CHUNK_PANELS : chunk;
    for (size_t panel = 0; panel < panels; panel += chunk)
        for (uint64_t r = 0; r < rows; r += PE_PAIR_ROWS)
            compare(state, first + r,
                    rows - r < PE_PAIR_ROWS ? (size_t)(rows - r) : PE_PAIR_ROWS, panel,
                    panels - panel < chunk ? panels - panel : chunk, take, context);
}

/* ---- the hooks ---- */

typedef struct window_target {
    uint64_t first;
    unsigned char *dst;
} window_target;

static void round_run(const similarity *state, uint64_t index, size_t first, size_t count,
                      const double *values, void *context)
{
    const window_target *target = context;
    size_t size = pe_dtype_size(state->dtype);
    pe_round_row(state->dtype, values, count,
                 target->dst + ((index - target->first) * state->n + first) * size);
}

static void fill(const pe_values *values, const pe_plan *plan, const void *state,
                 pe_window window, void *dst)
{
    (void)values, (void)plan;
    window_target target = {window.first, dst};
    compare_all(state, window.first, window.rows, round_run, &target);
}

static void keep_largest(const similarity *state, uint64_t index, size_t first, size_t count,
                         const double *values, void *context)
{
    (void)state, (void)index, (void)first;
    double *largest = context;
    for (size_t j = 0; j < count; j++)
        *largest = fmax(*largest, fabs(values[j]));
}

/* Check that the dtype holds the values: by the norms, and where these leave it open, by all
 * values. */
static void check_overflow(const similarity *state, const pe_values *values, uint64_t rows,
                           pe_error *reterr)
{
    double largest = 0;
    for (size_t row = 0; row < state->n; row++)
        largest = fmax(largest, isnan(state->norms[row]) ? 0 : state->norms[row]);
    double bound = state->metric == DOT  ? largest * largest
                   : state->metric == L1 ? 2 * largest * sqrt((double)state->d)
                   : state->metric == L2 ? 2 * largest
                                         : 1;
    if (bound * (1 + 0x1p-20) < pe_dtype_overflow(state->dtype))
        return;
    largest = 0;
    compare_all(state, 0, rows, keep_largest, &largest);
    pe_check_magnitude(values, "metric", largest, reterr);
}

static void *prepare(const pe_values *values, const pe_plan *plan, const pe_runner *runner,
                     pe_error *reterr)
{
    row_values rows;
    pe_plan of = {0};
    similarity *state = calloc(1, sizeof *state);
    read_row_values(values, &rows);
    rows.values.scheme->plan(&rows.values, &of, reterr);
    if (!state || reterr->status != PE_OK)
        goto fail;
    *state = (similarity){.n = (size_t)of.tensors[0].shape[0],
                          .d = (size_t)of.tensors[0].shape[1],
                          .metric = pe_choice(values, "metric"),
                          .dtype = pe_requested_dtype(values)};
    if (pe_is_present(values, "rows"))
        state->chosen = pe_value_of(values, "rows")->items;
    size_t panels = (state->n + PE_PANEL - 1) / PE_PANEL;
    state->panels = calloc(panels * PE_PANEL * state->d, sizeof *state->panels);
    state->norms = malloc(state->n * sizeof *state->norms);
    if (!state->panels || !state->norms || !fill_panels(state, &rows, &of, runner, reterr))
        goto fail;
    make_norms(state);
    check_overflow(state, values, plan->tensors[0].shape[0], reterr);
    if (reterr->status == PE_OK)
        return state;
fail:
    release(state);
    return NULL;
}

/* ---- the derived schemes ---- */

static void derive(size_t index)
{
    const pe_scheme *of = pe_scheme_at(index);
    size_t own = of->info.parameter_count;
    pe_scheme *made = &derived[index].scheme;
    snprintf(derived[index].name, sizeof derived[index].name, "%s_similarity", of->info.name);
    memcpy(derived[index].parameters, of->info.parameters, own * sizeof *of->info.parameters);
    memcpy(derived[index].parameters + own, OWN, sizeof OWN);
    *made = (pe_scheme){.info = of->info,
                        .plan = plan,
                        .prepare = prepare,
                        .fill = fill,
                        .release = release,
                        .streamable = true,
                        .takes_long = true};
    made->info.name = derived[index].name;
    made->info.title = "Similarity of positions";
    made->info.parameters = derived[index].parameters;
    made->info.parameter_count = own + OWN_COUNT;
    made->info.tensors = TENSORS;
    made->info.tensor_count = PE_COUNT(TENSORS);
    made->info.revision = 100 * of->info.revision + REVISION;
    made->info.of = of->info.name;
}

static void derive_all(void)
{
    for (size_t i = 0; i < SCHEME_COUNT; i++)
        derive(i);
}

const pe_scheme *pe_similarity_find(const char *name)
{
    pthread_once(&derived_once, derive_all);
    for (size_t i = 0; i < SCHEME_COUNT; i++)
        if (strcmp(derived[i].scheme.info.of, name) == 0)
            return &derived[i].scheme;
    return NULL;
}
