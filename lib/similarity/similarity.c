/* Similarity of positions: for every scheme of the registry, a derived scheme whose tensor
 * compares the rows of the scheme's primary tensor. The rows are computed in double. */
#include "numerics/dtype.h"
#include "requests/parameters.h"
#include "similarity/similarity_matrix.h"

#include <assert.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const METRICS[] = {"l2",     "l1",      "dot",
                                      "cosine", "pearson", NULL}; /* as pe_metric */

/* The parameters of a similarity, which follow those of the base: the scheme whose rows are
 * compared. */
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
#define REVISION  2 /* of what this file computes from the rows; below 100 */

static const pe_tensor_help TENSORS[] = {
    {"similarity", "[n, n] or [rows, n]", "metric of each row with each row of the table"}};

enum {
    SCHEME_COUNT = 0
#define SCHEME(name) +1
#include "schemes/schemes.def"
#undef SCHEME
};

/* The derived schemes. PE_LIST checks at compile time that no base has more parameters. */
static struct {
    char name[64];
    pe_scheme scheme;
    pe_parameter parameters[PE_LIST_MAX_parameter + OWN_COUNT];
} derived[SCHEME_COUNT];
static pthread_once_t derived_once = PTHREAD_ONCE_INIT;

/* ---- the base's values and plan ---- */

#define COMMON_MAX 4 /* room for the parameters that all schemes have */

/* The values of the base, with dtype f64. */
typedef struct base_values {
    pe_value items[PE_LIST_MAX_parameter + COMMON_MAX];
    pe_values values;
} base_values;

/* Copy the values of a similarity except its own parameters. */
static void read_base_values(const pe_values *values, base_values *ret_base)
{
    const pe_scheme *base = pe_scheme_find(values->scheme->info.similarity_of);
    size_t own = base->info.parameter_count, all = pe_all_parameter_count(&base->info);
    assert(all <= PE_COUNT(ret_base->items));
    memcpy(ret_base->items, values->items, own * sizeof *values->items);
    for (size_t i = own; i < all; i++)
        ret_base->items[i] = values->items[i + OWN_COUNT];
    ret_base->items[pe_parameter_index(&base->info, "dtype")].integer = PE_F64;
    ret_base->values = (pe_values){base, ret_base->items};
}

/* Plan the base's tensors. False if a problem was added to reterr. */
static bool plan_base(const base_values *base, pe_plan *ret_plan, pe_error *reterr)
{
    *ret_plan = (pe_plan){.count = 0};
    base->values.scheme->plan(&base->values, ret_plan, reterr);
    return reterr->status == PE_OK;
}

/* ---- the hooks ---- */

/* Check that the chosen rows are rows of a table of n rows. */
static void check_rows(const pe_value *rows, uint64_t n, pe_error *reterr)
{
    for (size_t i = 0; i < rows->count; i++) {
        char given[PE_PRINT_MAX];
        if (rows->items[i] < (double)n)
            continue;
        pe_error_add(reterr, PE_OUT_OF_RANGE, "rows", pe_plain_number(rows->items[i], given),
                     "a list of row numbers from 0 to %llu, since the table has %llu rows",
                     (unsigned long long)(n - 1), (unsigned long long)n);
        break;
    }
}

static void plan(const pe_values *values, pe_plan *ret_plan, pe_error *reterr)
{
    base_values base;
    pe_plan base_plan;
    read_base_values(values, &base);
    if (!plan_base(&base, &base_plan, reterr))
        return;
    const pe_tensor *table = &base_plan.tensors[0];
    if (table->rank != 2 || table->dtype != PE_F64) {
        pe_error_add(reterr, PE_OUT_OF_RANGE, "scheme", base.values.scheme->info.name,
                     "one whose primary tensor is a real matrix [n, d]; the tensor %s has %zu "
                     "axes or is not real",
                     table->name, table->rank);
        return;
    }
    uint64_t n = table->shape[0], chosen = n;
    if (pe_is_present(values, "rows")) {
        const pe_value *rows = pe_value_of(values, "rows");
        chosen = rows->count;
        check_rows(rows, n, reterr);
    }
    pe_plan_add(ret_plan, "similarity", pe_requested_dtype(values), 2, (uint64_t[]){chosen, n});
    ret_plan->state = base_plan.state;
    ret_plan->held = base_plan.held + pe_similarity_bytes(n, table->shape[1]);
}

/* ---- the price ---- */

#define STORE_PRICE 10 /* of an element of the rows */
#define NORM_PRICE  30

/* Of one metric of rows with d columns; the kernel does several multiply-adds at once. */
static double metric_price(double d)
{
    return 4 + d / 4;
}

static double price(const pe_values *values, const pe_plan *plan)
{
    base_values base;
    pe_plan base_plan;
    pe_error none;
    (void)plan;
    pe_error_init(&none);
    read_base_values(values, &base);
    if (!plan_base(&base, &base_plan, &none))
        return 0;
    const pe_scheme *scheme = base.values.scheme;
    double element = pe_element_price(&base.values, &base_plan, 0) + STORE_PRICE + NORM_PRICE;
    return (scheme->price ? scheme->price(&base.values, &base_plan) : 0) +
           (double)base_plan.tensors[0].elements * element;
}

static double element_price(const pe_values *values, const pe_plan *plan, size_t tensor)
{
    base_values base;
    pe_plan base_plan;
    pe_error none;
    (void)plan, (void)tensor;
    pe_error_init(&none);
    read_base_values(values, &base);
    if (!plan_base(&base, &base_plan, &none))
        return 0;
    return metric_price((double)base_plan.tensors[0].shape[1]);
}

/* ---- preparing ---- */

typedef struct similarity {
    pe_similarity_matrix matrix;
    pe_dtype dtype;
    const double *chosen; /* row numbers, borrowed; NULL: all rows */
} similarity;

static void release(void *state)
{
    if (state)
        pe_similarity_done(&((similarity *)state)->matrix);
    free(state);
}

/* Compute the rows of the base's primary tensor and store them in the matrix, some at a time.
 * False if memory ran out or a problem was added to reterr. */
static bool compute_rows(pe_similarity_matrix *matrix, const base_values *base,
                         const pe_plan *base_plan, pe_pace *pace)
{
    enum { ROWS = 8 };
    const pe_scheme *scheme = base->values.scheme;
    uint64_t per_row = base_plan->tensors[0].rows / matrix->n; /* of what the base calls rows */
    double row_price =
        (double)matrix->d * (pe_element_price(&base->values, base_plan, 0) + STORE_PRICE);
    double *block = malloc(ROWS * matrix->d * sizeof *block);
    void *state = NULL;
    bool ready = block != NULL;
    if (ready && scheme->prepare) {
        state = scheme->prepare(&base->values, base_plan, pace->runner, pace->reterr);
        ready = state != NULL;
    }
    for (size_t first = 0; ready && first < matrix->n; first += ROWS) {
        size_t count = matrix->n - first < ROWS ? matrix->n - first : ROWS;
        ready = pe_pace_go_on(pace, (double)count * row_price);
        if (!ready)
            break;
        scheme->fill(&base->values, base_plan, state,
                     (pe_window){0, first * per_row, count * per_row}, block);
        pe_similarity_set_rows(matrix, first, count, block);
    }
    if (scheme->release)
        scheme->release(state);
    else
        free(state);
    free(block);
    return ready;
}

/* A pe_take_metrics whose context is a double. */
static void keep_largest(void *context, size_t index, size_t column, size_t count,
                         const double *metrics)
{
    (void)index;
    (void)column;
    double *largest = context;
    for (size_t j = 0; j < count; j++)
        *largest = fmax(*largest, fabs(metrics[j]));
}

/* Check that the dtype can hold the metrics. If their bound is too large, they are all computed
 * to find the largest. */
static void check_overflow(const similarity *state, uint64_t rows, pe_pace *pace)
{
    double largest = 0;
    double row_price = (double)state->matrix.n * metric_price((double)state->matrix.d);
    uint64_t most = pe_rows_of_price(row_price, PE_QUESTION_PRICE);
    if (pe_similarity_bound(&state->matrix) * (1 + 0x1p-20) < pe_dtypes[state->dtype].overflow)
        return;
    for (uint64_t first = 0, count; first < rows; first += count) {
        count = rows - first < most ? rows - first : most;
        if (!pe_pace_go_on(pace, (double)count * row_price))
            return;
        pe_similarity_compare(&state->matrix, state->chosen ? state->chosen + first : NULL,
                              (size_t)first, (size_t)count, keep_largest, &largest);
    }
    pe_check_magnitude(pace->values, "metric", largest, pace->reterr);
}

/* Turn the rows into what is compared, some at a time. False: the runner cancelled it. */
static bool normalise(pe_similarity_matrix *matrix, pe_pace *pace)
{
    double row_price = NORM_PRICE * (double)matrix->d;
    size_t most = (size_t)pe_rows_of_price(row_price, PE_QUESTION_PRICE);
    for (size_t first = 0, count; first < matrix->n; first += count) {
        count = matrix->n - first < most ? matrix->n - first : most;
        if (!pe_pace_go_on(pace, (double)count * row_price))
            return false;
        pe_similarity_normalise(matrix, first, count);
    }
    return true;
}

static void *prepare(const pe_values *values, const pe_plan *plan, const pe_runner *runner,
                     pe_error *reterr)
{
    base_values base;
    pe_plan base_plan;
    pe_pace pace = pe_pace_of(values, plan, runner, reterr);
    similarity *state = calloc(1, sizeof *state);
    read_base_values(values, &base);
    if (!state || !plan_base(&base, &base_plan, reterr))
        goto fail;
    const pe_tensor *table = &base_plan.tensors[0];
    state->dtype = pe_requested_dtype(values);
    if (pe_is_present(values, "rows"))
        state->chosen = pe_value_of(values, "rows")->items;
    if (!pe_similarity_init(&state->matrix, (size_t)table->shape[0], (size_t)table->shape[1],
                            (pe_metric)pe_choice(values, "metric")) ||
        !compute_rows(&state->matrix, &base, &base_plan, &pace) ||
        !normalise(&state->matrix, &pace))
        goto fail;
    check_overflow(state, plan->tensors[0].shape[0], &pace);
    if (reterr->status == PE_OK)
        return state;
fail:
    release(state);
    return NULL;
}

typedef struct window_target {
    const similarity *state;
    unsigned char *dst;
} window_target;

/* A pe_take_metrics that rounds metrics to their place in a window. */
static void round_metrics(void *context, size_t index, size_t column, size_t count,
                          const double *metrics)
{
    const window_target *target = context;
    pe_dtype dtype = target->state->dtype;
    size_t place = index * target->state->matrix.n + column;
    pe_round_row(dtype, metrics, count, target->dst + place * pe_dtype_size(dtype));
}

static void fill(const pe_values *values, const pe_plan *plan, const void *state,
                 pe_window window, void *dst)
{
    (void)values;
    (void)plan;
    const similarity *own = state;
    window_target target = {own, dst};
    const double *chosen = own->chosen ? own->chosen + window.first : NULL;
    pe_similarity_compare(&own->matrix, chosen, (size_t)window.first, (size_t)window.rows,
                          round_metrics, &target);
}

/* ---- the derived schemes ---- */

static void derive(size_t index)
{
    const pe_scheme *base = pe_scheme_at(index);
    size_t count = base->info.parameter_count;
    char *name = derived[index].name;
    pe_parameter *parameters = derived[index].parameters;
    assert(count + OWN_COUNT <= PE_COUNT(derived[index].parameters));
    snprintf(name, sizeof derived[index].name, "%s_similarity", base->info.name);
    memcpy(parameters, base->info.parameters, count * sizeof *parameters);
    memcpy(parameters + count, OWN, sizeof OWN);
    pe_scheme *scheme = &derived[index].scheme;
    *scheme = (pe_scheme){.info = base->info,
                          .plan = plan,
                          .prepare = prepare,
                          .fill = fill,
                          .release = release,
                          .price = price,
                          .element_price = element_price,
                          .streamable = true};
    scheme->info.name = name;
    scheme->info.title = "Similarity of positions";
    scheme->info.parameters = parameters;
    scheme->info.parameter_count = count + OWN_COUNT;
    scheme->info.tensors = TENSORS;
    scheme->info.tensor_count = PE_COUNT(TENSORS);
    scheme->info.revision = 100 * base->info.revision + REVISION;
    scheme->info.similarity_of = base->info.name;
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
        if (strcmp(derived[i].scheme.info.similarity_of, name) == 0)
            return &derived[i].scheme;
    return NULL;
}
