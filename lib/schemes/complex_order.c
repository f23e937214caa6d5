/* The complex-valued word embedding of Wang et al.: in each dimension a word is a wave of its
 * own, r·exp(i(θ + ω·k)) at position k. */
#include "numerics/angle.h"
#include "trained/word_waves.h"
#include "waves/wave.h"

#include <math.h>
#include <stdio.h>

static const char *const SHARINGS[] = {"word_dim", "word", "dim", NULL}; /* pe_sharing */

#define VOCABULARY_MAX 4503599627370496.0 /* 2^52 */

static const pe_parameter PARAMETERS[] = {
    PE_POSITION_PARAMETERS,
    {PE_TRAINED_DIM("amplitude"),
     .help = "number of columns; stored amplitudes have their own"},
    {.name = "vocab",
     .type = PE_INTEGER,
     .required = true,
     .stored = "amplitude",
     .stored_axis = 0,
     .minimum = 1,
     .maximum = VOCABULARY_MAX,
     .unit = "words",
     .help = "number of words; with stored amplitudes, the number of their rows"},
    {.name = "tokens",
     .type = PE_INTEGER_LIST,
     .minimum = 0,
     .maximum = VOCABULARY_MAX,
     .unit = "words",
     .help = "the word of each row, a number below vocab; by default all rows have word 0"},
    {.name = "sharing",
     .type = PE_CHOICE,
     .default_text = "word_dim",
     .choices = SHARINGS,
     .help = "what has a frequency and phase of its own: each word in each dimension, each "
             "word, or "
             "each dimension"},
    {.name = "base",
     .type = PE_REAL,
     .unless = "set",
     .default_text = "10000",
     .minimum = 1,
     .maximum = 1e18,
     .help = "base of the seeded frequencies base^(-2j/dim); with sharing=word it is 1"},
    PE_TRAINED_PARAMETERS("amplitude [vocab, dim]; frequency and, if it is not 0, phase, both "
                          "[vocab, dim], [vocab, 1] or [dim], depending on sharing"),
};

static const pe_tensor_help TENSORS[] = {
    {"real", "[n, dim]", "r_j * cos(theta_j + omega_j * k) for the word of the row"},
    {"imag", "[n, dim]", "r_j * sin(theta_j + omega_j * k) for the word of the row"},
};

static const pe_distribution AMPLITUDE = {.initialiser = PE_NORMAL, .std = 1};

/* ---- the plan ---- */

static double largest_token(const pe_value *tokens)
{
    double largest = 0;
    for (size_t i = 0; tokens->present && i < tokens->count; i++)
        largest = fmax(largest, tokens->items[i]);
    return largest;
}

static void check_tokens(const pe_values *values, uint64_t rows, uint64_t vocabulary,
                         pe_error *reterr)
{
    const pe_value *tokens = pe_value_find(values, "tokens");
    double largest = largest_token(tokens);
    char given[48];
    if (tokens->present && tokens->count != rows) {
        snprintf(given, sizeof given, "%zu item%s", tokens->count,
                 tokens->count == 1 ? "" : "s");
        pe_error_add(reterr, PE_OUT_OF_RANGE, "tokens", given,
                     "a list of %llu words, one for each row", (unsigned long long)rows);
    }
    if (largest >= (double)vocabulary) {
        snprintf(given, sizeof given, "%.0f", largest);
        pe_error_add(reterr, PE_OUT_OF_RANGE, "tokens", given,
                     "a list of words below %llu, which is vocab",
                     (unsigned long long)vocabulary);
    }
}

#define TURNS_PRICE 250 /* of an angle */
#define ENTRY_PRICE 45
#define LONG_PRICE  90  /* of an entry of f64 */
#define EXACT_PRICE 220 /* of an entry at a position that is no integer */

typedef struct complex_order {
    pe_word_waves waves; /* its turns are prepared */
    double base;
    double row_price; /* of checking amplitudes */
} complex_order;

/* Check that the set's frequencies and phases have the shape that `sharing` asks for. */
static bool check_waves(const pe_weights *weights, pe_sharing sharing, uint64_t vocabulary,
                        uint64_t dim, pe_error *reterr)
{
    static const char *const NAMES[] = {"frequency", "phase"};
    const uint64_t matrix[2] = {vocabulary, sharing == PE_EACH_WORD ? 1 : dim},
                   vector[1] = {dim};
    bool good = true;
    for (size_t i = 0; weights->set && i < PE_COUNT(NAMES); i++)
        if (i == 0 || pe_set_tensor_find(weights->set, NAMES[i]))
            good &= pe_trained_check(weights, NAMES[i], sharing == PE_EACH_DIM ? 1 : 2,
                                     sharing == PE_EACH_DIM ? vector : matrix, reterr);
    return good;
}

static bool has_fractions(const pe_positions *positions)
{
    if (!positions->list)
        return positions->offset != floor(positions->offset) ||
               positions->step != floor(positions->step);
    for (uint64_t i = 0; i < positions->count; i++)
        if (positions->list[i] != floor(positions->list[i]))
            return true;
    return false;
}

static void plan_tensors(const pe_word_waves *waves, const pe_weights *weights, pe_plan *plan)
{
    const uint64_t shape[2] = {waves->positions.count, waves->dim};
    double price = waves->dtype == PE_F64 ? LONG_PRICE : ENTRY_PRICE;
    if (has_fractions(&waves->positions))
        price = EXACT_PRICE;
    if (weights->set && waves->sharing != PE_EACH_DIM)
        price += 2 * TURNS_PRICE;
    for (size_t t = 0; t < PE_COUNT(TENSORS); t++) {
        pe_plan_add(plan, TENSORS[t].name, waves->dtype, 2, shape);
        pe_plan_price(plan, price);
    }
    plan->price =
        TURNS_PRICE * (double)waves->dim + pe_trained_check_price(weights, shape[0] * shape[1]);
}

static void read(const pe_values *values, void *ret_state, pe_plan *plan, pe_error *reterr)
{
    size_t before = reterr->count;
    complex_order *state = ret_state;
    pe_word_waves *waves = &state->waves;
    const pe_weights weights = pe_weights_read(values);
    waves->positions = pe_positions_read(values, reterr);
    if (!pe_trained_check(&weights, "amplitude", 2, (const uint64_t[]){0, 0}, reterr) ||
        reterr->count > before)
        return;
    const pe_value *tokens = pe_value_find(values, "tokens");
    uint64_t vocabulary = (uint64_t)pe_get_integer(values, "vocab");
    waves->dim = (uint64_t)pe_get_integer(values, "dim");
    waves->sharing = (pe_sharing)pe_get_choice(values, "sharing");
    waves->tokens = tokens->present ? tokens->items : NULL;
    waves->dtype = weights.dtype;
    waves->amplitude = pe_trained_find(&weights, "amplitude", waves->dim, &AMPLITUDE);
    state->row_price = pe_trained_check_price(&weights, waves->dim);
    if (!check_waves(&weights, waves->sharing, vocabulary, waves->dim, reterr))
        return;
    check_tokens(values, waves->positions.count, vocabulary, reterr);
    pe_trained_check_index("tokens", largest_token(tokens), waves->dim, reterr);
    if (weights.set) {
        waves->frequency.stored = pe_set_tensor_find(weights.set, "frequency");
        waves->phase.stored = pe_set_tensor_find(weights.set, "phase");
    } else {
        state->base = pe_get_real(values, "base");
    }
    plan_tensors(waves, &weights, plan);
}

/* ---- preparing ---- */

/* Convert stored angles to turns once, where all words share them. False: memory ran out, or
 * the runner cancelled it. */
static bool share_turns(const pe_word_waves *state, pe_word_angles *shared, pe_pace *pace)
{
    if (!shared->stored || state->sharing != PE_EACH_DIM)
        return true;
    shared->turns = pe_keep(pace, state->dim, sizeof *shared->turns);
    for (uint64_t j = 0; shared->turns && j < state->dim; j++) {
        if (!pe_pace_may_continue(pace, TURNS_PRICE))
            return false;
        shared->turns[j] = pe_angle_turns(pe_set_element(shared->stored, j));
    }
    return shared->turns != NULL;
}

/* Compute the seeded frequencies of all dimensions. Where a word has one frequency, it is that
 * of dimension 0. False: memory ran out. */
static bool seed_turns(pe_word_waves *state, double base, pe_pace *pace)
{
    state->frequency.turns = pe_wave_geometric(
        pace, state->dim, state->sharing == PE_EACH_WORD ? 1 : base, 2, state->dim);
    return state->frequency.turns != NULL;
}

/* Check that the stored amplitudes of the rows fit the dtype. */
static void check_amplitudes(const complex_order *state, pe_pace *pace)
{
    const pe_word_waves *waves = &state->waves;
    double largest = 0;
    uint64_t rows = waves->tokens ? waves->positions.count : 1;
    for (uint64_t r = 0; r < rows; r++) {
        if (!pe_pace_may_continue(pace, state->row_price))
            return;
        uint64_t token = waves->tokens ? (uint64_t)waves->tokens[r] : 0;
        largest = fmax(largest, pe_trained_row_magnitude(&waves->amplitude, token));
    }
    pe_check_magnitude(waves->dtype, "set", largest, pace->reterr);
}

static bool prepare(void *context, pe_pace *pace)
{
    complex_order *state = context;
    pe_word_waves *waves = &state->waves;
    bool stored = waves->frequency.stored != NULL;
    bool good = stored ? share_turns(waves, &waves->frequency, pace) &&
                             share_turns(waves, &waves->phase, pace)
                       : seed_turns(waves, state->base, pace);
    if (good && !pe_trained_fits(&waves->amplitude, waves->dtype))
        check_amplitudes(state, pace);
    return good && pace->reterr->status == PE_OK;
}

static void fill(const void *state, pe_window window, void *dst)
{
    pe_word_waves_write(&((const complex_order *)state)->waves, window, dst);
}

static const pe_application APPLICATIONS[] = {
    {.kind = PE_APPLY_MULTIPLY,
     .input = "x",
     .axes = "length,dim",
     .result = "real",
     .tensors = {"real"},
     .formula = "real becomes x * real"},
    {.kind = PE_APPLY_MULTIPLY,
     .input = "x",
     .axes = "length,dim",
     .result = "imag",
     .tensors = {"imag"},
     .formula = "imag becomes x * imag"},
};

const pe_scheme pe_scheme_complex_order = {
    .info =
        {
            .name = "complex_order",
            .title = "Complex-valued word embedding with position as phase",
            .summary = "In each dimension, a word is a complex wave of its own, which the "
                       "position rotates. Without a set, the amplitudes are random, drawn "
                       "from seed.",
            .family = "absolute",
            .keywords = "phase, word embedding",
            .formula =
                "real[r, j] + i * imag[r, j] = r_j * exp(i * (theta_j + omega_j * k)), "
                "with the amplitude r, phase theta and frequency omega of the row's word",
            .convention = "frequencies in radians per position; seeded ones are base^(-2j/dim)",
            .reference = "arXiv:1912.12333",
            .example = "length=4&dim=4&vocab=10",
            .revision = 2,
            PE_LIST(parameter, PARAMETERS),
            PE_LIST(tensor, TENSORS),
        },
    PE_HOOKS(complex_order),
    .errors = PE_ERRORS_OF_SUMS,
    PE_LIST(application, APPLICATIONS),
};
