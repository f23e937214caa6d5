/* Rotary position embedding: the cosines and sines that rotate queries and keys. */
#include "numerics/dtype.h"
#include "waves/fill.h"
#include "waves/presets.h"
#include "waves/rotary_extras.h"
#include "waves/rotary_request.h"

static const char *const TEMPERATURES[] = {"llama4", "ministral3", NULL};
enum temperature { LLAMA4, MINISTRAL3 };

static const pe_case YARN_CASES[] = {{.choice = "yarn"}, {.choice = NULL}};
static const pe_case ANY_TEMPERATURE[] = {
    {.choice = "llama4"}, {.choice = "ministral3"}, {.choice = NULL}};

static const pe_parameter PARAMETERS[] = {
    PE_POSITION_PARAMETERS,
    PE_DIM_PARAMETER(2, 2, "number of columns of a head"),
    PE_ROTARY_PARAMETERS,
    {.name = "cos_sin",
     .type = PE_BOOLEAN,
     .help = "true: one tensor cos_sin instead of cos and sin, as the cache of vLLM and of "
             "flash-attention; by default two"},
    {.name = "softmax_factor",
     .type = PE_BOOLEAN,
     .when = "rope_type",
     .cases = YARN_CASES,
     .help = "true: adds the factor by which DeepSeek's code multiplies the scale of the "
             "scores; by default there is none"},
    {.name = "temperature",
     .type = PE_CHOICE,
     .choices = TEMPERATURES,
     .help =
         "adds a factor of queries that grows with the position; llama4: for its layers "
         "without rotation, 1 + beta*ln(1 + floor((k + 1)/L)), L = 8192; ministral3: for "
         "all layers, 1 + beta*ln(1 + floor(k/L)), L = original_max_position_embeddings, or "
         "16384; by default there is none"},
    {.name = "temperature_beta",
     .type = PE_REAL,
     .when = "temperature",
     .cases = ANY_TEMPERATURE,
     .minimum = 0,
     .maximum = 1000,
     .help = "beta of temperature; by default 0.1"},
    {.name = "temperature_length",
     .type = PE_INTEGER,
     .when = "temperature",
     .cases = ANY_TEMPERATURE,
     .minimum = 1,
     .maximum = PE_POSITION_MAX,
     .unit = "positions",
     .help = "L of temperature, unless it is the model's"},
};

static const pe_tensor_help TENSORS[] = {
    {"cos", "[n, dim/2] or [n, dim]", "attention factor times cos(k * w_i)"},
    {"sin", "[n, dim/2] or [n, dim]", "attention factor times sin(k * w_i)"},
    {"cos_sin", "[n, dim]", "all cosines, then all sines; only with cos_sin=true, first then"},
    {"inv_freq", "[dim/2]", "w_i, in radians per position"},
    {"softmax_factor", "[1]",
     "(0.1 * mscale_all_dim * ln(factor) + 1)^2; only with softmax_factor=true"},
    {"temperature", "[n]", "multiplies the query; only with temperature"},
};
enum tensor { COS, SIN, COS_SIN, INV_FREQ, SOFTMAX_FACTOR, TEMPERATURE };

/* ---- the request ---- */

typedef struct rope {
    pe_wave wave; /* of cosines */
    pe_rotary rotary;
    pe_temperature temperature;
    enum tensor kinds[PE_COUNT(TENSORS)]; /* of the request's tensors */

    /* prepared */
    pe_wave tables[3]; /* cos, sin and cos_sin, by kind; they share their frequencies */
} rope;

static pe_temperature read_temperature(const pe_values *values)
{
    bool llama4 = pe_get_choice(values, "temperature") == LLAMA4;
    pe_temperature temperature = {
        .beta = 0.1, .length = llama4 ? 8192 : 16384, .shift = llama4 ? 1 : 0};
    if (!llama4 && pe_is_present(values, "original_max_position_embeddings"))
        temperature.length = pe_get_integer(values, "original_max_position_embeddings");
    if (pe_is_present(values, "temperature_beta"))
        temperature.beta = pe_get_real(values, "temperature_beta");
    if (pe_is_present(values, "temperature_length"))
        temperature.length = pe_get_integer(values, "temperature_length");
    return temperature;
}

static void check_temperature(const pe_positions *positions, pe_error *reterr)
{
    double low, high;
    char given[PE_PRINT_MAX];
    pe_positions_range(positions, &low, &high);
    pe_print_number(given, low);
    if (low < 0)
        pe_error_add(reterr, PE_OUT_OF_RANGE, positions->list ? "positions" : "offset", given,
                     "such that no position is negative with temperature, whose logarithm ends "
                     "there");
}

/* Check what is asked for beside the tables. */
static void check_extras(const pe_values *values, const pe_positions *positions,
                         pe_error *reterr)
{
    if (pe_is_present(values, "temperature"))
        check_temperature(positions, reterr);
    if (pe_get_flag(values, "cos_sin") && pe_get_choice(values, "table") == PE_ROTARY_FULL)
        pe_refuse_value(values, "table", reterr,
                        "half_width with cos_sin=true, whose rows have each value once");
}

static void add_tensor(rope *state, pe_plan *plan, enum tensor kind, size_t rank,
                       const uint64_t *shape)
{
    state->kinds[plan->count] = kind;
    pe_plan_add(plan, TENSORS[kind].name, state->wave.dtype, rank, shape);
    pe_plan_price(plan, kind == TEMPERATURE ? 300 : pe_wave_entry_price(&state->wave));
}

static void plan_tensors(const pe_values *values, rope *state, pe_plan *plan)
{
    const uint64_t pairs = state->rotary.width / 2, rows = state->wave.positions.count;
    uint64_t shape[2] = {rows, state->wave.columns};
    if (pe_get_flag(values, "cos_sin")) {
        shape[1] *= 2;
        add_tensor(state, plan, COS_SIN, 2, shape);
    } else {
        add_tensor(state, plan, COS, 2, shape);
        add_tensor(state, plan, SIN, 2, shape);
    }
    plan->price = PE_WAVE_FREQUENCY_PRICE * (double)shape[1];
    add_tensor(state, plan, INV_FREQ, 1, &pairs);
    if (pe_get_flag(values, "softmax_factor"))
        add_tensor(state, plan, SOFTMAX_FACTOR, 1, (uint64_t[]){1});
    if (pe_is_present(values, "temperature"))
        add_tensor(state, plan, TEMPERATURE, 1, &rows);
}

static void read(const pe_values *values, void *ret_state, pe_plan *plan, pe_error *reterr)
{
    size_t before = reterr->count;
    rope *state = ret_state;
    pe_wave *wave = &state->wave;
    state->rotary = pe_rotary_read(values);
    *wave = pe_wave_read(values, pe_rotary_columns(values, &state->rotary), PE_WAVE_COSINES,
                         reterr);
    wave->count = state->rotary.width / 2;
    wave->still = state->rotary.still;
    wave->copies = pe_rotary_copies(values);
    pe_rotary_check(values, &state->rotary, reterr);
    if (reterr->count == before)
        check_extras(values, &wave->positions, reterr);
    if (reterr->count > before)
        return;
    const dd attention = pe_rotary_attention(&state->rotary);
    wave->amplitude = attention.hi;
    wave->amplitude_rest = attention.lo;
    if (pe_is_present(values, "temperature")) {
        state->temperature = read_temperature(values);
        pe_plan_settle(plan, "temperature_beta", state->temperature.beta);
        pe_plan_settle(plan, "temperature_length", (double)state->temperature.length);
    }
    plan_tensors(values, state, plan);
}

/* ---- tables ---- */

static bool prepare(void *context, pe_pace *pace)
{
    rope *state = context;
    pe_wave *tables = state->tables;
    state->wave.frequencies = pe_keep(pace, state->wave.count, sizeof(pe_wide));
    if (!state->wave.frequencies)
        return false;
    pe_rotary_write_frequencies(&state->rotary, state->wave.frequencies);
    tables[COS] = tables[SIN] = tables[COS_SIN] = state->wave;
    tables[SIN].layout = PE_WAVE_SINES;
    tables[COS_SIN].layout = PE_WAVE_CONCAT_COS_FIRST;
    tables[COS_SIN].still = 0; /* frequencies of 0 are as any others then */
    tables[COS_SIN].columns = tables[COS_SIN].row_columns = state->rotary.width;
    return true;
}

static void fill(const void *context, pe_window window, void *dst)
{
    const rope *state = context;
    const pe_wave *wave = &state->wave;
    enum tensor kind = state->kinds[window.tensor];
    switch (kind) {
    case COS:
    case SIN:
    case COS_SIN:
        pe_wave_fill(&state->tables[kind], window.first, window.rows, dst);
        return;
    case INV_FREQ:
        pe_wave_write_radians(wave->dtype, wave->frequencies + window.first, window.rows, dst);
        return;
    case SOFTMAX_FACTOR:
        pe_round_dd(wave->dtype, pe_rotary_softmax_factor(&state->rotary), dst);
        return;
    case TEMPERATURE:
        pe_temperature_fill(&state->temperature, &wave->positions, wave->dtype, window.first,
                            window.rows, dst);
        return;
    }
}

const pe_scheme pe_scheme_rope = {
    .info =
        {
            .name = "rope",
            .title = "Rotary position embedding (RoPE)",
            .summary = "Cosines and sines that rotate queries and keys in attention, with the "
                       "scalings of long-context models.",
            .family = "rotary",
            .keywords =
                "rotary, YaRN, NTK, dynamic NTK, LongRoPE, PI, position interpolation, linear "
                "scaling, long context, context extension, rope scaling, theta, freqs_cis, "
                "inv_freq, Llama, Llama 3, Mistral, Mixtral, Qwen, Gemma, Phi, DeepSeek, "
                "GPT-NeoX, GPT-J, Falcon, ModernBERT, interleaved, halves, rotate_half",
            .formula = "cos[r, i] = a * cos(k * w_i), sin[r, i] = a * sin(k * w_i), "
                       "w_i = rope_theta^(-2i/dim) scaled by rope_type, a = attention factor "
                       "(1 except for yarn and longrope); a pair is rotated as "
                       "(x, y) -> (x cos - y sin, x sin + y cos)",
            .convention =
                "Hugging Face's keys and half-split columns; applied to projected "
                "queries and keys; mscale and mscale_all_dim are ignored unless both are "
                "above 0",
            .reference = "arXiv:2104.09864, section 3.4; scalings: arXiv:2306.15595, "
                         "arXiv:2309.00071, arXiv:2402.13753",
            .example = "length=4&dim=8",
            .revision = 3,
            PE_LIST(parameter, PARAMETERS),
            PE_LIST(preset, pe_rotary_presets),
            PE_LIST(tensor, TENSORS),
        },
    PE_HOOKS(rope),
    PE_APPLIES(PE_ROTATION("query", "cos", "sin"), PE_ROTATION("key", "cos", "sin")),
    .errors = PE_ERRORS_OF_ANGLES,
};
