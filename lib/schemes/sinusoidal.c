/* The sinusoidal encoding of the Transformer, with the variants of libraries that use it. */
#include "numerics/elementary.h"
#include "waves/fill.h"

#include <math.h>
#include <stdio.h>

static const char *const LAYOUTS[] = {"interleaved", "concat", "concat_cos_first", NULL};
static const pe_wave_layout WAVE_LAYOUTS[] = {PE_WAVE_INTERLEAVED, PE_WAVE_CONCAT,
                                              PE_WAVE_CONCAT_COS_FIRST};
enum layout { INTERLEAVED, CONCAT, CONCAT_COS_FIRST };

static const char *const FREQUENCIES[] = {"vaswani", "tensor2tensor", "per_column", NULL};
enum frequencies { VASWANI, TENSOR2TENSOR, PER_COLUMN };

static const char *const ODD_DIMS[] = {"reject", "truncate", "pad", NULL};
enum odd_dim { REJECT, TRUNCATE, PAD };

static const pe_parameter PARAMETERS[] = {
    PE_POSITION_PARAMETERS,
    PE_DIM_PARAMETER(1, 0, "number of columns; odd_dim says what an odd number means"),
    {.name = "base",
     .type = PE_REAL,
     .default_text = "10000",
     .minimum = 1e-18,
     .maximum = 1e18,
     .help = "base of the geometric frequencies, which rise if it is below 1"},
    {.name = "layout",
     .type = PE_CHOICE,
     .default_text = "interleaved",
     .choices = LAYOUTS,
     .help = "interleaved: sin, cos, sin, cos …; concat: all sines, then all cosines; "
             "concat_cos_first: all cosines, then all sines"},
    {.name = "frequencies",
     .type = PE_CHOICE,
     .default_text = "vaswani",
     .choices = FREQUENCIES,
     .help = "vaswani: base^(-2i/dim); tensor2tensor: base^(-i/(dim/2-1)); per_column: each "
             "column j "
             "has a frequency of its own, base^(-2j/dim)"},
    {.name = "odd_dim",
     .type = PE_CHOICE,
     .default_text = "reject",
     .choices = ODD_DIMS,
     .help = "what an odd dim means; reject: it is refused; truncate: the table of dim+1 "
             "without its last column; pad: the table of dim-1 with a zero column added"},
    {.name = "zero_first_row",
     .type = PE_BOOLEAN,
     .default_text = "false",
     .help = "whether the row of position 0 is all zero"},
    {.name = "amplitude",
     .type = PE_REAL,
     .default_text = "1",
     .minimum = -1e30,
     .maximum = 1e30,
     .help = "factor that multiplies every entry"},
    {.name = "position_scale",
     .type = PE_REAL,
     .default_text = "1",
     .minimum = 1e-6,
     .maximum = 1e6,
     .help = "factor that multiplies every position, such as 1000 for times from 0 to 1"},
};

static const pe_preset PRESETS[] = {
    {"vaswani", "the paper: the same as the defaults", {NULL}},
    {"tensor2tensor",
     "tensor2tensor's get_timing_signal_1d",
     {"layout", "concat", "frequencies", "tensor2tensor", "odd_dim", "pad", NULL}},
    {"fairseq",
     "fairseq's SinusoidalPositionalEmbedding, whose positions begin at padding_idx + 1",
     {"layout", "concat", "frequencies", "tensor2tensor", "odd_dim", "pad", NULL}},
    {"whisper",
     "Whisper's encoder",
     {"layout", "concat", "frequencies", "tensor2tensor", NULL}},
    {"marian", "Hugging Face's Marian", {"layout", "concat", NULL}},
    {"transformer_xl", "columns of Transformer-XL and XLNet", {"layout", "concat", NULL}},
    {"seed_cls",
     "a widespread script: a frequency for each column, row 0 reserved for a class token",
     {"frequencies", "per_column", "zero_first_row", "true", NULL}},
    {"ddpm",
     "timesteps of DDPM; positions are times, which may be fractions",
     {"layout", "concat", "frequencies", "tensor2tensor", "odd_dim", "pad", NULL}},
    {"dit",
     "timesteps of DiT: cosines first",
     {"layout", "concat_cos_first", "odd_dim", "pad", NULL}},
    {"sd3",
     "timesteps of Stable Diffusion 3 from 0 to 1000, as diffusers computes them",
     {"layout", "concat_cos_first", "odd_dim", "pad", NULL}},
    {"flux",
     "timesteps of FLUX from 0 to 1, which it multiplies by 1000",
     {"layout", "concat_cos_first", "odd_dim", "pad", "position_scale", "1000", NULL}},
    {"ggml", "ggml_timestep_embedding", {"layout", "concat_cos_first", "odd_dim", "pad", NULL}},
};

static const pe_tensor_help TENSORS[] = {
    {"encoding", "[n, dim]", "sines and cosines of k * w_i, in the columns that layout says"}};

typedef struct sinusoidal {
    pe_wave wave;
    enum frequencies frequencies;
    double base, scale; /* of positions */
} sinusoidal;

/* The frequencies are base^(-i·numerator/denominator). */
static uint64_t find_numerator(const sinusoidal *state)
{
    return state->frequencies == TENSOR2TENSOR ? 1 : 2;
}

static uint64_t find_denominator(const sinusoidal *state)
{
    const pe_wave *wave = &state->wave;
    return state->frequencies == TENSOR2TENSOR ? wave->count - 1 : wave->columns;
}

/* Scaled positions have a bit to spare below 2^53, and with rising frequencies another one: see
 * pe_wave_scale_positions and pe_wave_set_geometric. */
static void check_scale(const sinusoidal *state, pe_error *reterr)
{
    const bool rising = state->base < 1;
    double low, high, highest = state->scale;
    char given[32];
    if ((state->scale == 1 && !rising) || reterr->count > 0)
        return;
    if (rising)
        highest *= pe_power_double(1 / state->base,
                                   (double)((state->wave.count - 1) * find_numerator(state)) /
                                       (double)find_denominator(state));
    pe_positions_range(&state->wave.positions, &low, &high);
    snprintf(given, sizeof given, "%.17g", rising ? state->base : state->scale);
    if (fmax(-low, high) * highest > PE_POSITION_MAX / (rising ? 4 : 2))
        pe_error_add(reterr, PE_OUT_OF_RANGE, rising ? "base" : "position_scale", given,
                     rising ? "such that every angle is from -2^51 to 2^51 radians"
                            : "such that every position times position_scale is from -2^52 to "
                              "2^52");
}

static void check_columns(const pe_values *values, const sinusoidal *state, pe_error *reterr)
{
    size_t dim = state->wave.row_columns;
    int odd_dim = pe_get_choice(values, "odd_dim");
    if (dim % 2 == 1 && odd_dim == REJECT)
        pe_refuse_value(values, "dim", reterr,
                        "an even number, unless odd_dim=truncate or odd_dim=pad");
    else if (dim == 1 && odd_dim == PAD)
        pe_refuse_value(
            values, "dim", reterr,
            "at least 3 with odd_dim=pad, which would leave nothing but the zero column");
    if (state->frequencies == TENSOR2TENSOR && state->wave.columns < 3)
        pe_refuse_value(values, "dim", reterr,
                        "at least 4 with frequencies=tensor2tensor, since base^(-i/(dim/2-1)) "
                        "needs two frequencies");
    if (state->frequencies == PER_COLUMN && pe_get_choice(values, "layout") != INTERLEAVED)
        pe_refuse_value(values, "layout", reterr,
                        "interleaved with frequencies=per_column, whose columns form no pairs");
}

static void read(const pe_values *values, void *ret_state, pe_plan *plan, pe_error *reterr)
{
    sinusoidal *state = ret_state;
    pe_wave *wave = &state->wave;
    size_t dim = (size_t)pe_get_integer(values, "dim");
    *wave = pe_wave_read(values, dim, WAVE_LAYOUTS[pe_get_choice(values, "layout")], reterr);
    wave->columns -= dim % 2 == 1 && pe_get_choice(values, "odd_dim") == PAD;
    wave->count = (wave->columns + 1) / 2;
    wave->amplitude = pe_get_real(values, "amplitude");
    wave->zero_at_origin = pe_get_flag(values, "zero_first_row");
    state->frequencies = (enum frequencies)pe_get_choice(values, "frequencies");
    state->base = pe_get_real(values, "base");
    state->scale = pe_get_real(values, "position_scale");
    check_columns(values, state, reterr);
    pe_check_magnitude(wave->dtype, "amplitude", fabs(wave->amplitude), reterr);
    pe_wave_add(plan, wave);
    if (state->frequencies == PER_COLUMN) {
        wave->layout = PE_WAVE_ALTERNATING;
        wave->count = wave->columns;
        pe_plan_price(plan, 4 * pe_wave_entry_price(wave));
    }
    check_scale(state, reterr);
}

static bool prepare(void *context, pe_pace *pace)
{
    sinusoidal *state = context;
    pe_wave *wave = &state->wave;
    return pe_wave_set_geometric(wave, state->base, find_numerator(state),
                                 find_denominator(state), pace) &&
           pe_wave_scale_positions(wave, state->scale, pace);
}

const pe_scheme pe_scheme_sinusoidal = {
    .info =
        {
            .name = "sinusoidal",
            .title = "Sinusoidal position encoding",
            .summary =
                "Sines and cosines of the position at geometrically falling frequencies.",
            .family = "absolute",
            .keywords = "sine, cosine, sin, cos, Vaswani, Attention is all you need, "
                        "Transformer, absolute, Whisper encoder, M2M-100, Marian, BART, "
                        "timestep, diffusion, DDPM, Stable Diffusion, DiT",
            .formula =
                "encoding[r, 2i] = amplitude * sin(k * w_i), encoding[r, 2i+1] = amplitude "
                "* cos(k * w_i), w_i = position_scale * base^(-2i/dim)",
            .convention = "interleaved columns, as in the paper; the presets are those of "
                          "libraries that differ",
            .reference = "arXiv:1706.03762, section 3.5",
            .example = "length=4&dim=8",
            .revision = 2,
            PE_LIST(parameter, PARAMETERS),
            PE_LIST(preset, PRESETS),
            PE_LIST(tensor, TENSORS),
        },
    .state_size = sizeof(sinusoidal),
    .read = read,
    .prepare = prepare,
    .fill = pe_wave_fill_tensor,
    PE_APPLIES(PE_ADDITION("length,dim")),
    .errors = PE_ERRORS_OF_ANGLES,
};
