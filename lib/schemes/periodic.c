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

static void plan(const pe_values *values, pe_plan *ret_plan, pe_error *reterr)
{
    pe_positions positions = pe_positions_read(values, reterr);
    pe_plan_add(ret_plan, "encoding", pe_requested_dtype(values), 2,
                (uint64_t[]){positions.count, (uint64_t)pe_integer(values, "dim")});
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

static void *prepare(const pe_values *values, const pe_plan *plan, const pe_runner *runner,
                     pe_error *reterr)
{
    (void)runner, (void)reterr;
    size_t dim = (size_t)plan->tensors[0].shape[1];
    pe_wave *wave = pe_wave_new(values, dim, PE_WAVE_SINES, dim);
    if (!wave)
        return NULL;
    if (pe_choice(values, "frequencies") == DYADIC)
        wave->frequencies = dyadic(dim);
    else
        wave->frequencies = pe_wave_geometric(dim, pe_real(values, "base"), 1, dim);
    return pe_wave_ready(wave);
}

/* In every other row a dyadic sine is exactly 0, which only its exact phase shows: such rows
 * take some time of their own. */
static double element_price(const pe_values *values, const pe_plan *plan, size_t tensor)
{
    double price = pe_wave_element_price(values, plan, tensor);
    bool dyadic = pe_choice(values, "frequencies") == DYADIC;
    return dyadic ? price + 1000 / (double)plan->tensors[tensor].shape[1] : price;
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
    .plan = plan,
    .prepare = prepare,
    .fill = pe_wave_fill_tensor,
    .release = pe_wave_free,
    .price = pe_wave_price,
    .element_price = element_price,
    PE_APPLIES(PE_ADDITION("length,dim")),
    .streamable = true,
};
