/* Rotary position embedding: the cosines and sines that rotate queries and keys. */
#include "numerics/dtype.h"
#include "numerics/phase.h"
#include "waves/fill.h"
#include "waves/rotary.h"
#include "waves/rotary_presets.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static const char *const LAYOUTS[] = {"half", "interleaved", NULL};
enum layout { HALF, INTERLEAVED };
static const char *const TABLES[] = {"half_width", "full", NULL};
enum table { HALF_WIDTH, FULL };
static const char *const TYPES[] = {
    "default",  "linear", "ntk",          "dynamic", "yarn",
    "longrope", "llama3", "proportional", NULL}; /* as pe_rotary_type */

/* ---- the parameters that depend on rope_type ---- */

#define REQUIRED(type)      .choice = (type), .required = true
#define OPTIONAL(type)      .choice = (type)
#define DEFAULT(type, text) .choice = (type), .default_text = (text)
#define CASES(name, ...)    static const pe_case name[] = {__VA_ARGS__, {.choice = NULL}}

CASES(FACTOR, {REQUIRED("linear")}, {REQUIRED("ntk")}, {OPTIONAL("dynamic")},
      {REQUIRED("yarn")}, {OPTIONAL("longrope")}, {DEFAULT("llama3", "8")},
      {DEFAULT("proportional", "1")});
CASES(ORIGINAL, {OPTIONAL("dynamic")}, {REQUIRED("yarn")}, {REQUIRED("longrope")},
      {DEFAULT("llama3", "8192")});
CASES(LONGEST, {OPTIONAL("dynamic")}, {OPTIONAL("longrope")});
CASES(SEQ_LEN, {OPTIONAL("dynamic")}, {REQUIRED("longrope")});
CASES(ALPHA, {OPTIONAL("dynamic")});
CASES(ATTENTION, {OPTIONAL("yarn")}, {OPTIONAL("longrope")});
CASES(MSCALE, {OPTIONAL("yarn")});
CASES(BETA_FAST, {DEFAULT("yarn", "32")});
CASES(BETA_SLOW, {DEFAULT("yarn", "1")});
CASES(TRUNCATE, {DEFAULT("yarn", "true")});
CASES(LOW, {DEFAULT("llama3", "1")});
CASES(HIGH, {DEFAULT("llama3", "4")});
CASES(LISTS, {REQUIRED("longrope")});

#define KEY(key, kind, least, most, its_cases, text)                                           \
    .name = (key), .type = (kind), .minimum = (least), .maximum = (most), .when = "rope_type", \
    .cases = (its_cases), .help = (text)

static const pe_parameter PARAMETERS[] = {
    PE_POSITION_PARAMETERS,
    PE_DIM_PARAMETER(2, 2, "number of columns of a head"),
    {.name = "rope_theta",
     .type = PE_REAL,
     .default_text = "10000",
     .minimum = 1,
     .maximum = 1e18,
     .help = "base of the geometric frequencies"},
    {.name = "layout",
     .type = PE_CHOICE,
     .default_text = "half",
     .choices = LAYOUTS,
     .help =
         "which columns of a full table form a pair; half: i and dim/2 + i; interleaved: 2i "
         "and 2i + 1"},
    {.name = "table",
     .type = PE_CHOICE,
     .default_text = "half_width",
     .choices = TABLES,
     .help = "half_width: one column for each frequency; full: dim columns, so that each value "
             "occurs twice"},
    {.name = "partial_rotary_factor",
     .type = PE_REAL,
     .default_text = "1",
     .maximum = 1,
     .help =
         "part of dim that is rotated: the tables have dim times this many columns, rounded "
         "down to an integer, which must be even; with rope_type=proportional the first "
         "frequencies rotate and the others are 0"},
    {.name = "rope_type",
     .type = PE_CHOICE,
     .default_text = "default",
     .choices = TYPES,
     .help = "how the frequencies are scaled for longer contexts"},
    {KEY("factor", PE_REAL, 1, 1e9, FACTOR, "how many times longer the context becomes")},
    {KEY("original_max_position_embeddings", PE_INTEGER, 1, PE_POSITION_MAX, ORIGINAL,
         "context length that the model was trained with"),
     .unit = "positions"},
    {KEY("max_position_embeddings", PE_INTEGER, 1, PE_POSITION_MAX, LONGEST,
         "dynamic: as original_max_position_embeddings; longrope: factor is this by the "
         "original one, unless factor is given"),
     .unit = "positions"},
    {KEY("seq_len", PE_INTEGER, 1, PE_POSITION_MAX, SEQ_LEN, "length of the current sequence"),
     .unit = "positions"},
    {KEY("alpha", PE_REAL, 1, 1e9, ALPHA,
         "as in Hunyuan: theta grows by alpha^(d/(d-2)) for every sequence, and the other keys "
         "of rope_type=dynamic are ignored")},
    {KEY("attention_factor", PE_REAL, 1e-30, 1e30, ATTENTION,
         "factor of cosines and sines; follows from the other keys where it is not given")},
    {KEY("mscale", PE_REAL, 0, 1000, MSCALE,
         "numerator of the attention factor; as in Hugging Face's code ignored unless both it "
         "and mscale_all_dim are above 0"),
     .unless = "attention_factor"},
    {KEY("mscale_all_dim", PE_REAL, 0, 1000, MSCALE,
         "denominator of the attention factor; ignored unless both it and mscale are above 0"),
     .unless = "attention_factor"},
    {KEY("beta_fast", PE_REAL, 0.001, 1e9, BETA_FAST,
         "frequencies with more rotations than this over the original length are kept")},
    {KEY("beta_slow", PE_REAL, 0.001, 1e9, BETA_SLOW,
         "frequencies with fewer rotations than this over the original length are divided by "
         "factor")},
    {KEY("truncate", PE_BOOLEAN, 0, 0, TRUNCATE,
         "round the bounds between these to whole indices; where the lower bound exceeds the "
         "last column (a small rope_theta), all frequencies are divided, as in Hugging Face's "
         "code")},
    {KEY("low_freq_factor", PE_REAL, 0.001, 1e6, LOW,
         "frequencies with fewer rotations than this over the original length are divided by "
         "factor")},
    {KEY("high_freq_factor", PE_REAL, 0.001, 1e6, HIGH,
         "frequencies with more rotations than this over the original length are kept")},
    {KEY("short_factor", PE_REAL_LIST, 0.5, 1e9, LISTS,
         "dim/2 divisors of the frequencies, for a seq_len up to the original length")},
    {KEY("long_factor", PE_REAL_LIST, 0.5, 1e9, LISTS,
         "dim/2 divisors of the frequencies, for a seq_len beyond the original length")},
};

static const pe_tensor_help TENSORS[] = {
    {"cos", "[n, dim/2] or [n, dim]", "attention factor times cos(k * w_i)"},
    {"sin", "[n, dim/2] or [n, dim]", "attention factor times sin(k * w_i)"},
    {"inv_freq", "[dim/2]", "w_i, in radians per position"},
};
enum tensor { COS, SIN, INV_FREQ };

/* ---- the request ---- */

/* The number of rotated columns, which may be fractional: the double product that Hugging Face
 * cuts to int(dim * partial_rotary_factor). */
static double rotary_part(const pe_values *values)
{
    return (double)pe_integer(values, "dim") * pe_real(values, "partial_rotary_factor");
}

/* The value of a parameter, 0 where rope_type does not use it. */
static double real_or_0(const pe_values *values, const char *name)
{
    return pe_is_present(values, name) ? pe_real(values, name) : 0;
}

static int64_t integer_or_0(const pe_values *values, const char *name)
{
    return pe_is_present(values, name) ? pe_integer(values, name) : 0;
}

static pe_rotary read_rotary(const pe_values *values)
{
    pe_rotary rotary = {
        .type = (pe_rotary_type)pe_choice(values, "rope_type"),
        .width = (size_t)rotary_part(values),
        .theta = pe_real(values, "rope_theta"),
        .factor = real_or_0(values, "factor"),
        .original = integer_or_0(values, "original_max_position_embeddings"),
        .longest = integer_or_0(values, "max_position_embeddings"),
        .seq_len = integer_or_0(values, "seq_len"),
        .alpha = real_or_0(values, "alpha"),
        .beta_fast = real_or_0(values, "beta_fast"),
        .beta_slow = real_or_0(values, "beta_slow"),
        .truncate = pe_is_present(values, "truncate") && pe_flag(values, "truncate"),
        .mscale = real_or_0(values, "mscale"),
        .mscale_all_dim = real_or_0(values, "mscale_all_dim"),
        .low_freq_factor = real_or_0(values, "low_freq_factor"),
        .high_freq_factor = real_or_0(values, "high_freq_factor"),
    };
    if (rotary.type == PE_ROTARY_DYNAMIC && rotary.original == 0)
        rotary.original = rotary.longest;
    if (rotary.type == PE_ROTARY_PROPORTIONAL) {
        rotary.width = (size_t)pe_integer(values, "dim");
        rotary.still = rotary.width / 2 - (size_t)floor(rotary_part(values) / 2);
    }
    if (rotary.type == PE_ROTARY_LONGROPE) {
        bool beyond = rotary.seq_len > rotary.original;
        rotary.divisors = pe_value_of(values, beyond ? "long_factor" : "short_factor")->items;
    }
    return rotary;
}

/* ---- rules between parameters ---- */

/* Add a problem with a number, which may be absent. */
static void refuse(const pe_values *values, const char *name, const char *rule,
                   pe_error *reterr)
{
    char shown[PE_PRINT_MAX] = "";
    if (pe_is_present(values, name))
        pe_print_number(shown, pe_real(values, name));
    pe_error_add(reterr, PE_OUT_OF_RANGE, name, shown, "%s", rule);
}

static void check_width(const pe_values *values, const pe_rotary *rotary, pe_error *reterr)
{
    if (rotary->type == PE_ROTARY_PROPORTIONAL)
        return;
    if (rotary->width < 2 || rotary->width % 2 != 0)
        refuse(values, "partial_rotary_factor",
               "such that dim * partial_rotary_factor, rounded down, is an even number of "
               "columns, at least 2",
               reterr);
    else if (rotary->width == 2 &&
             (rotary->type == PE_ROTARY_NTK || rotary->type == PE_ROTARY_DYNAMIC))
        refuse(
            values, "dim",
            "such that at least 4 columns turn with rope_type=ntk or dynamic, whose exponent "
            "is dim/(dim-2)",
            reterr);
}

static void check_dynamic(const pe_values *values, const pe_rotary *rotary, pe_error *reterr)
{
    bool both = pe_is_present(values, "original_max_position_embeddings") &&
                pe_is_present(values, "max_position_embeddings");
    if (pe_is_present(values, "alpha"))
        return;
    if (!pe_is_present(values, "factor"))
        refuse(values, "factor", "given with rope_type=dynamic, unless alpha is given", reterr);
    if (!pe_is_present(values, "seq_len"))
        refuse(values, "seq_len", "given with rope_type=dynamic, unless alpha is given",
               reterr);
    if (both)
        refuse(values, "max_position_embeddings",
               "left out with original_max_position_embeddings, which means the same with "
               "rope_type=dynamic",
               reterr);
    else if (rotary->original == 0)
        refuse(values, "original_max_position_embeddings",
               "given with rope_type=dynamic, unless max_position_embeddings or alpha is given",
               reterr);
}

static void check_yarn(const pe_values *values, const pe_rotary *rotary, pe_error *reterr)
{
    if (rotary->beta_fast < rotary->beta_slow)
        refuse(values, "beta_fast", "at least beta_slow", reterr);
    if (rotary->theta == 1)
        refuse(values, "rope_theta",
               "above 1 with rope_type=yarn, which divides by its logarithm", reterr);
}

static void check_list(const pe_values *values, const char *name, size_t wanted,
                       pe_error *reterr)
{
    char given[40];
    size_t count = pe_value_of(values, name)->count;
    snprintf(given, sizeof given, "%zu item%s", count, count == 1 ? "" : "s");
    if (count != wanted)
        pe_error_add(reterr, PE_OUT_OF_RANGE, name, given,
                     "a list of %zu items, one for each frequency", wanted);
}

static void check_longrope(const pe_values *values, const pe_rotary *rotary, pe_error *reterr)
{
    bool attention = pe_is_present(values, "attention_factor");
    bool factor =
        rotary->factor > 1 || (rotary->factor == 0 && rotary->longest > rotary->original);
    check_list(values, "short_factor", rotary->width / 2, reterr);
    check_list(values, "long_factor", rotary->width / 2, reterr);
    if (!attention && rotary->factor == 0 && rotary->longest == 0)
        refuse(values, "factor",
               "given with rope_type=longrope, unless max_position_embeddings or "
               "attention_factor is given",
               reterr);
    if (!attention && factor && rotary->original == 1)
        refuse(values, "original_max_position_embeddings",
               "at least 2 with rope_type=longrope, which divides by its logarithm", reterr);
}

static void check_llama3(const pe_values *values, const pe_rotary *rotary, pe_error *reterr)
{
    if (rotary->high_freq_factor < rotary->low_freq_factor)
        refuse(values, "high_freq_factor", "at least low_freq_factor", reterr);
}

typedef void check_type(const pe_values *values, const pe_rotary *rotary, pe_error *reterr);

static check_type *const CHECKS[PE_COUNT(TYPES)] = {
    [PE_ROTARY_DYNAMIC] = check_dynamic,
    [PE_ROTARY_YARN] = check_yarn,
    [PE_ROTARY_LONGROPE] = check_longrope,
    [PE_ROTARY_LLAMA3] = check_llama3,
};

static void plan(const pe_values *values, pe_plan *ret_plan, pe_error *reterr)
{
    pe_positions positions = pe_positions_read(values, reterr);
    pe_rotary rotary = read_rotary(values);
    uint64_t pairs = rotary.width / 2;
    uint64_t columns = pe_choice(values, "table") == FULL ? 2 * pairs : pairs;
    pe_dtype dtype = pe_requested_dtype(values);
    check_width(values, &rotary, reterr);
    if (CHECKS[rotary.type])
        CHECKS[rotary.type](values, &rotary, reterr);
    if (pe_is_present(values, "attention_factor"))
        pe_check_magnitude(values, "attention_factor", pe_real(values, "attention_factor"),
                           reterr);
    pe_plan_add(ret_plan, "cos", dtype, 2, (uint64_t[]){positions.count, columns});
    pe_plan_add(ret_plan, "sin", dtype, 2, (uint64_t[]){positions.count, columns});
    pe_plan_add(ret_plan, "inv_freq", dtype, 1, (uint64_t[]){pairs});
}

/* ---- tables ---- */

/* The waves of the tables cos and sin, by tensor. They share their frequencies. */
typedef struct rope_waves {
    pe_wave tables[2];
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
    (void)runner, (void)reterr;
    static const pe_wave_copies COPIES[] = {PE_WAVE_IN_HALVES, PE_WAVE_IN_PAIRS};
    size_t columns = (size_t)plan->tensors[COS].shape[1];
    pe_rotary rotary = read_rotary(values);
    rope_waves *waves = malloc(sizeof *waves);
    pe_wave *wave = waves ? pe_wave_new(values, columns, PE_WAVE_COSINES, columns) : NULL;
    if (wave) {
        dd attention = {real_or_0(values, "attention_factor"), 0};
        if (attention.hi == 0)
            attention = pe_rotary_attention(&rotary);
        wave->count = rotary.width / 2;
        wave->still = rotary.still;
        wave->amplitude = attention.hi;
        wave->amplitude_rest = attention.lo;
        if (pe_choice(values, "table") == FULL)
            wave->copies = COPIES[pe_choice(values, "layout")];
        wave->frequencies = pe_rotary_frequencies(&rotary);
        wave = pe_wave_ready(wave);
    }
    if (!wave) {
        free(waves);
        return NULL;
    }
    waves->tables[COS] = waves->tables[SIN] = *wave;
    waves->tables[SIN].layout = PE_WAVE_SINES;
    free(wave);
    return waves;
}

static void fill(const pe_values *values, const pe_plan *plan, const void *state,
                 pe_window window, void *dst)
{
    (void)values, (void)plan;
    const rope_waves *waves = state;
    if (window.tensor != INV_FREQ) {
        pe_wave_fill(&waves->tables[window.tensor], window.first, window.rows, dst);
        return;
    }
    const pe_wave *wave = &waves->tables[COS];
    size_t size = pe_dtype_size(wave->dtype);
    for (uint64_t i = 0; i < window.rows; i++)
        pe_round_dd(wave->dtype, dd_snap(pe_phase_radians(wave->frequencies[window.first + i])),
                    (unsigned char *)dst + i * size);
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
    .element_price = pe_wave_element_price,
    .streamable = true,
};
