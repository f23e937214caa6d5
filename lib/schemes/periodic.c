/* The periodic encoding: sines only, at dyadic or geometric frequencies. */
#include "waves/fill.h"

#include <stdlib.h>

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

typedef struct periodic {
    pe_wave wave;
    bool dyadic;
    double base;
} periodic;

static void read(const pe_values *values, void *ret_state, pe_plan *plan, pe_error *reterr)
{
    periodic *state = ret_state;
    size_t dim = (size_t)pe_integer(values, "dim");
    state->wave = pe_wave_read(values, dim, PE_WAVE_SINES, reterr);
    state->dyadic = pe_choice(values, "frequencies") == DYADIC;
    state->base = pe_real(values, "base");
    pe_wave_add(plan, &state->wave, "encoding");
    if (state->dyadic) /* in every other row a sine is exactly 0, which only its phase shows */
        pe_plan_price(plan, pe_wave_entry_price(&state->wave) + 1000 / (double)dim);
}

/* The dyadic frequencies: a quarter turn per position in column 0, half as much in each next
 * column. Quarter periods are exact. */
static pe_wide *dyadic(size_t count)
{
    pe_wide *frequencies = malloc(count * sizeof *frequencies);
    for (size_t i = 0; frequencies && i < count; i++)
        frequencies[i] = pe_wide_shift_right((pe_wide){{0, 0, 0, 1ULL << 62}}, (unsigned)i);
    return frequencies;
}

static bool prepare(void *context, pe_pace *pace)
{
    (void)pace;
    periodic *state = context;
    size_t dim = state->wave.count;
    state->wave.frequencies =
        state->dyadic ? dyadic(dim) : pe_wave_geometric(dim, state->base, 1, dim);
    return state->wave.frequencies != NULL;
}

const pe_scheme pe_scheme_periodic = {
    .info =
        {
            .name = "periodic",
            .title = "Periodic positions",
            .summary = "Sines of the position at falling frequencies: a smooth binary counter.",
            .family = "absolute",
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
    .state_size = sizeof(periodic),
    .read = read,
    .prepare = prepare,
    .fill = pe_wave_fill_tensor,
    .release = pe_wave_done,
    PE_APPLIES(PE_ADDITION("length,dim")),
    .errors = PE_ERRORS_OF_ANGLES,
    .streamable = true,
};
