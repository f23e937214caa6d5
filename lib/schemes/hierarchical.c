/* The hierarchical encoding: a table of N rows, extrapolated to N² positions. */
#include "../blend.h"
#include "../dtype.h"
#include "../positions.h"
#include "../trained.h"
#include "../wave.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define ROWS_MAX 2147483648.0 /* 2^31 */
/* a seeded table of up to 8 MiB is drawn once, rows of a larger one whenever they are needed */
#define KEPT_ELEMENTS 1048576

static const pe_parameter PARAMETERS[] = {
    PE_POSITION_PARAMETERS,
    {PE_TRAINED_DIM("table"), .help = "columns; of a stored table its own"},
    {.name = "base_length",
     .type = PE_INTEGER,
     .required = true,
     .stored = "table",
     .stored_axis = 0,
     .minimum = 1,
     .maximum = ROWS_MAX,
     .unit = "rows",
     .help = "rows N of the table; of a stored table its own"},
    {.name = "alpha",
     .type = PE_REAL,
     .default_text = "0.4",
     .minimum = 0,
     .maximum = 1,
     .help = "weight of the coarse part: between 0 and 1, but not 1/2"},
    PE_TRAINED_PARAMETERS("table [N, dim]"),
};

static const pe_tensor_help TENSORS[] = {
    {"encoding", "[n, dim]", "row k of the extrapolated table"},
    {"basis", "[N, dim]", "the vectors u_i that its rows are made of"},
};

static const pe_recipe RECIPE = {.initialiser = PE_NORMAL, .std = 0.02};

static void check_alpha(double alpha, pe_error *reterr)
{
    char given[40];
    if (alpha > 0 && alpha < 1 && alpha != 0.5)
        return;
    snprintf(given, sizeof given, "%g", alpha);
    pe_error_add(reterr, PE_OUT_OF_RANGE, "alpha", given,
                 "between 0 and 1, without these, and not 0.5: there rows (i, j) and (j, i) "
                 "would be equal");
}

static void check_end(const char *culprit, double last, uint64_t rows, pe_error *reterr)
{
    char given[48];
    if ((uint64_t)last / rows < rows)
        return;
    snprintf(given, sizeof given, "last position %.0f", last);
    pe_error_add(reterr, PE_OUT_OF_RANGE, culprit, given,
                 "positions below %llu, the square of the table's %llu rows",
                 (unsigned long long)rows * rows, (unsigned long long)rows);
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
}

/* ---- rows ---- */

typedef struct hierarchy {
    pe_trained table;
    pe_blend blend;
    uint64_t rows, dim;
    double *kept; /* the whole of a small seeded table; or NULL */
} hierarchy;

static void release(void *state)
{
    if (state)
        free(((hierarchy *)state)->kept);
    free(state);
}

static bool keep_table(hierarchy *made)
{
    made->kept = malloc(made->rows * made->dim * sizeof *made->kept);
    for (uint64_t row = 0; made->kept && row < made->rows; row++)
        pe_trained_row(&made->table, row, 0, made->dim, made->kept + row * made->dim);
    return made->kept != NULL;
}

static void check_table(const hierarchy *made, const pe_values *values, pe_error *reterr)
{
    double largest = 0;
    for (uint64_t row = 0; row < made->rows; row++)
        largest = fmax(largest, pe_trained_row_magnitude(&made->table, row));
    pe_check_magnitude(values, "parameters", pe_blend_magnitude(&made->blend, largest), reterr);
}

static void *prepare(const pe_values *values, const pe_plan *plan, const pe_runner *runner,
                     pe_error *reterr)
{
    (void)runner;
    hierarchy *made = calloc(1, sizeof *made);
    if (!made)
        return NULL;
    made->rows = plan->tensors[1].shape[0];
    made->dim = plan->tensors[1].shape[1];
    made->table = pe_trained_of(values, "table", made->dim, &RECIPE);
    made->blend = pe_blend_of(pe_real(values, "alpha"), pe_requested_dtype(values));
    bool good = true;
    if (made->table.stored)
        check_table(made, values, reterr);
    else if (made->rows <= KEPT_ELEMENTS / made->dim)
        good = keep_table(made);
    if (good && reterr->status == PE_OK)
        return made;
    release(made);
    return NULL;
}

/* Some columns of the table. */
typedef struct part {
    const hierarchy *of;
    uint64_t first;
    size_t count;
} part;

static const double *read_part(const part *columns, uint64_t row, double room[PE_BLEND_ENTRIES])
{
    const hierarchy *of = columns->of;
    if (of->kept)
        return of->kept + row * of->dim + columns->first;
    pe_trained_row(&of->table, row, columns->first, columns->count, room);
    return room;
}

/* Columns of the rows of a window of `basis`, each `stride` bytes after the one before:
 * u_i = (p_i - α p_0)/(1 - α) = p_i + (p_i - p_0) α/(1 - α). */
static void fill_basis(const part *columns, pe_window window, size_t stride, unsigned char *dst)
{
    double first_room[PE_BLEND_ENTRIES], room[PE_BLEND_ENTRIES];
    const double *first = read_part(columns, 0, first_room);
    for (uint64_t r = 0; r < window.rows; r++, dst += stride) {
        const double *row = read_part(columns, window.first + r, room);
        pe_blend_row(&columns->of->blend, row, row, first, columns->count, dst);
    }
}

/* The same of `encoding`, with k = i·N + j: q_k = α u_i + (1 - α) u_j
 * = p_j + (p_i - p_0) α/(1 - α), which is p_k for k < N. */
static void fill_encoding(const part *columns, const pe_positions *positions, pe_window window,
                          size_t stride, unsigned char *dst)
{
    double first_room[PE_BLEND_ENTRIES], coarse_room[PE_BLEND_ENTRIES];
    double fine_room[PE_BLEND_ENTRIES];
    const hierarchy *of = columns->of;
    const double *first = read_part(columns, 0, first_room), *coarse = first;
    uint64_t before = 0;
    for (uint64_t r = 0; r < window.rows; r++, dst += stride) {
        uint64_t k = (uint64_t)pe_position_at(positions, window.first + r).hi;
        uint64_t i = k / of->rows, j = k % of->rows;
        if (i != before)
            coarse = read_part(columns, i, coarse_room);
        before = i;
        const double *fine = read_part(columns, j, fine_room);
        pe_blend_row(&of->blend, fine, i == 0 ? first : coarse, first, columns->count, dst);
    }
}

static void fill(const pe_values *values, const pe_plan *plan, const void *state,
                 pe_window window, void *dst)
{
    pe_error none;
    pe_error_init(&none);
    pe_positions positions = pe_positions_read(values, &none);
    const hierarchy *of = state;
    size_t size = pe_dtype_size(plan->tensors[0].dtype);
    for (uint64_t first = 0; first < of->dim; first += PE_BLEND_ENTRIES) {
        uint64_t rest = of->dim - first;
        part columns = {of, first, rest < PE_BLEND_ENTRIES ? (size_t)rest : PE_BLEND_ENTRIES};
        unsigned char *at = (unsigned char *)dst + first * size;
        if (window.tensor == 0)
            fill_encoding(&columns, &positions, window, of->dim * size, at);
        else
            fill_basis(&columns, window, of->dim * size, at);
    }
}

const pe_scheme pe_scheme_hierarchical = {
    .info =
        {
            .name = "hierarchical",
            .title = "Hierarchical decomposition of learned positions",
            .summary = "A learned table of N rows extrapolated to N² positions, its own rows "
                       "kept bit for bit.",
            .family = "absolute",
            .formula = "encoding[r] = alpha * u_i + (1 - alpha) * u_j with i = k div N, "
                       "j = k mod N; basis[i] = u_i = (p_i - alpha * p_0) / (1 - alpha)",
            .convention = "the author's alpha 0.4, positions counted from 0",
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
    .streamable = true,
    .takes_long = true,
};
