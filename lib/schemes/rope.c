/* Rotary position embedding: the cosines and sines that rotate queries and keys. */
#include "numerics/dtype.h"
#include "relative/relative.h"
#include "waves/fill.h"
#include "waves/rotary_extras.h"
#include "waves/rotary_presets.h"
#include "waves/rotary_request.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const PERMUTATIONS[] = {"half_to_interleaved", "interleaved_to_half", NULL};
static const char *const TEMPERATURES[] = {"llama4", "ministral3", NULL};
enum temperature { LLAMA4, MINISTRAL3 };

static const pe_case YARN_CASES[] = {{.choice = "yarn"}, {.choice = NULL}};

static const pe_parameter PARAMETERS[] = {
    PE_POSITION_PARAMETERS,
    PE_DIM_PARAMETER(2, 2, "number of columns of a head"),
    PE_ROTARY_PARAMETERS,
    {.name = "cos_sin",
     .type = PE_BOOLEAN,
     .help = "true: one tensor cos_sin instead of cos and sin, as the cache of vLLM and of "
             "flash-attention; by default two"},
    {.name = "permutation",
     .type = PE_CHOICE,
     .choices = PERMUTATIONS,
     .help = "adds a tensor that takes the columns of tables and heads from one layout to the "
             "other, and the rows of projections: W[permutation]; by default there is none"},
    {PE_HEADS_PARAMETER, .help = "heads of the permutation, 1 by default: the projection has "
                                 "heads * dim rows"},
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
     .minimum = 0,
     .maximum = 1000,
     .help = "beta of temperature; by default 0.1"},
    {.name = "temperature_length",
     .type = PE_INTEGER,
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
    {"permutation", "[heads*dim]",
     "the column that becomes this one; only with permutation, as index of columns or rows"},
    {"softmax_factor", "[1]",
     "(0.1 * mscale_all_dim * ln(factor) + 1)^2; only with softmax_factor=true"},
    {"temperature", "[n]", "multiplies the query; only with temperature"},
};
enum tensor { COS, SIN, COS_SIN, INV_FREQ, PERMUTATION, SOFTMAX_FACTOR, TEMPERATURE };

/* ---- the request ---- */

static bool is_set(const pe_values *values, const char *name)
{
    return pe_is_present(values, name) && pe_flag(values, name);
}

static uint64_t heads_of(const pe_values *values)
{
    return pe_is_present(values, "heads") ? (uint64_t)pe_integer(values, "heads") : 1;
}

static pe_temperature temperature_of(const pe_values *values)
{
    bool llama4 = pe_choice(values, "temperature") == LLAMA4;
    pe_temperature temperature = {
        .beta = 0.1, .length = llama4 ? 8192 : 16384, .shift = llama4 ? 1 : 0};
    if (!llama4 && pe_is_present(values, "original_max_position_embeddings"))
        temperature.length = pe_integer(values, "original_max_position_embeddings");
    if (pe_is_present(values, "temperature_beta"))
        temperature.beta = pe_real(values, "temperature_beta");
    if (pe_is_present(values, "temperature_length"))
        temperature.length = pe_integer(values, "temperature_length");
    return temperature;
}

/* Refuse a parameter without the one that it belongs to. */
static void check_companion(const pe_values *values, const char *name, const char *other,
                            pe_error *reterr)
{
    char given[PE_PRINT_MAX];
    if (!pe_is_present(values, name) || pe_is_present(values, other))
        return;
    pe_print_number(given, pe_real(values, name));
    pe_error_add(reterr, PE_OUT_OF_RANGE, name, given, "left out without %s", other);
}

static void check_permutation(const pe_values *values, pe_error *reterr)
{
    uint64_t columns = heads_of(values) * (uint64_t)pe_integer(values, "dim");
    char given[32];
    snprintf(given, sizeof given, "%llu", (unsigned long long)heads_of(values));
    if (columns > INT32_MAX)
        pe_error_add(reterr, PE_OUT_OF_RANGE, "heads", given,
                     "such that heads * dim is below 2^31, as the permutation is of i32");
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
    check_companion(values, "heads", "permutation", reterr);
    check_companion(values, "temperature_beta", "temperature", reterr);
    check_companion(values, "temperature_length", "temperature", reterr);
    if (pe_is_present(values, "permutation"))
        check_permutation(values, reterr);
    if (pe_is_present(values, "temperature"))
        check_temperature(positions, reterr);
    if (is_set(values, "cos_sin") && pe_choice(values, "table") == PE_ROTARY_FULL)
        pe_error_add(reterr, PE_OUT_OF_RANGE, "table", "full",
                     "half_width with cos_sin=true, whose rows have each value once");
}

static void plan(const pe_values *values, pe_plan *ret_plan, pe_error *reterr)
{
    size_t before = reterr->count;
    pe_positions positions = pe_positions_read(values, reterr);
    pe_rotary rotary = pe_rotary_read(values);
    const uint64_t shape[2] = {positions.count, pe_rotary_columns(values, &rotary)};
    pe_dtype dtype = pe_requested_dtype(values);
    pe_rotary_check(values, &rotary, reterr);
    if (reterr->count == before)
        check_extras(values, &positions, reterr);
    if (is_set(values, "cos_sin")) {
        pe_plan_add(ret_plan, "cos_sin", dtype, 2, (uint64_t[]){shape[0], 2 * shape[1]});
    } else {
        pe_plan_add(ret_plan, "cos", dtype, 2, shape);
        pe_plan_add(ret_plan, "sin", dtype, 2, shape);
    }
    pe_plan_add(ret_plan, "inv_freq", dtype, 1, (uint64_t[]){rotary.width / 2});
    if (pe_is_present(values, "permutation"))
        pe_plan_add(ret_plan, "permutation", PE_I32, 1,
                    (uint64_t[]){heads_of(values) * (uint64_t)pe_integer(values, "dim")});
    if (is_set(values, "softmax_factor"))
        pe_plan_add(ret_plan, "softmax_factor", dtype, 1, (uint64_t[]){1});
    if (pe_is_present(values, "temperature"))
        pe_plan_add(ret_plan, "temperature", dtype, 1, &positions.count);
}

/* Which tensor of the documentation a request's tensor is. */
static enum tensor kind_of(const pe_plan *plan, size_t tensor)
{
    size_t kind = 0;
    while (strcmp(TENSORS[kind].name, plan->tensors[tensor].name) != 0)
        kind++;
    return (enum tensor)kind;
}

/* ---- tables ---- */

/* The waves of the tables cos, sin and cos_sin, by kind. They share their frequencies. */
typedef struct rope_waves {
    pe_wave tables[3];
} rope_waves;

static void release(void *state)
{
    if (state)
        free(((rope_waves *)state)->tables[COS].frequencies);
    free(state);
}

static void *prepare(const pe_values *values, const pe_plan *plan, const pe_runner *runner,
                     pe_error *reterr)
{
    (void)plan, (void)runner, (void)reterr;
    pe_rotary rotary = pe_rotary_read(values);
    size_t columns = pe_rotary_columns(values, &rotary);
    rope_waves *waves = malloc(sizeof *waves);
    pe_wave *wave = waves ? pe_wave_new(values, columns, PE_WAVE_COSINES, columns) : NULL;
    if (wave) {
        dd attention = pe_rotary_attention(&rotary);
        wave->count = rotary.width / 2;
        wave->still = rotary.still;
        wave->amplitude = attention.hi;
        wave->amplitude_rest = attention.lo;
        wave->copies = pe_rotary_copies(values);
        wave->frequencies = pe_rotary_frequencies(&rotary);
        wave = pe_wave_ready(wave);
    }
    if (!wave) {
        free(waves);
        return NULL;
    }
    waves->tables[COS] = waves->tables[SIN] = waves->tables[COS_SIN] = *wave;
    waves->tables[SIN].layout = PE_WAVE_SINES;
    waves->tables[COS_SIN].layout = PE_WAVE_CONCAT_COS_FIRST;
    waves->tables[COS_SIN].still = 0; /* frequencies of 0 are as any others then */
    waves->tables[COS_SIN].columns = waves->tables[COS_SIN].row_columns = rotary.width;
    free(wave);
    return waves;
}

/* Write the permutation of a request. */
static void fill_permutation(const pe_values *values, pe_window window, void *dst)
{
    pe_rotary rotary = pe_rotary_read(values);
    const pe_rotary_order order = {.dim = (uint64_t)pe_integer(values, "dim"),
                                   .width = rotary.width,
                                   .to_interleaved = pe_choice(values, "permutation") == 0};
    pe_rotary_order_fill(&order, window.first, window.rows, dst);
}

static void fill(const pe_values *values, const pe_plan *plan, const void *state,
                 pe_window window, void *dst)
{
    const rope_waves *waves = state;
    const pe_wave *wave = &waves->tables[COS];
    enum tensor kind = kind_of(plan, window.tensor);
    pe_rotary rotary;
    pe_temperature temperature;
    switch (kind) {
    case COS:
    case SIN:
    case COS_SIN:
        pe_wave_fill(&waves->tables[kind], window.first, window.rows, dst);
        return;
    case INV_FREQ:
        pe_wave_write_radians(wave->dtype, wave->frequencies + window.first, window.rows, dst);
        return;
    case PERMUTATION:
        fill_permutation(values, window, dst);
        return;
    case SOFTMAX_FACTOR:
        rotary = pe_rotary_read(values);
        pe_round_dd(wave->dtype, pe_rotary_softmax_factor(&rotary), dst);
        return;
    case TEMPERATURE:
        temperature = temperature_of(values);
        pe_temperature_fill(&temperature, &wave->positions, wave->dtype, window.first,
                            window.rows, dst);
        return;
    }
}

static double element_price(const pe_values *values, const pe_plan *plan, size_t tensor)
{
    if (kind_of(plan, tensor) == TEMPERATURE)
        return 300;
    return pe_wave_element_price(values, plan, tensor);
}

const pe_scheme pe_scheme_rope = {
    .info =
        {
            .name = "rope",
            .title = "Rotary position embedding (RoPE)",
            .summary = "Cosines and sines that rotate queries and keys in attention, with the "
                       "scalings of long-context models.",
            .family = "rotary",
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
            .revision = 2,
            PE_LIST(parameter, PARAMETERS),
            PE_LIST(preset, pe_rotary_presets),
            PE_LIST(tensor, TENSORS),
        },
    .plan = plan,
    .prepare = prepare,
    .fill = fill,
    .release = release,
    .price = pe_wave_price,
    .element_price = element_price,
    PE_APPLIES(PE_ROTATION("query", "cos", "sin"), PE_ROTATION("key", "cos", "sin")),
    .streamable = true,
};
