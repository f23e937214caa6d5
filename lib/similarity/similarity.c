/* Similarity of positions: for every scheme of the registry, a derived scheme whose tensor
 * compares the rows of the scheme's primary tensor. The rows are computed in double. */
#include "locks.h"
#include "numerics/dtype.h"
#include "requests/request.h"
#include "similarity/similarity_matrix.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
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

/* ---- reading ---- */

#define COMMON_MAX 4 /* room for the parameters that all schemes have */

typedef struct similarity {
    pe_similarity_matrix matrix; /* its rows are prepared */
    pe_dtype dtype;
    pe_metric metric;
    const double *chosen; /* row numbers; NULL: all rows */
    uint64_t chosen_count;
    pe_request base; /* for the rows, with dtype f64 */
    max_align_t base_state[];
} similarity;

/* Read and plan the request for the rows: with the same values, except the similarity's own. */
static void read_base(const pe_values *values, pe_request *base, pe_error *reterr)
{
    const pe_scheme *scheme = pe_scheme_find(values->scheme->info.similarity_of);
    size_t own = scheme->info.parameter_count, all = pe_all_parameter_count(&scheme->info);
    pe_value items[PE_LIST_MAX_parameter + COMMON_MAX];
    assert(all <= PE_COUNT(items));
    memcpy(items, values->items, own * sizeof *items);
    for (size_t i = own; i < all; i++)
        items[i] = values->items[i + OWN_COUNT];
    items[pe_parameter_index(&scheme->info, "dtype")].integer = PE_F64;
    base->values = (pe_values){scheme, items};
    pe_request_plan(base, reterr);
    base->values.items = NULL;
}

#define STORE_PRICE 10 /* of an element of the rows */
#define NORM_PRICE  30

/* Of one metric of rows with d columns; the kernel does several multiply-adds at once. */
static double metric_price(double d)
{
    return 4 + d / 4;
}

/* Check that the chosen rows are rows of a table of n rows. */
static void check_rows(const similarity *state, uint64_t n, pe_error *reterr)
{
    char given[PE_PRINT_MAX];
    for (uint64_t i = 0; state->chosen && i < state->chosen_count; i++) {
        if (state->chosen[i] < (double)n)
            continue;
        pe_error_add(reterr, PE_OUT_OF_RANGE, "rows", pe_plain_number(state->chosen[i], given),
                     "a list of row numbers from 0 to %llu, since the table has %llu rows",
                     (unsigned long long)(n - 1), (unsigned long long)n);
        break;
    }
}

static void read(const pe_values *values, void *ret_state, pe_plan *plan, pe_error *reterr)
{
    similarity *state = ret_state;
    pe_request *base = &state->base;
    base->settings = state->base_state;
    read_base(values, base, reterr);
    if (reterr->status != PE_OK)
        return;
    const pe_tensor *table = &base->plan.tensors[0];
    if (table->rank != 2 || table->dtype != PE_F64) {
        pe_error_add(reterr, PE_OUT_OF_RANGE, "scheme", base->values.scheme->info.name,
                     "one whose first tensor is a real matrix [n, d] with these parameters; "
                     "the tensor %s has %zu axes or is not real",
                     table->name, table->rank);
        return;
    }
    const pe_value *rows = pe_value_find(values, "rows");
    state->dtype = pe_requested_dtype(values);
    state->metric = (pe_metric)pe_get_choice(values, "metric");
    state->chosen = rows->present ? rows->items : NULL;
    state->chosen_count = rows->present ? rows->count : table->shape[0];
    check_rows(state, table->shape[0], reterr);
    pe_plan_add(plan, "similarity", state->dtype, 2,
                (uint64_t[]){state->chosen_count, table->shape[0]});
    pe_plan_price(plan, metric_price((double)table->shape[1]));
    plan->price = base->plan.price + (double)table->elements * (base->plan.element_prices[0] +
                                                                STORE_PRICE + NORM_PRICE);
    plan->state = base->plan.state;
    for (size_t i = 0; i < base->plan.settled_count; i++)
        pe_plan_settle(plan, base->plan.settled[i].name, base->plan.settled[i].real);
    plan->held = base->plan.held + pe_similarity_bytes(table->shape[0], table->shape[1]);
}

/* ---- preparing ---- */

/* Compute the rows of the base's primary tensor and store them in the matrix, some at a time.
 * False if memory ran out or a problem was added to the pace's error. */
static bool compute_rows(pe_similarity_matrix *matrix, const pe_request *base, pe_pace *pace)
{
    enum { ROWS = 8 };
    uint64_t per_row = base->plan.tensors[0].rows / matrix->n; /* of what the base calls rows */
    double row_price = (double)matrix->d * (base->plan.element_prices[0] + STORE_PRICE);
    double *block = pe_keep(pace, ROWS * matrix->d, sizeof *block);
    void *state = NULL;
    bool ready = block && pe_request_prepare(base, pace->runner, &state, pace->reterr) == PE_OK;
    for (size_t first = 0; ready && first < matrix->n; first += ROWS) {
        size_t count = matrix->n - first < ROWS ? matrix->n - first : ROWS;
        ready = pe_pace_may_continue(pace, (double)count * row_price);
        if (!ready)
            break;
        pe_request_fill(base, state, (pe_window){0, first * per_row, count * per_row}, block);
        pe_similarity_set_rows(matrix, first, count, block);
    }
    pe_kept_free(state);
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
static void check_overflow(const similarity *state, pe_pace *pace)
{
    double largest = 0;
    double row_price = (double)state->matrix.n * metric_price((double)state->matrix.d);
    uint64_t most = pe_rows_of_price(row_price, PE_QUESTION_PRICE);
    if (pe_similarity_bound(&state->matrix) * (1 + 0x1p-20) < pe_dtypes[state->dtype].overflow)
        return;
    for (uint64_t first = 0, count; first < state->chosen_count; first += count) {
        count = state->chosen_count - first < most ? state->chosen_count - first : most;
        if (!pe_pace_may_continue(pace, (double)count * row_price))
            return;
        pe_similarity_compare(&state->matrix, state->chosen ? state->chosen + first : NULL,
                              (size_t)first, (size_t)count, keep_largest, &largest);
    }
    pe_check_magnitude(state->dtype, "metric", largest, pace->reterr);
}

/* Turn the rows into what is compared, some at a time. False: the runner cancelled it. */
static bool normalise_rows(pe_similarity_matrix *matrix, pe_pace *pace)
{
    double row_price = NORM_PRICE * (double)matrix->d;
    size_t most = (size_t)pe_rows_of_price(row_price, PE_QUESTION_PRICE);
    for (size_t first = 0, count; first < matrix->n; first += count) {
        count = matrix->n - first < most ? matrix->n - first : most;
        if (!pe_pace_may_continue(pace, (double)count * row_price))
            return false;
        pe_similarity_normalise(matrix, first, count);
    }
    return true;
}

static bool prepare(void *context, pe_pace *pace)
{
    similarity *state = context;
    const pe_tensor *table = &state->base.plan.tensors[0];
    if (!pe_similarity_init(&state->matrix, (size_t)table->shape[0], (size_t)table->shape[1],
                            state->metric, pace) ||
        !compute_rows(&state->matrix, &state->base, pace) ||
        !normalise_rows(&state->matrix, pace))
        return false;
    check_overflow(state, pace);
    return pace->reterr->status == PE_OK;
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

static void fill(const void *context, pe_window window, void *dst)
{
    const similarity *state = context;
    const double *chosen = state->chosen;
    window_target target = {state, dst};
    pe_similarity_compare(&state->matrix, chosen ? chosen + window.first : NULL,
                          (size_t)window.first, (size_t)window.rows, round_metrics, &target);
}

/* ---- the derived schemes ---- */

static void derive_scheme(size_t index)
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
                          .state_size = sizeof(similarity) + base->state_size,
                          .read = read,
                          .prepare = prepare,
                          .fill = fill};
    scheme->info.name = name;
    scheme->info.title = "Similarity of positions";
    scheme->info.parameters = parameters;
    scheme->info.parameter_count = count + OWN_COUNT;
    scheme->info.tensors = TENSORS;
    scheme->info.tensor_count = PE_COUNT(TENSORS);
    scheme->info.revision = 100 * base->info.revision + REVISION;
    scheme->info.similarity_of = base->info.name;
}

static void derive_schemes(void)
{
    for (size_t i = 0; i < SCHEME_COUNT; i++)
        derive_scheme(i);
}

const pe_scheme *pe_similarity_find(const char *name)
{
    pthread_once(&derived_once, derive_schemes);
    for (size_t i = 0; i < SCHEME_COUNT; i++)
        if (strcmp(derived[i].scheme.info.similarity_of, name) == 0)
            return &derived[i].scheme;
    return NULL;
}
