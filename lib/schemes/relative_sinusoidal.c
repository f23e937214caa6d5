/* The sinusoidal encoding of the distance between key and query. */
#include "waves/distance_wave.h"

#include <stdlib.h>

static const char *const LAYOUTS[] = {"interleaved", "concat", "concat_cos_first", NULL};
static const pe_wave_layout WAVE_LAYOUTS[] = {PE_WAVE_INTERLEAVED, PE_WAVE_CONCAT,
                                              PE_WAVE_CONCAT_COS_FIRST};

static const pe_parameter PARAMETERS[] = {
    PE_RELATIVE_PARAMETERS,
    PE_DIM_PARAMETER(2, 2, "number of columns"),
    PE_BASE_PARAMETER,
    {.name = "layout",
     .type = PE_CHOICE,
     .default_text = "interleaved",
     .choices = LAYOUTS,
     .help = "interleaved: sin, cos, sin, cos ...; concat: all sines, then all cosines"},
    {.name = "max_distance",
     .type = PE_INTEGER,
     .minimum = 0,
     .maximum = PE_RELATIVE_MAX,
     .unit = "positions",
     .help = "distances beyond ±max_distance are clipped to it; by default none are"},
};

static const pe_tensor_help TENSORS[] = {
    {"encoding", "[queries, keys, dim] or [queries+keys-1, dim]",
     "sines and cosines of the clipped distance"},
    {"distance", "[queries+keys-1]", "key minus query; only with form=compact"},
};

static void plan(const pe_values *values, pe_plan *ret_plan, pe_error *reterr)
{
    pe_relative relative = pe_relative_read(values, reterr);
    pe_relative_add(ret_plan, &relative, "encoding", pe_requested_dtype(values), 0,
                    (uint64_t)pe_integer(values, "dim"));
    pe_relative_add_distance(ret_plan, &relative);
}

typedef struct relative_sinusoidal {
    pe_distance_wave wave;
    pe_toeplitz encoding;
} relative_sinusoidal;

static void release(void *context)
{
    relative_sinusoidal *state = context;
    if (state) {
        pe_toeplitz_done(&state->encoding);
        pe_distance_wave_done(&state->wave);
    }
    free(state);
}

#define FREQUENCY_PRICE 30
#define WAVE_PRICE      2

static double price(const pe_values *values, const pe_plan *plan)
{
    return FREQUENCY_PRICE * (double)pe_integer(values, "dim") +
           pe_toeplitz_price(values, &plan->tensors[0], 1, WAVE_PRICE);
}

static void *prepare(const pe_values *values, const pe_plan *plan, const pe_runner *runner,
                     pe_error *reterr)
{
    pe_pace pace = pe_pace_of(values, plan, runner, reterr);
    relative_sinusoidal *state = calloc(1, sizeof *state);
    if (!state)
        return NULL;
    pe_relative relative = pe_relative_read(values, reterr);
    int64_t high = (int64_t)PE_RELATIVE_MAX;
    if (pe_is_present(values, "max_distance"))
        high = pe_integer(values, "max_distance");
    if (pe_distance_wave_init(&state->wave, pe_requested_dtype(values),
                              (size_t)pe_integer(values, "dim"), pe_real(values, "base"),
                              WAVE_LAYOUTS[pe_choice(values, "layout")], -high, high, 1) &&
        pe_toeplitz_init(&state->encoding, &relative, &plan->tensors[0], 1,
                         pe_distance_wave_write, &state->wave, WAVE_PRICE, &pace))
        return state;
    release(state);
    return NULL;
}

static void fill(const pe_values *values, const pe_plan *plan, const void *context,
                 pe_window window, void *dst)
{
    (void)values, (void)plan;
    const relative_sinusoidal *state = context;
    if (window.tensor == 0)
        pe_toeplitz_fill(&state->encoding, window, dst);
    else
        pe_relative_fill_distance(&state->encoding.relative, window, dst);
}

static const pe_application APPLICATIONS[] = {
    {.kind = PE_APPLY_CONTRACT,
     .input = "query",
     .axes = "queries,dim",
     .result = "scores",
     .result_axes = "queries,keys",
     .tensors = {"encoding"},
     .entry_axes = "queries,keys,dim",
     .formula = "scores[i, j] = query[i] . encoding[i, j]"},
};

const pe_scheme pe_scheme_relative_sinusoidal = {
    .info =
        {
            .name = "relative_sinusoidal",
            .title = "Sinusoidal encoding of distances",
            .summary = "The sinusoidal encoding of the distance from query to key.",
            .family = "relative",
            .formula =
                "encoding[i, j, 2c] = sin(d * w_c), encoding[i, j, 2c+1] = cos(d * w_c), "
                "d = clip(j - i), w_c = base^(-2c/dim)",
            .convention =
                "columns as in the Transformer paper; distance as in Shaw's paper, key "
                "minus query",
            .reference = "arXiv:1706.03762, section 3.5; arXiv:1803.02155",
            .example = "length=4&dim=8",
            .revision = 2,
            PE_LIST(parameter, PARAMETERS),
            PE_LIST(tensor, TENSORS),
        },
    .plan = plan,
    .prepare = prepare,
    .fill = fill,
    .release = release,
    .price = price,
    .applications = APPLICATIONS,
    .application_count = PE_COUNT(APPLICATIONS),
    .streamable = true,
};
