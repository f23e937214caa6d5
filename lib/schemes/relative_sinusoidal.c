/* The sinusoidal encoding of the distance between key and query. */
#include "waves/distance_wave.h"

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
    PE_DISTANCE_TENSOR,
};

typedef struct relative_sinusoidal {
    pe_toeplitz encoding;
    pe_dtype dtype;
    size_t dim;
    double base;
    int64_t farthest; /* distances beyond are clipped */
    pe_wave_layout layout;

    /* prepared */
    pe_distance_wave wave;
} relative_sinusoidal;

static void read(const pe_values *values, void *ret_state, pe_plan *plan, pe_error *reterr)
{
    relative_sinusoidal *state = ret_state;
    pe_relative relative = pe_relative_read(values, reterr);
    state->dtype = pe_requested_dtype(values);
    state->dim = (size_t)pe_get_integer(values, "dim");
    state->base = pe_get_real(values, "base");
    state->layout = WAVE_LAYOUTS[pe_get_choice(values, "layout")];
    state->farthest = (int64_t)PE_RELATIVE_MAX;
    if (pe_is_present(values, "max_distance"))
        state->farthest = pe_get_integer(values, "max_distance");
    state->encoding = pe_relative_add(plan, &relative, "encoding", state->dtype, 0, state->dim,
                                      PE_DISTANCE_WAVE_PRICE);
    pe_plan_price(plan, 2);
    pe_relative_add_distance(plan, &relative);
    plan->price += PE_DISTANCE_COLUMN_PRICE * (double)state->dim;
}

static bool prepare(void *context, pe_pace *pace)
{
    relative_sinusoidal *state = context;
    return pe_distance_wave_init(&state->wave, state->dtype, state->dim, state->base,
                                 state->layout, -state->farthest, state->farthest, 1, pace) &&
           pe_toeplitz_init(&state->encoding, pe_distance_wave_write, &state->wave, pace);
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
            .keywords = "music transformer, Conformer, wav2vec, distance, speech",
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
    .state_size = sizeof(relative_sinusoidal),
    .read = read,
    .prepare = prepare,
    .fill = pe_relative_fill,
    PE_LIST(application, APPLICATIONS),
    .errors = PE_ERRORS_OF_ANGLES,
};
