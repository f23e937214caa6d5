/* The hierarchical encoding: a table of N rows that is extrapolated to N² positions. */
#include "numerics/blend.h"
#include "numerics/dtype.h"
#include "positions/positions.h"
#include "trained/trained.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define ROWS_MAX 2147483648.0 /* 2^31 */
/* A seeded table of up to 8 MiB is drawn once; the rows of a larger one are drawn whenever they
 * are needed. */
#define KEPT_ELEMENTS 1048576
#define BLEND_PRICE   30

static const pe_parameter PARAMETERS[] = {
    PE_POSITION_PARAMETERS,
    {PE_TRAINED_DIM("table"), .help = "number of columns; a stored table has its own"},
    {.name = "base_length",
     .type = PE_INTEGER,
     .required = true,
     .stored = "table",
     .stored_axis = 0,
     .minimum = 1,
     .maximum = ROWS_MAX,
     .unit = "rows",
     .help = "number of rows N of the table; a stored table has its own"},
    {.name = "alpha",
     .type = PE_REAL,
     .default_text = "0.4",
     .minimum = 0,
     .open_minimum = true,
     .maximum = 1,
     .open_maximum = true,
     .help = "weight of the coarse part; 0.5 is not allowed"},
    PE_TRAINED_PARAMETERS("table [N, dim]"),
};

static const pe_tensor_help TENSORS[] = {
    {"encoding", "[n, dim]", "row k of the extrapolated table"},
    {"basis", "[N, dim]", "the vectors u_i that the rows are sums of"},
};

static const pe_recipe RECIPE = {.initialiser = PE_NORMAL, .std = 0.02};

static void check_alpha(double alpha, pe_error *reterr)
{
    if (alpha != 0.5)
        return;
    pe_error_add(reterr, PE_OUT_OF_RANGE, "alpha", "0.5",
                 "a number above 0 and below 1 other than 0.5, where rows (i, j) and (j, i) "
                 "would be equal");
}

static void check_end(const char *culprit, double last, uint64_t rows, pe_error *reterr)
{
    char given[48];
    if ((uint64_t)last / rows < rows)
        return;
    snprintf(given, sizeof given, "last position %.0f", last);
    pe_error_add(reterr, PE_OUT_OF_RANGE, culprit, given,
                 "such that every position is below %llu, the square of the table's %llu rows",
                 (unsigned long long)rows * rows, (unsigned long long)rows);
}

static bool is_kept(const pe_values *values, uint64_t rows, uint64_t dim)
{
    return !pe_values_set(values) && rows <= KEPT_ELEMENTS / dim;
}

static void plan(const pe_values *values, pe_plan *ret_plan, pe_error *reterr)
{
    double low, high, alpha = pe_real(values, "alpha");
    size_t before = reterr->count;
    const uint64_t shape[2] = {0, 0};
    check_alpha(alpha, reterr);
    pe_positions positions = pe_positions_read_natural(values, reterr);
    if (!pe_trained_check(values, "table", 2, shape, reterr) || reterr->count > before)
        return;
    uint64_t dim = (uint64_t)pe_integer(values, "dim");
    uint64_t rows = (uint64_t)pe_integer(values, "base_length");
    pe_positions_range(&positions, &low, &high);
    check_end(positions.list ? "positions" : "length", high, rows, reterr);
    pe_dtype dtype = pe_requested_dtype(values);
    pe_blend blend = pe_blend_of(alpha, dtype);
    if (!pe_values_set(values))
        pe_check_magnitude(values, "alpha",
                           pe_blend_magnitude(&blend, pe_recipe_magnitude(&RECIPE)), reterr);
    pe_plan_add(ret_plan, "encoding", dtype, 2, (uint64_t[]){positions.count, dim});
    pe_plan_add(ret_plan, "basis", dtype, 2, (uint64_t[]){rows, dim});
    ret_plan->state = is_kept(values, rows, dim) ? sizeof(double) * rows * dim : 0;
}

/* ---- rows ---- */

typedef struct hierarchy {
    pe_trained table;
    pe_blend blend;
    uint64_t rows, dim;
    double *kept; /* all elements of a small seeded table, or NULL */
} hierarchy;

static void release(void *context)
{
    hierarchy *state = context;
    if (state)
        free(state->kept);
    free(state);
}

/* Draw the whole seeded table. False: memory ran out, or the runner cancelled it. */
static bool keep_table(hierarchy *state, pe_pace *pace)
{
    double row_price = (double)state->dim * pe_trained_price(pace->values, &RECIPE);
    state->kept = malloc(state->rows * state->dim * sizeof *state->kept);
    for (uint64_t row = 0; state->kept && row < state->rows; row++) {
        if (!pe_pace_go_on(pace, row_price))
            return false;
        pe_trained_row(&state->table, row, 0, state->dim, state->kept + row * state->dim);
    }
    return state->kept != NULL;
}

/* Check that the values which a stored table leads to fit the dtype. */
static void check_table(const hierarchy *state, pe_pace *pace)
{
    double largest = 0, row_price = pe_trained_check_price(pace->values, state->dim);
    for (uint64_t row = 0; row < state->rows; row++) {
        if (!pe_pace_go_on(pace, row_price))
            return;
        largest = fmax(largest, pe_trained_row_magnitude(&state->table, row));
    }
    pe_check_magnitude(pace->values, "parameters", pe_blend_magnitude(&state->blend, largest),
                       pace->reterr);
}

static double price(const pe_values *values, const pe_plan *plan)
{
    const pe_tensor *basis = &plan->tensors[1];
    double drawn = is_kept(values, basis->shape[0], basis->shape[1])
                       ? (double)basis->elements * pe_trained_price(values, &RECIPE)
                       : 0;
    return drawn + pe_trained_check_price(values, basis->elements);
}

static double element_price(const pe_values *values, const pe_plan *plan, size_t tensor)
{
    (void)tensor;
    const pe_tensor *basis = &plan->tensors[1];
    if (is_kept(values, basis->shape[0], basis->shape[1]))
        return BLEND_PRICE;
    return BLEND_PRICE + pe_trained_price(values, &RECIPE);
}

static void *prepare(const pe_values *values, const pe_plan *plan, const pe_runner *runner,
                     pe_error *reterr)
{
    pe_pace pace = pe_pace_of(values, plan, runner, reterr);
    hierarchy *state = calloc(1, sizeof *state);
    if (!state)
        return NULL;
    state->rows = plan->tensors[1].shape[0];
    state->dim = plan->tensors[1].shape[1];
    state->table = pe_trained_of(values, "table", state->dim, &RECIPE);
    state->blend = pe_blend_of(pe_real(values, "alpha"), pe_requested_dtype(values));
    bool good = true;
    if (state->table.stored)
        check_table(state, &pace);
    else if (is_kept(values, state->rows, state->dim))
        good = keep_table(state, &pace);
    if (good && reterr->status == PE_OK)
        return state;
    release(state);
    return NULL;
}

/* Columns [first, first + count) of the table. */
typedef struct part {
    const hierarchy *state;
    uint64_t first;
    size_t count;
} part;

/* The columns of one row of the table, kept or written to `room`. */
static const double *read_part(const part *columns, uint64_t row, double room[PE_BLEND_ENTRIES])
{
    const hierarchy *state = columns->state;
    if (state->kept)
        return state->kept + row * state->dim + columns->first;
    pe_trained_row(&state->table, row, columns->first, columns->count, room);
    return room;
}

/* Write columns of a window of `basis`, each row `stride` bytes after the one before:
 * u_i = (p_i - α p_0)/(1 - α) = p_i + (p_i - p_0) α/(1 - α). */
static void fill_basis(const part *columns, pe_window window, size_t stride, unsigned char *dst)
{
    double first_room[PE_BLEND_ENTRIES], room[PE_BLEND_ENTRIES];
    const double *first = read_part(columns, 0, first_room);
    for (uint64_t r = 0; r < window.rows; r++, dst += stride) {
        const double *row = read_part(columns, window.first + r, room);
        pe_blend_row(&columns->state->blend, row, row, first, columns->count, dst);
    }
}

/* Write columns of a window of `encoding`, each row `stride` bytes after the one before. With
 * k = i·N + j: q_k = α u_i + (1 - α) u_j = p_j + (p_i - p_0) α/(1 - α), which is p_k for k < N.
 */
static void fill_encoding(const part *columns, const pe_positions *positions, pe_window window,
                          size_t stride, unsigned char *dst)
{
    double first_room[PE_BLEND_ENTRIES], coarse_room[PE_BLEND_ENTRIES];
    double fine_room[PE_BLEND_ENTRIES];
    const hierarchy *state = columns->state;
    const double *first = read_part(columns, 0, first_room), *coarse = first;
    uint64_t previous = 0;
    for (uint64_t r = 0; r < window.rows; r++, dst += stride) {
        uint64_t k = (uint64_t)pe_position_at(positions, window.first + r).hi;
        uint64_t i = k / state->rows, j = k % state->rows;
        if (i != previous)
            coarse = read_part(columns, i, coarse_room);
        previous = i;
        const double *fine = read_part(columns, j, fine_room);
        pe_blend_row(&state->blend, fine, i == 0 ? first : coarse, first, columns->count, dst);
    }
}

static void fill(const pe_values *values, const pe_plan *plan, const void *context,
                 pe_window window, void *dst)
{
    pe_error none;
    pe_error_init(&none);
    pe_positions positions = pe_positions_read(values, &none);
    const hierarchy *state = context;
    size_t size = pe_dtype_size(plan->tensors[0].dtype);
    for (uint64_t first = 0; first < state->dim; first += PE_BLEND_ENTRIES) {
        uint64_t rest = state->dim - first;
        part columns = {state, first,
                        rest < PE_BLEND_ENTRIES ? (size_t)rest : PE_BLEND_ENTRIES};
        unsigned char *at = (unsigned char *)dst + first * size;
        if (window.tensor == 0)
            fill_encoding(&columns, &positions, window, state->dim * size, at);
        else
            fill_basis(&columns, window, state->dim * size, at);
    }
}

const pe_scheme pe_scheme_hierarchical = {
    .info =
        {
            .name = "hierarchical",
            .title = "Hierarchical decomposition of learned positions",
            .summary = "A learned table of N rows, extrapolated to N² positions; the first N "
                       "rows are those of the table, bit for bit. The table is random, drawn "
                       "from seed, until parameters names an uploaded set.",
            .family = "absolute",
            .formula = "encoding[r] = alpha * u_i + (1 - alpha) * u_j with i = k div N, "
                       "j = k mod N; basis[i] = u_i = (p_i - alpha * p_0) / (1 - alpha)",
            .convention = "alpha 0.4, as the author chose; positions count from 0",
            .reference = "Su 2020, hierarchical decomposition of BERT's positions, "
                         "kexue.fm/archives/7947",
            .example = "length=12&base_length=4&dim=8",
            .revision = 1,
            PE_LIST(parameter, PARAMETERS),
            PE_LIST(tensor, TENSORS),
        },
    .plan = plan,
    .prepare = prepare,
    .fill = fill,
    .release = release,
    .price = price,
    .element_price = element_price,
    PE_APPLIES(PE_WEIGHTED_ADDITION("length,dim")),
    .streamable = true,
};
