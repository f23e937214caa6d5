/* xPos: rotary position embedding whose amplitude falls with the distance of query and key. */
#include "numerics/elementary.h"
#include "waves/growth.h"

#include <math.h>

static const char *const LAYOUTS[] = {"interleaved", "half", NULL};
static const char *const TABLES[] = {"half_width", "full", NULL};
enum table { HALF_WIDTH, FULL };

static const pe_parameter PARAMETERS[] = {
    PE_POSITION_PARAMETERS,
    PE_DIM_PARAMETER(2, 2, "number of columns of a head"),
    PE_BASE_PARAMETER,
    {.name = "scale_base",
     .type = PE_REAL,
     .default_text = "512",
     .minimum = 1,
     .maximum = 1e9,
     .unit = "positions",
     .help = "distance over which the amplitude of frequency i falls to zeta_i"},
    {.name = "gamma",
     .type = PE_REAL,
     .default_text = "0.4",
     .minimum = 0.001,
     .maximum = 1000,
     .help = "zeta_i = (2i/dim + gamma)/(1 + gamma): a large gamma makes all decays slow"},
    {.name = "centre",
     .type = PE_REAL,
     .default_text = "0",
     .minimum = -PE_POSITION_MAX,
     .maximum = PE_POSITION_MAX,
     .unit = "positions",
     .help = "position of amplitude 1, the same for queries and keys; torchscale has (n + 1) "
             "div 2 for a sequence of n positions, others n div 2"},
    {.name = "layout",
     .type = PE_CHOICE,
     .default_text = "interleaved",
     .choices = LAYOUTS,
     .help = "which columns of a full table form a pair; interleaved: 2i and 2i + 1; half: i "
             "and dim/2 + i"},
    {.name = "table",
     .type = PE_CHOICE,
     .default_text = "half_width",
     .choices = TABLES,
     .help = "half_width: one column for each frequency; full: dim columns, so that each value "
             "occurs twice"},
};

static const pe_tensor_help TENSORS[] = {
    {"q_cos", "[n, dim/2] or [n, dim]",
     "of queries: zeta_i^((k-centre)/scale_base) cos(k*w_i)"},
    {"q_sin", "[n, dim/2] or [n, dim]",
     "of queries: zeta_i^((k-centre)/scale_base) sin(k*w_i)"},
    {"k_cos", "[n, dim/2] or [n, dim]", "of keys: zeta_i^((centre-k)/scale_base) cos(k*w_i)"},
    {"k_sin", "[n, dim/2] or [n, dim]", "of keys: zeta_i^((centre-k)/scale_base) sin(k*w_i)"},
    {"scale", "[n, dim/2] or [n, dim]", "zeta_i^((k-centre)/scale_base)"},
    {"inv_freq", "[dim/2]", "w_i, in radians per position"},
};
enum tensor { Q_COS, Q_SIN, K_COS, K_SIN, SCALE, INV_FREQ };

static const pe_growth_table TABLES_OF[] = {
    [Q_COS] = {PE_GROWTH_COSINES, 1},    [Q_SIN] = {PE_GROWTH_SINES, 1},
    [K_COS] = {PE_GROWTH_COSINES, -1},   [K_SIN] = {PE_GROWTH_SINES, -1},
    [SCALE] = {PE_GROWTH_AMPLITUDES, 1},
};

typedef struct xpos {
    pe_growth growth; /* its frequencies and rates are prepared */
    double base, scale_base, gamma;
} xpos;

#define FREQUENCY_PRICE 2000

/* ln(zeta_i)/scale_base. zeta_i = 1 - (dim - 2i)/((1 + gamma)·dim) is near 1 for the last
 * frequencies: pe_log1p keeps the bits of what is missing. */
static dd compute_rate(const xpos *state, size_t i)
{
    double dim = 2 * (double)state->growth.count, gamma = state->gamma;
    dd whole = dd_mul_double(dd_two_sum(1, gamma), dim);
    dd missing = dd_quotient((dd){dim - 2 * (double)i, 0}, whole), log;
    if (missing.hi <= 0x1p-5)
        log = pe_log1p(dd_neg(missing));
    else
        log =
            pe_log(dd_quotient(dd_add((dd){2 * (double)i, 0}, dd_two_prod(gamma, dim)), whole));
    return dd_quotient(log, (dd){state->scale_base, 0});
}

/* Check that the amplitudes of keys and queries fit the dtype: the first frequency's rate is
 * the steepest. */
static void check_amplitude(const pe_values *values, const xpos *state, pe_error *reterr)
{
    dd rate = compute_rate(state, 0);
    pe_growth growth = state->growth;
    growth.count = 1;
    growth.rates = &rate;
    double magnitude = pe_growth_magnitude(&growth);
    if (isfinite(magnitude))
        pe_check_magnitude(growth.dtype, "centre", magnitude, reterr);
    else
        pe_refuse_value(
            values, "centre", reterr,
            "so near to every position that no amplitude is beyond 2^1023; or scale_base "
            "larger");
}

static void plan_tensors(const pe_growth *growth, pe_plan *plan)
{
    const uint64_t pairs = growth->count, copies = growth->copies == PE_WAVE_ONCE ? 1 : 2;
    const uint64_t shape[2] = {growth->positions.count, copies * pairs};
    for (size_t t = 0; t < INV_FREQ; t++) {
        pe_plan_add(plan, TENSORS[t].name, growth->dtype, 2, shape);
        pe_plan_price(plan, pe_growth_entry_price(growth) / (double)copies);
    }
    pe_plan_add(plan, "inv_freq", growth->dtype, 1, &pairs);
    pe_plan_price(plan, 30);
    plan->price = FREQUENCY_PRICE * (double)pairs;
}

static void read(const pe_values *values, void *ret_state, pe_plan *plan, pe_error *reterr)
{
    static const pe_wave_copies COPIES[] = {PE_WAVE_IN_PAIRS, PE_WAVE_IN_HALVES};
    size_t before = reterr->count;
    bool full = pe_get_choice(values, "table") == FULL;
    xpos *state = ret_state;
    state->growth = (pe_growth){
        .positions = pe_positions_read(values, reterr),
        .centre = pe_get_real(values, "centre"),
        .count = (size_t)pe_get_integer(values, "dim") / 2,
        .copies = full ? COPIES[pe_get_choice(values, "layout")] : PE_WAVE_ONCE,
        .dtype = pe_requested_dtype(values),
    };
    state->base = pe_get_real(values, "base");
    state->scale_base = pe_get_real(values, "scale_base");
    state->gamma = pe_get_real(values, "gamma");
    if (reterr->count == before)
        check_amplitude(values, state, reterr);
    plan_tensors(&state->growth, plan);
}

static bool prepare(void *context, pe_pace *pace)
{
    xpos *state = context;
    pe_growth *growth = &state->growth;
    size_t pairs = growth->count;
    growth->frequencies = pe_wave_geometric(pace, pairs, state->base, 2, 2 * pairs);
    growth->rates = pe_keep(pace, pairs, sizeof *growth->rates);
    bool good = growth->frequencies && growth->rates;
    for (size_t i = 0; good && i < pairs; i++) {
        good = pe_pace_may_continue(pace, FREQUENCY_PRICE);
        growth->rates[i] = compute_rate(state, i);
    }
    return good;
}

static void fill(const void *state, pe_window window, void *dst)
{
    const pe_growth *growth = &((const xpos *)state)->growth;
    if (window.tensor == INV_FREQ)
        pe_wave_write_radians(growth->dtype, growth->frequencies + window.first, window.rows,
                              dst);
    else
        pe_growth_fill(growth, TABLES_OF[window.tensor], window.first, window.rows, dst);
}

const pe_scheme pe_scheme_xpos = {
    .info =
        {
            .name = "xpos",
            .title = "xPos: extrapolatable rotary embedding",
            .summary = "Cosines and sines that rotate queries and keys and scale them, so that "
                       "their products fall with the distance.",
            .family = "rotary",
            .keywords =
                "rotary, LeX, length extrapolation, long context, decay, RetNet, Kosmos",
            .formula =
                "q_cos[r, i] = zeta_i^((k - centre)/scale_base) * cos(k * w_i), k_cos[r, i] = "
                "zeta_i^((centre - k)/scale_base) * cos(k * w_i), q_sin and k_sin likewise; "
                "w_i = base^(-2i/dim), zeta_i = (2i/dim + gamma)/(1 + gamma)",
            .convention = "as in torchscale, with pairs of neighbouring columns, rotated as "
                          "(x, y) -> (x cos - y sin, x sin + y cos); centre does not change "
                          "the products of queries and keys",
            .reference = "arXiv:2212.10554, section 3.3",
            .example = "length=4&dim=4",
            .revision = 1,
            PE_LIST(parameter, PARAMETERS),
            PE_LIST(tensor, TENSORS),
        },
    PE_HOOKS(xpos),
    PE_APPLIES(PE_ROTATION("query", "q_cos", "q_sin"), PE_ROTATION("key", "k_cos", "k_sin")),
    .errors = PE_ERRORS_OF_ANGLES,
};
