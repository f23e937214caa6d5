/* The complex-valued word embedding of Wang et al.: in each dimension a word is a wave of its
 * own, r·exp(i(θ + ω·k)) at position k. */
#include "kernels/kernel.h"
#include "numerics/angle.h"
#include "numerics/dtype.h"
#include "positions/positions.h"
#include "trained/trained.h"
#include "waves/wave.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const SHARINGS[] = {"word_dim", "word", "dim", NULL};
enum sharing { WORD_DIM, WORD, DIM };

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
     .unless = "parameters",
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

static const pe_recipe AMPLITUDE = {.initialiser = PE_NORMAL, .std = 1};

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
    const pe_value *tokens = pe_value_of(values, "tokens");
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

/* Check that the set's frequencies and phases have the shape that `sharing` asks for. */
static bool check_waves(const pe_values *values, uint64_t vocabulary, uint64_t dim,
                        pe_error *reterr)
{
    static const char *const NAMES[] = {"frequency", "phase"};
    const pe_set *set = pe_values_set(values);
    int sharing = pe_choice(values, "sharing");
    const uint64_t matrix[2] = {vocabulary, sharing == WORD ? 1 : dim}, vector[1] = {dim};
    bool good = true;
    for (size_t i = 0; set && i < PE_COUNT(NAMES); i++)
        if (i == 0 || pe_set_tensor_find(set, NAMES[i]))
            good &= pe_trained_check(values, NAMES[i], sharing == DIM ? 1 : 2,
                                     sharing == DIM ? vector : matrix, reterr);
    return good;
}

static void plan(const pe_values *values, pe_plan *ret_plan, pe_error *reterr)
{
    const uint64_t shape[2] = {0, 0};
    size_t before = reterr->count;
    pe_positions positions = pe_positions_read(values, reterr);
    if (!pe_trained_check(values, "amplitude", 2, shape, reterr) || reterr->count > before)
        return;
    uint64_t dim = (uint64_t)pe_integer(values, "dim");
    uint64_t vocabulary = (uint64_t)pe_integer(values, "vocab");
    if (!check_waves(values, vocabulary, dim, reterr))
        return;
    check_tokens(values, positions.count, vocabulary, reterr);
    pe_trained_check_index("tokens", largest_token(pe_value_of(values, "tokens")), dim, reterr);
    pe_dtype dtype = pe_requested_dtype(values);
    pe_plan_add(ret_plan, "real", dtype, 2, (uint64_t[]){positions.count, dim});
    pe_plan_add(ret_plan, "imag", dtype, 2, (uint64_t[]){positions.count, dim});
}

/* ---- waves ---- */

/* The frequencies or phases of the words. */
typedef struct angles {
    const pe_set_tensor *stored; /* in radians, or NULL */
    pe_wide *turns;              /* of each dimension, where all words share them, or NULL */
} angles;

typedef struct waves {
    pe_trained amplitude;
    pe_positions positions;
    const double *tokens; /* borrowed; NULL: word 0 */
    enum sharing sharing;
    uint64_t dim;
    pe_dtype dtype;
    angles frequency, phase; /* seeded frequencies have turns only, seeded phases are 0 */
} waves;

static void release(void *context)
{
    waves *state = context;
    if (state) {
        free(state->frequency.turns);
        free(state->phase.turns);
    }
    free(state);
}

#define TURNS_PRICE 250 /* of an angle */
#define ENTRY_PRICE 45
#define EXACT_PRICE 220 /* of an entry at a position that is no integer */

static double price(const pe_values *values, const pe_plan *plan)
{
    const pe_tensor *real = &plan->tensors[0];
    return TURNS_PRICE * (double)real->shape[1] +
           pe_trained_check_price(values, real->elements);
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

static double element_price(const pe_values *values, const pe_plan *plan, size_t tensor)
{
    (void)plan, (void)tensor;
    pe_error none;
    pe_error_init(&none);
    pe_positions positions = pe_positions_read(values, &none);
    bool stored = pe_values_set(values) && pe_choice(values, "sharing") != DIM;
    return (has_fractions(&positions) ? EXACT_PRICE : ENTRY_PRICE) +
           (stored ? 2 * TURNS_PRICE : 0);
}

/* Convert stored angles to turns once, where all words share them. False: memory ran out, or
 * the runner cancelled it. */
static bool share_turns(const waves *state, angles *shared, pe_pace *pace)
{
    if (!shared->stored || state->sharing != DIM)
        return true;
    shared->turns = malloc(state->dim * sizeof *shared->turns);
    for (uint64_t j = 0; shared->turns && j < state->dim; j++) {
        if (!pe_pace_go_on(pace, TURNS_PRICE))
            return false;
        shared->turns[j] = pe_angle_turns(pe_set_element(shared->stored, j));
    }
    return shared->turns != NULL;
}

/* Compute the seeded frequencies of all dimensions. Where a word has one frequency, it is that
 * of dimension 0. False: memory ran out. */
static bool seed_turns(waves *state, double base)
{
    state->frequency.turns =
        pe_wave_geometric(state->dim, state->sharing == WORD ? 1 : base, 2, state->dim);
    return state->frequency.turns != NULL;
}

/* Check that the stored amplitudes of the rows fit the dtype. */
static void check_amplitudes(const waves *state, pe_pace *pace)
{
    double largest = 0, row_price = pe_trained_check_price(pace->values, state->dim);
    uint64_t rows = state->tokens ? state->positions.count : 1;
    for (uint64_t r = 0; r < rows; r++) {
        if (!pe_pace_go_on(pace, row_price))
            return;
        uint64_t token = state->tokens ? (uint64_t)state->tokens[r] : 0;
        largest = fmax(largest, pe_trained_row_magnitude(&state->amplitude, token));
    }
    pe_check_magnitude(pace->values, "parameters", largest, pace->reterr);
}

static void *prepare(const pe_values *values, const pe_plan *plan, const pe_runner *runner,
                     pe_error *reterr)
{
    pe_pace pace = pe_pace_of(values, plan, runner, reterr);
    const pe_set *set = pe_values_set(values);
    const pe_value *tokens = pe_value_of(values, "tokens");
    waves *state = malloc(sizeof *state);
    if (!state)
        return NULL;
    uint64_t dim = plan->tensors[0].shape[1];
    *state = (waves){
        .amplitude = pe_trained_of(values, "amplitude", dim, &AMPLITUDE),
        .positions = pe_positions_read(values, reterr),
        .tokens = tokens->present ? tokens->items : NULL,
        .sharing = (enum sharing)pe_choice(values, "sharing"),
        .dim = dim,
        .dtype = pe_requested_dtype(values),
        .frequency = {set ? pe_set_tensor_find(set, "frequency") : NULL, NULL},
        .phase = {set ? pe_set_tensor_find(set, "phase") : NULL, NULL},
    };
    bool good = set ? share_turns(state, &state->frequency, &pace) &&
                          share_turns(state, &state->phase, &pace)
                    : seed_turns(state, pe_real(values, "base"));
    if (good && !pe_trained_fits(&state->amplitude, state->dtype))
        check_amplitudes(state, &pace);
    if (good && reterr->status == PE_OK)
        return state;
    release(state);
    return NULL;
}

/* ---- one entry, exactly ---- */

/* One row of the table: its position and its word. */
typedef struct table_line {
    uint64_t row, token;
    dd position;
    bool whole; /* the position is an integer that a double holds */
} table_line;

/* The index of an angle in its stored tensor. */
static uint64_t stored_index(const waves *state, const table_line *line, uint64_t column)
{
    if (state->sharing == DIM)
        return column;
    return state->sharing == WORD ? line->token : line->token * state->dim + column;
}

/* The angle of a word in a column, in turns. */
static pe_wide turns_of(const waves *state, const angles *angle, const table_line *line,
                        uint64_t column)
{
    if (angle->turns || !angle->stored)
        return angle->turns ? angle->turns[column] : (pe_wide){{0, 0, 0, 0}};
    return pe_angle_turns(pe_set_element(angle->stored, stored_index(state, line, column)));
}

/* ω·k modulo one turn. */
static pe_wide rotation_of(const waves *state, const table_line *line, uint64_t column)
{
    const pe_positions *positions = &state->positions;
    const pe_set_tensor *stored = state->frequency.stored;
    if (line->position.hi == 0 && line->position.lo == 0)
        return (pe_wide){{0, 0, 0, 0}};
    if (!stored)
        return pe_position_phase(positions, line->row, state->frequency.turns[column]);
    if (line->whole)
        return pe_wide_mul_integer(turns_of(state, &state->frequency, line, column),
                                   (int64_t)line->position.hi);
    double omega = pe_set_element(stored, stored_index(state, line, column));
    if (positions->list)
        return pe_angle_turns_of_product(omega, positions->list[line->row]);
    return pe_wide_add(pe_angle_turns_of_product(omega, positions->offset),
                       pe_wide_mul_integer(pe_angle_turns_of_product(omega, positions->step),
                                           (int64_t)line->row));
}

/* θ + ω·k in radians, not reduced modulo a turn: more exact than turns where it is small. */
static dd radians_of(const waves *state, const table_line *line, uint64_t column)
{
    dd radians = line->position;
    uint64_t index = stored_index(state, line, column);
    if (state->frequency.stored) {
        radians = dd_mul_double(radians, pe_set_element(state->frequency.stored, index));
    } else if (memcmp(&state->frequency.turns[column], &PE_WIDE_RADIAN, sizeof(pe_wide)) != 0) {
        radians = dd_mul(radians, pe_phase_radians(state->frequency.turns[column]));
    }
    if (!state->phase.stored)
        return radians;
    return pe_angle_sum(radians, pe_set_element(state->phase.stored, index));
}

#define SMALL 0x1p-20 /* radians: below, a fraction of a turn has too few bits for its sine */

/* Write one entry, rounded once from its own phase in double-double. */
static void write_exactly(const waves *state, const table_line *line, uint64_t column,
                          size_t part, double amplitude, void *dst)
{
    dd parts[2]; /* cos, sin */
    pe_wide phase = pe_wide_add(rotation_of(state, line, column),
                                turns_of(state, &state->phase, line, column));
    dd radians = radians_of(state, line, column);
    if (radians.hi != 0 && fabs(radians.hi) < SMALL)
        pe_angle_small_sincos(radians, &parts[1], &parts[0]);
    else
        pe_phase_sincos(phase, &parts[1], &parts[0]);
    pe_round_dd(state->dtype, dd_mul_double(parts[part], amplitude), dst);
}

/* ---- rows ---- */

/* θ + ω·k modulo one turn: its leading 64 bits are exact, and for f64 nearly all. */
static pe_wide phase_of(const waves *state, const table_line *line, uint64_t column)
{
    pe_wide turns;
    if (line->whole && state->dtype != PE_F64) { /* 128 bits suffice */
        turns = turns_of(state, &state->frequency, line, column);
        turns.limb[0] = turns.limb[1] = 0;
        turns = pe_wide_mul_integer(turns, (int64_t)line->position.hi);
    } else {
        turns = rotation_of(state, line, column);
    }
    if (state->phase.stored)
        turns = pe_wide_add(turns, turns_of(state, &state->phase, line, column));
    return turns;
}

/* A bound of the error of an entry that comes from a seed, relative to its amplitude. */
#define UNCERTAINTY 0x1p-51

/* Round the amplitudes times the cosines or sines. Entries that the error bound leaves
 * uncertain are computed again from their own phases. */
static void round_part(const waves *state, const table_line *line, uint64_t first, size_t count,
                       size_t part, const double *amplitudes, const double *parts,
                       unsigned char *dst)
{
    double low[PE_KERNEL_PAIRS], high[PE_KERNEL_PAIRS];
    unsigned char above[PE_KERNEL_PAIRS * sizeof(double)];
    size_t size = pe_dtype_size(state->dtype);
    for (size_t i = 0; i < count; i++) {
        double margin = fabs(amplitudes[i]) * UNCERTAINTY;
        low[i] = amplitudes[i] * parts[i] - margin;
        high[i] = amplitudes[i] * parts[i] + margin;
    }
    pe_round_row(state->dtype, low, count, dst);
    pe_round_row(state->dtype, high, count, above);
    for (size_t i = 0; i < count; i++)
        if (memcmp(dst + i * size, above + i * size, size) != 0)
            write_exactly(state, line, first + i, part, amplitudes[i], dst + i * size);
}

/* As round_part for f64, from double-double seeds: each is within 2^-104, and its product with
 * the amplitude within 2^-103 of the amplitude. */
static void round_f64_part(const waves *state, const table_line *line, uint64_t first,
                           size_t count, size_t part, const double *amplitudes,
                           const pe_seeds_f64 *seeds, unsigned char *dst)
{
    const double *parts = part ? seeds->sin : seeds->cos;
    const double *rests = part ? seeds->sin_rest : seeds->cos_rest;
    for (size_t i = 0; i < count; i++) {
        dd product = dd_mul_double((dd){parts[i], rests[i]}, amplitudes[i]);
        double margin = fabs(amplitudes[i]) * 0x1p-102;
        double below = product.hi + (product.lo - margin);
        double above = product.hi + (product.lo + margin);
        if (below == above && fabs(below) > 0x1p-900)
            pe_round_row(PE_F64, &below, 1, dst + i * sizeof below);
        else
            write_exactly(state, line, first + i, part, amplitudes[i], dst + i * sizeof below);
    }
}

static table_line line_of(const waves *state, uint64_t row)
{
    dd position = pe_position_at(&state->positions, row);
    bool whole = position.lo == 0 && position.hi == floor(position.hi);
    return (table_line){row, state->tokens ? (uint64_t)state->tokens[row] : 0, position, whole};
}

/* Write columns [first, first + count) of a window's rows. */
static void write_columns(const waves *state, pe_window window, uint64_t first, size_t count,
                          unsigned char *dst)
{
    const pe_kernel *kernel = pe_kernel_get();
    double amplitudes[PE_KERNEL_PAIRS], parts[2][PE_KERNEL_PAIRS]; /* cos, sin */
    uint64_t high[PE_KERNEL_PAIRS], low[PE_KERNEL_PAIRS], token = UINT64_MAX;
    pe_seeds_f64 seeds;
    for (uint64_t r = 0; r < window.rows; r++) {
        table_line line = line_of(state, window.first + r);
        if (line.token != token)
            pe_trained_row(&state->amplitude, line.token, first, count, amplitudes);
        token = line.token;
        for (size_t i = 0; i < count; i++) {
            pe_wide phase = phase_of(state, &line, first + i);
            high[i] = phase.limb[3];
            low[i] = phase.limb[2];
        }
        if (state->dtype == PE_F64) {
            kernel->seed_f64(high, low, count, &seeds);
            round_f64_part(state, &line, first, count, window.tensor, amplitudes, &seeds, dst);
        } else {
            kernel->seed(high, count, parts[1], parts[0]);
            round_part(state, &line, first, count, window.tensor, amplitudes,
                       parts[window.tensor], dst);
        }
        dst += state->dim * pe_dtype_size(state->dtype);
    }
}

static void fill(const pe_values *values, const pe_plan *plan, const void *context,
                 pe_window window, void *dst)
{
    (void)values, (void)plan;
    const waves *state = context;
    for (uint64_t first = 0; first < state->dim; first += PE_KERNEL_PAIRS) {
        uint64_t rest = state->dim - first;
        write_columns(state, window, first,
                      rest < PE_KERNEL_PAIRS ? (size_t)rest : PE_KERNEL_PAIRS,
                      (unsigned char *)dst + first * pe_dtype_size(state->dtype));
    }
}

const pe_scheme pe_scheme_complex_order = {
    .info =
        {
            .name = "complex_order",
            .title = "Complex-valued word embedding with position as phase",
            .summary = "In each dimension, a word is a complex wave of its own, which the "
                       "position rotates. The amplitudes are random, drawn from seed, until "
                       "parameters names an uploaded set.",
            .family = "absolute",
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
    .plan = plan,
    .prepare = prepare,
    .fill = fill,
    .release = release,
    .price = price,
    .element_price = element_price,
    .streamable = true,
};
