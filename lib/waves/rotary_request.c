/* Rotary parameters: which depend on rope_type, reading them, and the rules between them. */
#include "waves/rotary_request.h"

#include <math.h>

const char *const pe_rotary_layouts[] = {"half", "interleaved", NULL};
const char *const pe_rotary_tables[] = {"half_width", "full", NULL};
const char *const pe_rotary_types[] = {
    "default",  "linear", "ntk",          "dynamic", "yarn",
    "longrope", "llama3", "proportional", NULL}; /* as pe_rotary_type */

/* ---- the parameters that depend on rope_type ---- */

#define REQUIRED(type)      .choice = (type), .required = true
#define OPTIONAL(type)      .choice = (type)
#define DEFAULT(type, text) .choice = (type), .default_text = (text)
#define CASES(name, ...)                                                                       \
    const pe_case pe_rotary_cases_##name[] = {__VA_ARGS__, {.choice = NULL}}

CASES(factor, {REQUIRED("linear")}, {REQUIRED("ntk")}, {OPTIONAL("dynamic")},
      {REQUIRED("yarn")}, {OPTIONAL("longrope")}, {DEFAULT("llama3", "8")},
      {DEFAULT("proportional", "1")});
CASES(original, {OPTIONAL("dynamic")}, {REQUIRED("yarn")}, {REQUIRED("longrope")},
      {DEFAULT("llama3", "8192")});
CASES(longest, {OPTIONAL("dynamic")}, {OPTIONAL("longrope")});
CASES(seq_len, {OPTIONAL("dynamic")}, {REQUIRED("longrope")});
CASES(alpha, {OPTIONAL("dynamic")});
CASES(attention, {OPTIONAL("yarn")}, {OPTIONAL("longrope")});
CASES(mscale, {OPTIONAL("yarn")});
CASES(beta_fast, {DEFAULT("yarn", "32")});
CASES(beta_slow, {DEFAULT("yarn", "1")});
CASES(truncate, {DEFAULT("yarn", "true")});
CASES(low, {DEFAULT("llama3", "1")});
CASES(high, {DEFAULT("llama3", "4")});
CASES(lists, {REQUIRED("longrope")});

/* ---- reading ---- */

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

pe_rotary pe_rotary_read(const pe_values *values)
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

static void check_longrope(const pe_values *values, const pe_rotary *rotary, pe_error *reterr)
{
    bool attention = pe_is_present(values, "attention_factor");
    bool factor =
        rotary->factor > 1 || (rotary->factor == 0 && rotary->longest > rotary->original);
    pe_check_count(values, "short_factor", rotary->width / 2, "one for each frequency", reterr);
    pe_check_count(values, "long_factor", rotary->width / 2, "one for each frequency", reterr);
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

static check_type *const CHECKS[PE_COUNT(pe_rotary_types)] = {
    [PE_ROTARY_DYNAMIC] = check_dynamic,
    [PE_ROTARY_YARN] = check_yarn,
    [PE_ROTARY_LONGROPE] = check_longrope,
    [PE_ROTARY_LLAMA3] = check_llama3,
};

void pe_rotary_check(const pe_values *values, const pe_rotary *rotary, pe_error *reterr)
{
    check_width(values, rotary, reterr);
    if (CHECKS[rotary->type])
        CHECKS[rotary->type](values, rotary, reterr);
    if (pe_is_present(values, "attention_factor"))
        pe_check_magnitude(values, "attention_factor", pe_real(values, "attention_factor"),
                           reterr);
}

/* ---- tables ---- */

dd pe_rotary_factor(const pe_values *values, const pe_rotary *rotary)
{
    double given = real_or_0(values, "attention_factor");
    return given > 0 ? (dd){given, 0} : pe_rotary_attention(rotary);
}

size_t pe_rotary_columns(const pe_values *values, const pe_rotary *rotary)
{
    return pe_choice(values, "table") == PE_ROTARY_FULL ? rotary->width / 2 * 2
                                                        : rotary->width / 2;
}

pe_wave_copies pe_rotary_copies(const pe_values *values)
{
    if (pe_choice(values, "table") != PE_ROTARY_FULL)
        return PE_WAVE_ONCE;
    return pe_choice(values, "layout") == PE_ROTARY_HALF ? PE_WAVE_IN_HALVES : PE_WAVE_IN_PAIRS;
}
