/* The periodic encoding: sines only, at dyadic or geometric frequencies. */
#include "numerics/dtype.h"
#include "numerics/phase.h"
#include "waves/fill.h"

#include <math.h>
#include <string.h>

static const char *const FREQUENCIES[] = {"dyadic", "geometric", NULL};
enum frequencies { DYADIC, GEOMETRIC };

static const pe_parameter PARAMETERS[] = {
    PE_POSITION_PARAMETERS,
    PE_DIM_PARAMETER(1, 0, "number of columns"),
    {.name = "frequencies",
     .type = PE_CHOICE,
     .default_text = "dyadic",
     .choices = FREQUENCIES,
     .help =
         "dyadic: (pi/2) / 2^i, which is a smooth binary counter; geometric: base^(-i/dim)"},
    {.name = "base",
     .type = PE_REAL,
     .default_text = "10000",
     .minimum = 1,
     .maximum = 1e18,
     .help = "base of the geometric frequencies; the dyadic ones do not use it"},
};

static const pe_tensor_help TENSORS[] = {{"encoding", "[n, dim]", "sin(k * w_i) in column i"}};

#define SINE_PRICE 600
#define ZERO_PRICE 400 /* of a sine that may be 0 */

/* The first dyadic columns repeat: column i after 2^(i+2) positions, if these are whole
 * numbers. There a sine is often exactly 0, and no error bound decides how that is rounded. So
 * their rows are computed once, from the sines of multiples of 1/PERIOD turn, and copied. */
#define REPEATED ((size_t)8) /* columns */
#define PERIOD   ((size_t)4 << (REPEATED - 1))

typedef struct periodic {
    pe_wave wave;
    bool dyadic, repeats;
    double base;

    /* prepared */
    pe_wave turning;         /* the columns that do not repeat */
    unsigned char *repeated; /* [PERIOD, columns that repeat]; NULL: none do */
} periodic;

static size_t count_repeated(const periodic *state)
{
    return state->wave.count < REPEATED ? state->wave.count : REPEATED;
}

/* Whether rows repeat, and there are so many that it pays to compute them in advance. */
static bool are_repeated(const periodic *state)
{
    const pe_positions *positions = &state->wave.positions;
    return state->dyadic && state->wave.dtype < PE_DD && !positions->list &&
           positions->count >= 2 * PERIOD && positions->offset == floor(positions->offset) &&
           positions->step == floor(positions->step);
}

static void read(const pe_values *values, void *ret_state, pe_plan *plan, pe_error *reterr)
{
    periodic *state = ret_state;
    size_t dim = (size_t)pe_get_integer(values, "dim");
    state->wave = pe_wave_read(values, dim, PE_WAVE_SINES, reterr);
    state->dyadic = pe_get_choice(values, "frequencies") == DYADIC;
    state->base = pe_get_real(values, "base");
    state->repeats = are_repeated(state);
    pe_wave_add(plan, &state->wave);
    if (state->repeats)
        plan->price += SINE_PRICE * (double)PERIOD;
    else if (state->dyadic) /* in every other row a sine may be 0, which only its phase shows */
        pe_plan_price(plan, pe_wave_entry_price(&state->wave) + ZERO_PRICE / (double)dim);
}

/* The dyadic frequencies: a quarter turn per position in column 0, half as much in each next
 * column. Quarter periods are exact. */
static pe_wide *dyadic(pe_pace *pace, size_t count)
{
    pe_wide *frequencies = pe_keep(pace, count, sizeof *frequencies);
    for (size_t i = 0; frequencies && i < count; i++)
        frequencies[i] = pe_wide_shift_right((pe_wide){{0, 0, 0, 1ULL << 62}}, (unsigned)i);
    return frequencies;
}

/* Compute the columns that repeat at positions 0 … PERIOD - 1. False: memory ran out. */
static bool make_repeated(periodic *state, pe_pace *pace)
{
    const pe_dtype dtype = state->wave.dtype;
    const size_t columns = count_repeated(state), size = pe_dtype_size(dtype);
    unsigned char sines[PERIOD * sizeof(double)], *to = pe_keep(pace, PERIOD * columns, size);
    state->repeated = to;
    for (size_t j = 0; to && j < PERIOD; j++) {
        dd sine, cosine;
        pe_phase_sincos((pe_wide){{0, 0, 0, (uint64_t)j * (UINT64_MAX / PERIOD + 1)}}, &sine,
                        &cosine);
        pe_round_dd(dtype, sine, sines + j * size);
    }
    for (size_t k = 0; to && k < PERIOD; k++)
        for (size_t i = 0; i < columns; i++, to += size)
            memcpy(to, sines + (k << (REPEATED - 1 - i)) % PERIOD * size, size);
    return state->repeated != NULL;
}

static bool prepare(void *context, pe_pace *pace)
{
    periodic *state = context;
    pe_wave *turning = &state->turning;
    size_t dim = state->wave.count;
    state->wave.frequencies =
        state->dyadic ? dyadic(pace, dim) : pe_wave_geometric(pace, dim, state->base, 1, dim);
    if (!state->wave.frequencies || !state->repeats)
        return state->wave.frequencies != NULL;
    *turning = state->wave;
    turning->first_column = count_repeated(state);
    turning->frequencies += turning->first_column;
    turning->count -= turning->first_column;
    turning->columns = turning->count;
    return make_repeated(state, pace);
}

/* Write the columns that repeat. */
static void fill_repeated(const periodic *state, pe_window window, unsigned char *dst)
{
    const pe_positions *positions = &state->wave.positions;
    const size_t row_bytes = pe_wave_row_bytes(&state->wave);
    const size_t bytes = count_repeated(state) * pe_dtype_size(state->wave.dtype);
    const uint64_t step = (uint64_t)(int64_t)positions->step;
    uint64_t position = (uint64_t)(int64_t)positions->offset + window.first * step;
    for (uint64_t r = 0; r < window.rows; r++, position += step)
        memcpy(dst + r * row_bytes, state->repeated + position % PERIOD * bytes, bytes);
}

static void fill(const void *context, pe_window window, void *dst)
{
    const periodic *state = context;
    if (!state->repeated) {
        pe_wave_fill(&state->wave, window.first, window.rows, dst);
        return;
    }
    if (state->turning.count > 0)
        pe_wave_fill(&state->turning, window.first, window.rows, dst);
    fill_repeated(state, window, dst);
}

const pe_scheme pe_scheme_periodic = {
    .info =
        {
            .name = "periodic",
            .title = "Periodic positions",
            .summary = "Sines of the position at falling frequencies: a smooth binary counter.",
            .family = "absolute",
            .keywords = "triangle, sawtooth, square wave, modulo",
            .formula = "encoding[r, i] = sin(k * w_i); w_i = (pi/2) / 2^i (dyadic) or "
                       "base^(-i/dim) (geometric)",
            .convention =
                "sines only; dyadic values at quarter periods are exactly 0 or ±1, and "
                "from column 255 on dyadic frequencies are taken as 0",
            .reference = "a step towards arXiv:1706.03762, section 3.5",
            .example = "length=8&dim=4",
            .revision = 2,
            PE_LIST(parameter, PARAMETERS),
            PE_LIST(tensor, TENSORS),
        },
    PE_HOOKS(periodic),
    PE_APPLIES(PE_ADDITION("length,dim")),
    .errors = PE_ERRORS_OF_ANGLES,
};
