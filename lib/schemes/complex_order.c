/* The complex-valued word embedding of Wang et al.: every word a wave of its own in each
 * dimension, r·exp(i(θ + ω·k)). */
#include "../angle.h"
#include "../dtype.h"
#include "../kernel.h"
#include "../positions.h"
#include "../trained.h"
#include "../wave.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const SHARINGS[] = {"word_dim", "word", "dim", NULL};
enum sharing { WORD_DIM, WORD, DIM };

#define VOCABULARY_MAX 4503599627370496.0 /* 2^52 */

static const pe_parameter PARAMETERS[] = {
    PE_POSITION_PARAMETERS,
    {PE_TRAINED_DIM("amplitude"), .help = "columns; of stored amplitudes their own"},
    {.name = "vocab",
     .type = PE_INTEGER,
     .required = true,
     .stored = "amplitude",
     .stored_axis = 0,
     .minimum = 1,
     .maximum = VOCABULARY_MAX,
     .unit = "words",
     .help = "number of words; of stored amplitudes their rows"},
    {.name = "tokens",
     .type = PE_INTEGER_LIST,
     .minimum = 0,
     .maximum = VOCABULARY_MAX,
     .unit = "words",
     .help = "the word of each row, below vocab; word 0 everywhere unless given"},
    {.name = "sharing",
     .type = PE_CHOICE,
     .default_text = "word_dim",
     .choices = SHARINGS,
     .help =
         "frequencies and phases for each word and dimension, each word, or each dimension"},
    {.name = "base",
     .type = PE_REAL,
     .unless = "parameters",
     .default_text = "10000",
     .minimum = 1,
     .maximum = 1e18,
     .help = "base of the seeded frequencies base^(-2j/dim); sharing=word has 1 instead"},
    PE_TRAINED_PARAMETERS("amplitude [vocab, dim]; frequency and, unless it is 0, phase, both "
                          "[vocab, dim], [vocab, 1] or [dim] as sharing says"),
};

static const pe_tensor_help TENSORS[] = {
    {"real", "[n, dim]", "r_j * cos(theta_j + omega_j * k) of the row's word"},
    {"imag", "[n, dim]", "r_j * sin(theta_j + omega_j * k)"},
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
        snprintf(given, sizeof given, "%zu items", tokens->count);
        pe_error_add(reterr, PE_OUT_OF_RANGE, "tokens", given,
                     "a word for each of the %llu rows", (unsigned long long)rows);
    }
    if (largest >= (double)vocabulary) {
        snprintf(given, sizeof given, "%.0f", largest);
        pe_error_add(reterr, PE_OUT_OF_RANGE, "tokens", given, "words below %llu (vocab)",
                     (unsigned long long)vocabulary);
    }
}

/* Whether the set's waves have the shape that the sharing wants. */
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

/* A stored tensor of angles in radians, whichever way it is shared. */
typedef struct angles {
    const pe_set_tensor *stored; /* NULL: none */
    pe_wide *turns;              /* one for each dimension, where words share them; or NULL */
} angles;

typedef struct waves {
    pe_trained amplitude;
    pe_positions positions;
    const double *tokens; /* borrowed; NULL: word 0 */
    enum sharing sharing;
    uint64_t dim;
    pe_dtype dtype;
    angles frequency, phase; /* a seeded frequency has only turns, a seeded phase is 0 */
} waves;

static void release(void *state)
{
    waves *made = state;
    if (made) {
        free(made->frequency.turns);
        free(made->phase.turns);
    }
    free(made);
}

/* Turns of what all words share, where they share it. False: memory ran out. */
static bool share_turns(const waves *made, angles *of)
{
    if (!of->stored || made->sharing != DIM)
        return true;
    of->turns = malloc(made->dim * sizeof *of->turns);
    for (uint64_t j = 0; of->turns && j < made->dim; j++)
        of->turns[j] = pe_angle_turns(pe_set_element(of->stored, j));
    return of->turns != NULL;
}

/* Seeded turns of each dimension; one frequency for a word is that of its first dimension. */
static bool seed_turns(waves *made, double base)
{
    made->frequency.turns =
        pe_wave_geometric(made->dim, made->sharing == WORD ? 1 : base, 2, made->dim);
    return made->frequency.turns != NULL;
}

/* Check that the rows' amplitudes, which are stored, fit the dtype. */
static void check_amplitudes(const waves *made, const pe_values *values, pe_error *reterr)
{
    double largest = 0;
    uint64_t rows = made->tokens ? made->positions.count : 1;
    for (uint64_t r = 0; r < rows; r++)
        largest =
            fmax(largest, pe_trained_row_magnitude(
                              &made->amplitude, made->tokens ? (uint64_t)made->tokens[r] : 0));
    pe_check_magnitude(values, "parameters", largest, reterr);
}

static void *prepare(const pe_values *values, const pe_plan *plan, const pe_runner *runner,
                     pe_error *reterr)
{
    (void)runner;
    const pe_set *set = pe_values_set(values);
    const pe_value *tokens = pe_value_of(values, "tokens");
    waves *made = malloc(sizeof *made);
    if (!made)
        return NULL;
    uint64_t dim = plan->tensors[0].shape[1];
    *made = (waves){
        .amplitude = pe_trained_of(values, "amplitude", dim, &AMPLITUDE),
        .positions = pe_positions_read(values, reterr),
        .tokens = tokens->present ? tokens->items : NULL,
        .sharing = (enum sharing)pe_choice(values, "sharing"),
        .dim = dim,
        .dtype = pe_requested_dtype(values),
        .frequency = {set ? pe_set_tensor_find(set, "frequency") : NULL, NULL},
        .phase = {set ? pe_set_tensor_find(set, "phase") : NULL, NULL},
    };
    bool good = set ? share_turns(made, &made->frequency) && share_turns(made, &made->phase)
                    : seed_turns(made, pe_real(values, "base"));
    if (good && !pe_trained_fits(&made->amplitude, made->dtype))
        check_amplitudes(made, values, reterr);
    if (good && reterr->status == PE_OK)
        return made;
    release(made);
    return NULL;
}

/* ---- one entry, exactly ---- */

/* One row of the table: its place and its word. */
typedef struct line {
    uint64_t row, token;
    dd position;
    bool whole; /* the position is an integer that a double holds */
} line;

static uint64_t stored_index(const waves *of, const line *at, uint64_t column)
{
    if (of->sharing == DIM)
        return column;
    return of->sharing == WORD ? at->token : at->token * of->dim + column;
}

static pe_wide turns_of(const waves *of, const angles *angle, const line *at, uint64_t column)
{
    if (angle->turns || !angle->stored)
        return angle->turns ? angle->turns[column] : (pe_wide){{0, 0, 0, 0}};
    return pe_angle_turns(pe_set_element(angle->stored, stored_index(of, at, column)));
}

/* ω·k modulo one turn. */
static pe_wide way_of(const waves *of, const line *at, uint64_t column)
{
    const pe_positions *positions = &of->positions;
    const pe_set_tensor *stored = of->frequency.stored;
    if (!stored)
        return pe_position_phase(positions, at->row, of->frequency.turns[column]);
    if (at->whole)
        return pe_wide_mul_integer(turns_of(of, &of->frequency, at, column),
                                   (int64_t)at->position.hi);
    double omega = pe_set_element(stored, stored_index(of, at, column));
    if (positions->list)
        return pe_angle_turns_of_product(omega, positions->list[at->row]);
    return pe_wide_add(pe_angle_turns_of_product(omega, positions->offset),
                       pe_wide_mul_integer(pe_angle_turns_of_product(omega, positions->step),
                                           (int64_t)at->row));
}

/* θ + ω·k in radians: good where it is small; 0 where turns are better. */
static dd radians_of(const waves *of, const line *at, uint64_t column)
{
    dd way = at->position;
    if (of->frequency.stored) {
        double omega = pe_set_element(of->frequency.stored, stored_index(of, at, column));
        way = dd_mul_double(way, omega);
    } else if (memcmp(&of->frequency.turns[column], &PE_WIDE_RADIAN, sizeof(pe_wide)) != 0) {
        way = dd_mul(way, pe_phase_radians(of->frequency.turns[column]));
    }
    if (!of->phase.stored)
        return way;
    return pe_angle_sum(way, pe_set_element(of->phase.stored, stored_index(of, at, column)));
}

#define SMALL 0x1p-20 /* radians: here a fraction of a turn has too few bits for its sine */

static void write_exactly(const waves *of, const line *at, uint64_t column, size_t part,
                          double amplitude, void *dst)
{
    dd parts[2]; /* cos, sin */
    pe_wide phase = pe_wide_add(way_of(of, at, column), turns_of(of, &of->phase, at, column));
    dd radians = radians_of(of, at, column);
    if (radians.hi != 0 && fabs(radians.hi) < SMALL)
        pe_angle_small_sincos(radians, &parts[1], &parts[0]);
    else
        pe_phase_sincos(phase, &parts[1], &parts[0]);
    pe_round_dd(of->dtype, dd_mul_double(parts[part], amplitude), dst);
}

/* ---- rows ---- */

/* The leading 64 bits of θ + ω·k. */
static uint64_t leading_phase(const waves *of, const line *at, uint64_t column)
{
    pe_wide turns;
    if (at->whole) { /* 128 bits suffice */
        turns = turns_of(of, &of->frequency, at, column);
        turns.limb[0] = turns.limb[1] = 0;
        turns = pe_wide_mul_integer(turns, (int64_t)at->position.hi);
    } else {
        turns = way_of(of, at, column);
    }
    if (of->phase.stored)
        turns = pe_wide_add(turns, turns_of(of, &of->phase, at, column));
    return turns.limb[3];
}

/* An entry from seeds errs by less than this, times its amplitude. */
#define UNCERTAINTY 0x1p-51

/* Round r times the cosines or sines; what may be rounded wrongly is made from its own phase.
 */
static void round_part(const waves *of, const line *at, uint64_t first, size_t count,
                       size_t part, const double *amplitudes, const double *parts,
                       unsigned char *dst)
{
    double low[PE_KERNEL_PAIRS], high[PE_KERNEL_PAIRS];
    unsigned char above[PE_KERNEL_PAIRS * sizeof(double)];
    size_t size = pe_dtype_size(of->dtype);
    double doubt = of->dtype == PE_F64 ? 0 : UNCERTAINTY;
    for (size_t i = 0; i < count; i++) {
        double margin = fabs(amplitudes[i]) * doubt;
        low[i] = amplitudes[i] * parts[i] - margin;
        high[i] = amplitudes[i] * parts[i] + margin;
    }
    pe_round_row(of->dtype, low, count, dst);
    if (of->dtype == PE_F64)
        return;
    pe_round_row(of->dtype, high, count, above);
    for (size_t i = 0; i < count; i++)
        if (memcmp(dst + i * size, above + i * size, size) != 0)
            write_exactly(of, at, first + i, part, amplitudes[i], dst + i * size);
}

static line line_of(const waves *of, uint64_t row)
{
    dd position = pe_position_at(&of->positions, row);
    bool whole = position.lo == 0 && position.hi == floor(position.hi);
    return (line){row, of->tokens ? (uint64_t)of->tokens[row] : 0, position, whole};
}

/* Columns [first, first + count) of a window's rows. */
static void write_columns(const waves *of, pe_window window, uint64_t first, size_t count,
                          unsigned char *dst)
{
    const pe_kernel *kernel = pe_kernel_get();
    double amplitudes[PE_KERNEL_PAIRS], parts[2][PE_KERNEL_PAIRS]; /* cos, sin */
    uint64_t phases[PE_KERNEL_PAIRS], token = UINT64_MAX;
    for (uint64_t r = 0; r < window.rows; r++) {
        line at = line_of(of, window.first + r);
        if (at.token != token)
            pe_trained_row(&of->amplitude, at.token, first, count, amplitudes);
        token = at.token;
        for (size_t i = 0; i < count; i++)
            phases[i] = leading_phase(of, &at, first + i);
        kernel->seed(phases, count, parts[1], parts[0]);
        round_part(of, &at, first, count, window.tensor, amplitudes, parts[window.tensor], dst);
        dst += of->dim * pe_dtype_size(of->dtype);
    }
}

static void fill(const pe_values *values, const pe_plan *plan, const void *state,
                 pe_window window, void *dst)
{
    (void)values, (void)plan;
    const waves *of = state;
    for (uint64_t first = 0; first < of->dim; first += PE_KERNEL_PAIRS) {
        uint64_t rest = of->dim - first;
        write_columns(of, window, first,
                      rest < PE_KERNEL_PAIRS ? (size_t)rest : PE_KERNEL_PAIRS,
                      (unsigned char *)dst + first * pe_dtype_size(of->dtype));
    }
}

const pe_scheme pe_scheme_complex_order = {
    .info =
        {
            .name = "complex_order",
            .title = "Complex-valued word embedding with position as phase",
            .summary = "Every word a complex wave of its own in each dimension: the position "
                       "turns it.",
            .family = "absolute",
            .formula = "real[r, j] + i * imag[r, j] = r_j * exp(i * (theta_j + omega_j * k)), "
                       "with amplitude r, phase theta and frequency omega of the row's word",
            .convention = "frequencies in radians per position; seeded ones base^(-2j/dim)",
            .reference = "arXiv:1912.12333",
            .example = "length=4&dim=4&vocab=10",
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
