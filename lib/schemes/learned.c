/* The learned encoding: each position has a row of a table, which is stored or drawn. */
#include "positions/positions.h"
#include "trained/trained.h"

#include <math.h>
#include <stdio.h>

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
};

static const pe_preset PRESETS[] = {
    {"opt", "OPT: two rows before position 0", {"row_offset", "2"}},
    {"bart", "BART and mBART: two rows before position 0", {"row_offset", "2"}},
    {"roberta",
     "RoBERTa, XLM-RoBERTa and CamemBERT: position 0 comes after the padding row 1",
     {"row_offset", "2"}},
};

static const pe_tensor_help TENSORS[] = {
    {"encoding", "[n, dim]", "row k + row_offset of the table"}};

typedef struct learned {
    pe_positions positions;
    pe_trained table;
    pe_dtype dtype;
    double row_price; /* of checking a row */
    uint64_t offset;  /* of a position's row */
} learned;

/* Check that the last row is in the table. */
static void check_end(const pe_values *values, const char *culprit, double last,
                      pe_error *reterr)
{
    char given[48], extrapolates[80] = "";
    int64_t rows = pe_get_integer(values, "base_length");
    if (pe_get_choice(values, "extend") == RANDOM || last < (double)rows)
        return;
    int64_t skipped = pe_get_integer(values, "row_offset");
    double wanted = last + 1 - (double)skipped;
    snprintf(given, sizeof given, "last position %.0f", wanted - 1);
    if (skipped == 0 && wanted <= (double)rows * (double)rows)
        snprintf(extrapolates, sizeof extrapolates,
                 "hierarchical with length=%.0f extrapolates it, ", wanted);
    pe_error_add(reterr, PE_OUT_OF_RANGE, culprit, given,
                 "such that every position is below %lld, the number of rows of the table%s; "
                 "the scheme resized with length=%.0f interpolates it, %s"
                 "extend=random draws more rows",
                 (long long)(rows - skipped), skipped ? " from row_offset on" : "", wanted,
                 extrapolates);
}

static pe_distribution read_recipe(const pe_values *values)
{
    const uint64_t rows = (uint64_t)pe_get_integer(values, "base_length");
    return (pe_distribution){.initialiser = (pe_initialiser)pe_get_choice(values, "init"),
                             .std = pe_get_real(values, "std"),
                             .fans = rows + (uint64_t)pe_get_integer(values, "dim")};
}

static void read(const pe_values *values, void *ret_state, pe_plan *plan, pe_error *reterr)
{
    double low, high;
    size_t before = reterr->count;
    learned *state = ret_state;
    pe_positions positions = pe_positions_read_natural(values, reterr);
    const pe_weights weights = pe_weights_read(values);
    if (!pe_trained_check(&weights, "table", 2, (const uint64_t[]){0, 0}, reterr) ||
        reterr->count > before)
        return;
    const uint64_t dim = (uint64_t)pe_get_integer(values, "dim");
    const char *culprit = positions.list ? "positions" : "length";
    const pe_distribution distribution = read_recipe(values);
    bool xavier = distribution.initialiser == PE_XAVIER_UNIFORM ||
                  distribution.initialiser == PE_XAVIER_NORMAL;
    *state = (learned){.positions = positions,
                       .table = pe_trained_find(&weights, "table", dim, &distribution),
                       .dtype = weights.dtype,
                       .row_price = pe_trained_check_price(&weights, dim),
                       .offset = (uint64_t)pe_get_integer(values, "row_offset")};
    pe_positions_range(&positions, &low, &high);
    high += (double)state->offset;
    if (pe_is_present(values, "base_length"))
        check_end(values, culprit, high, reterr);
    else if (xavier)
        pe_refuse_value(values, "base_length", reterr,
                        "given with init=%s, whose scale depends on the number of rows",
                        pe_initialisers[distribution.initialiser]);
    pe_trained_check_index(culprit, high, dim, reterr);
    if (!weights.set || pe_get_choice(values, "extend") == RANDOM)
        pe_check_magnitude(weights.dtype, "std", pe_distribution_magnitude(&distribution),
                           reterr);
    pe_plan_add(plan, "encoding", weights.dtype, 2, (uint64_t[]){positions.count, dim});
    pe_plan_price(plan, pe_trained_price(&weights, &distribution));
    plan->price = pe_trained_check_price(&weights, positions.count * dim);
}

static double row_magnitude(const learned *state, double position)
{
    return pe_trained_row_magnitude(&state->table, (uint64_t)position + state->offset);
}

/* The largest magnitude in the rows of the stored table that the request takes. */
static double stored_magnitude(const learned *state, pe_pace *pace)
{
    const pe_positions *positions = &state->positions;
    double row_price = state->row_price, magnitude = 0, low, high;
    double end = (double)state->table.stored_rows - (double)state->offset;
    if (positions->list) {
        for (uint64_t row = 0; row < positions->count && pe_pace_may_continue(pace, row_price);
             row++)
            if (positions->list[row] < end)
                magnitude = fmax(magnitude, row_magnitude(state, positions->list[row]));
        return magnitude;
    }
    pe_positions_range(positions, &low, &high);
    double step = positions->step == 0 ? 1 : fabs(positions->step);
    for (double at = low; at <= high && at < end && pe_pace_may_continue(pace, row_price);
         at += step)
        magnitude = fmax(magnitude, row_magnitude(state, at));
    return magnitude;
}

static bool prepare(void *context, pe_pace *pace)
{
    learned *state = context;
    if (!pe_trained_fits(&state->table, state->dtype))
        pe_check_magnitude(state->dtype, "set", stored_magnitude(state, pace), pace->reterr);
    return pace->reterr->status == PE_OK;
}

static void fill(const void *context, pe_window window, void *dst)
{
    const learned *state = context;
    const pe_dtype dtype = state->dtype;
    size_t row_bytes = (size_t)state->table.columns * pe_dtype_size(dtype);
    unsigned char *at = dst;
    for (uint64_t r = window.first; r < window.first + window.rows; r++, at += row_bytes) {
        uint64_t row = (uint64_t)pe_position_get(&state->positions, r).hi + state->offset;
        pe_trained_fill(&state->table, dtype, row, 1, at);
    }
}

const pe_scheme pe_scheme_learned = {
    .info =
        {
            .name = "learned",
            .title = "Learned position embedding",
            .summary = "A table with a row for each position: a trained table, or a random "
                       "one to begin training with. Without a set, the table is random, "
                       "drawn from seed.",
            .family = "absolute",
            .keywords = "trained, absolute, BERT, GPT, GPT-2, RoBERTa, OPT, ViT, CLIP, Whisper "
                        "decoder, wpe, position_embeddings, pos_embed, nn.Embedding",
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
    PE_HOOKS(learned),
    PE_APPLIES(PE_ADDITION("length,dim")),
};
