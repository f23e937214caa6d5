/* The hierarchical encoding: a table of N rows that is extrapolated to N² positions. */
#include "kernels/intervals.h"
#include "kernels/kernel.h"
#include "numerics/blend.h"
#include "numerics/dtype.h"
#include "positions/positions.h"
#include "trained/trained.h"

#include <math.h>
#include <stdio.h>

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

static const pe_distribution RECIPE = {.initialiser = PE_NORMAL, .std = 0.02};

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

typedef struct hierarchy {
    pe_positions positions;
    pe_trained table;
    pe_blend blend;
    uint64_t rows, dim;
    bool keeps;       /* all elements of a small seeded table */
    double row_price; /* of reading a row, to keep or to check it */

    /* prepared */
    double *kept;     /* or NULL */
    double magnitude; /* of the table's elements, at most */
} hierarchy;

static void read(const pe_values *values, void *ret_state, pe_plan *plan, pe_error *reterr)
{
    double low, high, alpha = pe_get_real(values, "alpha");
    size_t before = reterr->count;
    hierarchy *state = ret_state;
    if (alpha == 0.5)
        pe_refuse_value(
            values, "alpha", reterr,
            "a number above 0 and below 1 other than 0.5, where rows (i, j) and (j, i) "
            "would be equal");
    pe_positions positions = state->positions = pe_positions_read_natural(values, reterr);
    const pe_weights weights = pe_weights_read(values);
    if (!pe_trained_check(&weights, "table", 2, (const uint64_t[]){0, 0}, reterr) ||
        reterr->count > before)
        return;
    const uint64_t dim = state->dim = (uint64_t)pe_get_integer(values, "dim");
    const uint64_t rows = state->rows = (uint64_t)pe_get_integer(values, "base_length");
    const double element_price = pe_trained_price(&weights, &RECIPE);
    state->table = pe_trained_find(&weights, "table", dim, &RECIPE);
    state->keeps = !weights.set && rows <= KEPT_ELEMENTS / dim;
    state->row_price =
        weights.set ? pe_trained_check_price(&weights, dim) : (double)dim * element_price;
    state->blend = pe_blend_init(alpha, weights.dtype);
    pe_positions_range(&positions, &low, &high);
    check_end(positions.list ? "positions" : "length", high, rows, reterr);
    if (!weights.set)
        pe_check_magnitude(
            weights.dtype, "alpha",
            pe_blend_magnitude(&state->blend, pe_distribution_magnitude(&RECIPE)), reterr);
    for (size_t t = 0; t < PE_COUNT(TENSORS); t++) {
        const uint64_t shape[2] = {t == 0 ? positions.count : rows, dim};
        pe_plan_add(plan, TENSORS[t].name, weights.dtype, 2, shape);
        pe_plan_price(plan, BLEND_PRICE + (state->keeps ? 0 : element_price));
    }
    plan->state = state->keeps ? sizeof(double) * rows * dim : 0;
    plan->price = state->keeps || weights.set ? (double)rows * state->row_price : 0;
}

/* ---- rows ---- */

/* Draw the whole seeded table. False: memory ran out, or the runner cancelled it. */
static bool keep_table(hierarchy *state, pe_pace *pace)
{
    const size_t rows = state->rows, dim = state->dim;
    state->kept = pe_keep(pace, rows * dim, sizeof *state->kept);
    for (size_t row = 0; state->kept && row < rows; row++) {
        if (!pe_pace_may_continue(pace, state->row_price))
            return false;
        pe_trained_row(&state->table, row, 0, dim, state->kept + row * dim);
    }
    return state->kept != NULL;
}

/* Check that the values which a stored table leads to fit the dtype. */
static void check_table(hierarchy *state, pe_pace *pace)
{
    double largest = 0;
    for (uint64_t row = 0; row < state->rows; row++) {
        if (!pe_pace_may_continue(pace, state->row_price))
            return;
        largest = fmax(largest, pe_trained_row_magnitude(&state->table, row));
    }
    state->magnitude = largest;
    pe_check_magnitude(state->blend.dtype, "set", pe_blend_magnitude(&state->blend, largest),
                       pace->reterr);
}

static bool prepare(void *context, pe_pace *pace)
{
    hierarchy *state = context;
    state->magnitude = pe_distribution_magnitude(&RECIPE);
    if (state->keeps)
        return keep_table(state, pace);
    if (state->table.stored)
        check_table(state, pace);
    return pace->reterr->status == PE_OK;
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

/* A row of entries a + (b - p)·α/(1 - α), as pe_blend_row takes them. */
typedef struct blended_row {
    const pe_blend *blend;
    const double *a, *b, *p;
} blended_row;

/* A pe_settle of blended_row. */
static void settle(const void *context, size_t i, void *dst)
{
    const blended_row *row = context;
    pe_blend_row(row->blend, row->a + i, row->b + i, row->p + i, 1, dst);
}

/* Write a row of entries. Those of short dtypes are sums a + r·b - r·p in double first. With
 * the table's magnitude M the products are off by 2·2^-53·r·M each, as r is rounded, too, and
 * the two sums by 2^-53 of M + r·M and of M + 2·r·M: by less than 2^-50·(M + r·M) together. */
static void write_row(const hierarchy *state, const double *a, const double *b, const double *p,
                      size_t count, void *dst)
{
    const pe_blend *blend = &state->blend;
    const blended_row row = {blend, a, b, p};
    const double r = blend->ratio.hi, weights[3] = {1, r, -r}, *const rows[3] = {a, b, p};
    double sums[PE_BLEND_ENTRIES];
    if (!pe_dtype_is_short(blend->dtype)) {
        pe_blend_row(blend, a, b, p, count, dst);
        return;
    }
    pe_kernel_get()->weigh(rows, weights, 3, count, false, sums);
    pe_round_about(blend->dtype, sums, 0x1p-50 * state->magnitude * (1 + r) + 0x1p-1000, count,
                   settle, &row, dst);
}

/* Write columns of a window of `basis`, each row `stride` bytes after the one before:
 * u_i = (p_i - α p_0)/(1 - α) = p_i + (p_i - p_0) α/(1 - α). */
static void fill_basis(const part *columns, pe_window window, size_t stride, unsigned char *dst)
{
    double first_room[PE_BLEND_ENTRIES], room[PE_BLEND_ENTRIES];
    const double *first = read_part(columns, 0, first_room);
    for (uint64_t r = 0; r < window.rows; r++, dst += stride) {
        const double *row = read_part(columns, window.first + r, room);
        write_row(columns->state, row, row, first, columns->count, dst);
    }
}

/* Write columns of a window of `encoding`, each row `stride` bytes after the one before. With
 * k = i·N + j: q_k = α u_i + (1 - α) u_j = p_j + (p_i - p_0) α/(1 - α), which is p_k for k < N.
 */
static void fill_encoding(const part *columns, pe_window window, size_t stride,
                          unsigned char *dst)
{
    double first_room[PE_BLEND_ENTRIES], coarse_room[PE_BLEND_ENTRIES];
    double fine_room[PE_BLEND_ENTRIES];
    const hierarchy *state = columns->state;
    const double *first = read_part(columns, 0, first_room), *coarse = first;
    uint64_t previous = 0;
    for (uint64_t r = 0; r < window.rows; r++, dst += stride) {
        uint64_t k = (uint64_t)pe_position_get(&state->positions, window.first + r).hi;
        uint64_t i = k / state->rows, j = k % state->rows;
        if (i != previous)
            coarse = read_part(columns, i, coarse_room);
        previous = i;
        const double *fine = read_part(columns, j, fine_room);
        write_row(state, fine, i == 0 ? first : coarse, first, columns->count, dst);
    }
}

static void fill(const void *context, pe_window window, void *dst)
{
    const hierarchy *state = context;
    const uint64_t dim = state->dim;
    size_t size = pe_dtype_size(state->blend.dtype);
    for (uint64_t first = 0; first < dim; first += PE_BLEND_ENTRIES) {
        uint64_t rest = dim - first;
        part columns = {state, first,
                        rest < PE_BLEND_ENTRIES ? (size_t)rest : PE_BLEND_ENTRIES};
        unsigned char *at = (unsigned char *)dst + first * size;
        if (window.tensor == 0)
            fill_encoding(&columns, window, dim * size, at);
        else
            fill_basis(&columns, window, dim * size, at);
    }
}

const pe_scheme pe_scheme_hierarchical = {
    .info =
        {
            .name = "hierarchical",
            .title = "Hierarchical decomposition of learned positions",
            .summary = "A learned table of N rows, extrapolated to N² positions; the first N"
                       " rows are those of the table, bit for bit. Without a set, the table "
                       "is random, drawn from seed.",
            .family = "absolute",
            .keywords = "long BERT, extrapolation, long context, Su Jianlin",
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
    PE_HOOKS(hierarchy),
    PE_APPLIES(PE_WEIGHTED_ADDITION("length,dim")),
    .errors = PE_ERRORS_OF_SUMS,
};
