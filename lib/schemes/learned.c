/* The learned encoding: each position has a row of a table, which is stored or drawn. */
#include "numerics/dtype.h"
#include "positions/positions.h"
#include "trained/trained.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const EXTENSIONS[] = {"reject", "random", NULL};
enum extension { REJECT, RANDOM };

#define BASE_LENGTH_MAX 4503599627370496.0 /* 2^52: fan_in + fan_out is an exact double */
#define ROW_OFFSET_MAX  1048576

static const pe_parameter PARAMETERS[] = {
    PE_POSITION_PARAMETERS,
    {PE_TRAINED_DIM("table"), .help = "number of columns; a stored table has its own"},
    {.name = "init",
     .type = PE_CHOICE,
     .default_text = "normal",
     .choices = pe_initialisers,
     .help = "distribution of rows that are not stored; xavier_… needs base_length"},
    {.name = "std",
     .type = PE_REAL,
     .default_text = "0.02",
     .minimum = 0,
     .maximum = 1e30,
     .help = "standard deviation of normal and uniform, and of trunc_normal before it is cut "
             "at two "
             "standard deviations"},
    PE_TRAINED_PARAMETERS("table [N, dim]"),
    {.name = "base_length",
     .type = PE_INTEGER,
     .stored = "table",
     .stored_axis = 0,
     .minimum = 1,
     .maximum = BASE_LENGTH_MAX,
     .unit = "rows",
     .help = "number of rows N of the table; without it, a seeded table has no end"},
    {.name = "extend",
     .type = PE_CHOICE,
     .default_text = "reject",
     .choices = EXTENSIONS,
     .help = "reject: positions beyond the N rows are refused; random: their rows are drawn by "
             "init, with seed 0 beyond a stored table"},
    {.name = "row_offset",
     .type = PE_INTEGER,
     .default_text = "0",
     .maximum = ROW_OFFSET_MAX,
     .unit = "rows",
     .help = "row of the table for position 0; libraries after fairseq keep rows for padding "
             "before it"},
    {.name = "padding_row",
     .type = PE_INTEGER,
     .maximum = BASE_LENGTH_MAX,
     .help = "row of the table that is zero, whatever is stored or drawn there"},
};

static const pe_preset PRESETS[] = {
    {"opt", "OPT: two rows before position 0", {"row_offset", "2"}},
    {"bart", "BART and mBART: two rows before position 0", {"row_offset", "2"}},
    {"roberta",
     "RoBERTa, XLM-RoBERTa and CamemBERT: position 0 comes after the padding row 1",
     {"row_offset", "2", "padding_row", "1"}},
};

static const pe_tensor_help TENSORS[] = {
    {"encoding", "[n, dim]", "row k + row_offset of the table"}};

static pe_recipe recipe_of(const pe_values *values)
{
    uint64_t rows = 0;
    if (pe_is_present(values, "base_length"))
        rows = (uint64_t)pe_integer(values, "base_length");
    return (pe_recipe){.initialiser = (pe_initialiser)pe_choice(values, "init"),
                       .std = pe_real(values, "std"),
                       .fans = rows + (uint64_t)pe_integer(values, "dim")};
}

/* Check that the last row is in the table. */
static void check_end(const pe_values *values, const char *culprit, double last,
                      pe_error *reterr)
{
    char given[48];
    int64_t rows = pe_integer(values, "base_length");
    if (pe_choice(values, "extend") == RANDOM || last < (double)rows)
        return;
    int64_t skipped = pe_integer(values, "row_offset");
    snprintf(given, sizeof given, "last position %.0f", last - (double)skipped);
    pe_error_add(reterr, PE_OUT_OF_RANGE, culprit, given,
                 "such that every position is below %lld, the number of rows of the table%s; "
                 "extend=random goes beyond it",
                 (long long)(rows - skipped), skipped ? " from row_offset on" : "");
}

static void plan(const pe_values *values, pe_plan *ret_plan, pe_error *reterr)
{
    double low, high;
    size_t before = reterr->count;
    const uint64_t shape[2] = {0, 0};
    pe_positions positions = pe_positions_read_natural(values, reterr);
    if (!pe_trained_check(values, "table", 2, shape, reterr) || reterr->count > before)
        return;
    uint64_t dim = (uint64_t)pe_integer(values, "dim");
    const char *culprit = positions.list ? "positions" : "length";
    pe_recipe recipe = recipe_of(values);
    bool xavier =
        recipe.initialiser == PE_XAVIER_UNIFORM || recipe.initialiser == PE_XAVIER_NORMAL;
    pe_positions_range(&positions, &low, &high);
    high += pe_real(values, "row_offset");
    if (pe_is_present(values, "base_length"))
        check_end(values, culprit, high, reterr);
    else if (xavier)
        pe_error_add(reterr, PE_OUT_OF_RANGE, "base_length", "",
                     "given with init=%s, whose scale depends on the number of rows",
                     pe_initialisers[recipe.initialiser]);
    pe_trained_check_index(culprit, high, dim, reterr);
    if (!pe_values_set(values) || pe_choice(values, "extend") == RANDOM)
        pe_check_magnitude(values, "std", pe_recipe_magnitude(&recipe), reterr);
    pe_plan_add(ret_plan, "encoding", pe_requested_dtype(values), 2,
                (uint64_t[]){positions.count, dim});
}

/* A position's row, and whether it is the one that is zero. */
static uint64_t row_of(const pe_values *values, double position)
{
    return (uint64_t)position + (uint64_t)pe_integer(values, "row_offset");
}

static bool is_padding(const pe_values *values, uint64_t row)
{
    return pe_is_present(values, "padding_row") &&
           row == (uint64_t)pe_integer(values, "padding_row");
}

static double row_magnitude(const pe_values *values, const pe_trained *table, double position)
{
    uint64_t row = row_of(values, position);
    return is_padding(values, row) ? 0 : pe_trained_row_magnitude(table, row);
}

/* The largest magnitude in the rows of the stored table that the request takes. */
static double stored_magnitude(const pe_values *values, const pe_trained *table, pe_pace *pace)
{
    double row_price = pe_trained_check_price(values, table->columns);
    double magnitude = 0, low, high;
    double end = (double)table->stored_rows - pe_real(values, "row_offset");
    pe_error none;
    pe_error_init(&none);
    pe_positions positions = pe_positions_read(values, &none);
    if (positions.list) {
        for (uint64_t row = 0; row < positions.count && pe_pace_go_on(pace, row_price); row++)
            if (positions.list[row] < end)
                magnitude = fmax(magnitude, row_magnitude(values, table, positions.list[row]));
        return magnitude;
    }
    pe_positions_range(&positions, &low, &high);
    double step = positions.step == 0 ? 1 : fabs(positions.step);
    for (double at = low; at <= high && at < end && pe_pace_go_on(pace, row_price); at += step)
        magnitude = fmax(magnitude, row_magnitude(values, table, at));
    return magnitude;
}

static void *prepare(const pe_values *values, const pe_plan *plan, const pe_runner *runner,
                     pe_error *reterr)
{
    pe_pace pace = pe_pace_of(values, plan, runner, reterr);
    pe_recipe recipe = recipe_of(values);
    pe_trained *table = malloc(sizeof *table);
    if (!table)
        return NULL;
    *table = pe_trained_of(values, "table", plan->tensors[0].shape[1], &recipe);
    if (!pe_trained_fits(table, pe_requested_dtype(values)))
        pe_check_magnitude(values, "parameters", stored_magnitude(values, table, &pace),
                           reterr);
    if (reterr->status == PE_OK)
        return table;
    free(table);
    return NULL;
}

static double price(const pe_values *values, const pe_plan *plan)
{
    return pe_trained_check_price(values, plan->tensors[0].elements);
}

static double element_price(const pe_values *values, const pe_plan *plan, size_t tensor)
{
    (void)plan, (void)tensor;
    pe_recipe recipe = recipe_of(values);
    return pe_trained_price(values, &recipe);
}

static void fill(const pe_values *values, const pe_plan *plan, const void *state,
                 pe_window window, void *dst)
{
    pe_error none;
    pe_error_init(&none);
    pe_positions positions = pe_positions_read(values, &none);
    pe_dtype dtype = pe_requested_dtype(values);
    size_t row_bytes = (size_t)plan->tensors[0].shape[1] * pe_dtype_size(dtype);
    unsigned char *at = dst;
    for (uint64_t r = window.first; r < window.first + window.rows; r++, at += row_bytes) {
        uint64_t row = row_of(values, pe_position_at(&positions, r).hi);
        if (is_padding(values, row))
            memset(at, 0, row_bytes);
        else
            pe_trained_fill(state, dtype, row, 1, at);
    }
}

const pe_scheme pe_scheme_learned = {
    .info =
        {
            .name = "learned",
            .title = "Learned position embedding",
            .summary = "A table with a row for each position: a trained table, or a random one "
                       "to begin training with. The table is random, drawn from seed, until "
                       "parameters names an uploaded set.",
            .family = "absolute",
            .formula =
                "encoding[r] = table[k + row_offset]; a seeded table[k, j] depends on nothing "
                "but the seed and the element number k * dim + j",
            .convention = "normal(0, 0.02), the initialisation of BERT and GPT-2",
            .reference = "arXiv:1705.03122, section 3.1; arXiv:1810.04805",
            .example = "length=4&dim=8",
            .revision = 1,
            PE_LIST(parameter, PARAMETERS),
            PE_LIST(preset, PRESETS),
            PE_LIST(tensor, TENSORS),
        },
    .plan = plan,
    .prepare = prepare,
    .fill = fill,
    .price = price,
    .element_price = element_price,
    PE_APPLIES(PE_ADDITION("length,dim")),
    .streamable = true,
};
