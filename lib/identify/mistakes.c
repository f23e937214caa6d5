#include "identify/mistakes.h"

#include "numerics/dtype.h"
#include "recognise/observation.h"
#include "requests/request.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* How near a measured factor is to what it is, relative. */
static double find_accuracy(const pe_trial *trial)
{
    return fmax(1e-4, pe_dtypes[trial->format].unit / 4);
}

/* The text of a parameter; "" if it has no value. */
static const char *value_text(pe_trial *trial, const char *name, char dst[PE_PRINT_MAX])
{
    pe_value value;
    dst[0] = '\0';
    pe_trial_read_value(trial, name, &value, dst);
    return dst;
}

/* ---- other tensors ---- */

bool pe_find_tensor(pe_trial *trial)
{
    const pe_scheme_info *info = &trial->scheme->info;
    for (size_t i = 0; i < info->tensor_count; i++)
        if (strcmp(info->tensors[i].name, trial->tensor) != 0 &&
            pe_trial_fits(trial, trial->query, info->tensors[i].name, &trial->view, 1))
            return pe_trial_say(trial, "tensor", "The table is the tensor %s, not %s.",
                                info->tensors[i].name, trial->tensor);
    return false;
}

/* ---- signs and factors ---- */

/* Sines of negated positions have the other sign, and cosines are the same. */
bool pe_find_negated(pe_trial *trial)
{
    pe_value step, offset;
    char text[2][PE_PRINT_MAX], negated[2][PE_PRINT_MAX];
    if (!pe_trial_read_value(trial, "step", &step, text[0]) ||
        !pe_trial_read_value(trial, "offset", &offset, text[1]))
        return false;
    pe_print_number(negated[0], -step.real);
    pe_print_number(negated[1], 0 - offset.real);
    const char *const changes[] = {"step", negated[0], "offset", negated[1], NULL};
    return pe_trial_fits_changed(trial, changes) &&
           pe_trial_say(trial, "sine_sign",
                        "The sines have the other sign, as at positions that are negated: "
                        "step=%s.",
                        negated[0]);
}

/* A factor that has a name, if it is as near to this one as measuring it brings it. */
static double name_factor(pe_trial *trial, double factor, char dst[96])
{
    pe_value dim;
    char text[PE_PRINT_MAX];
    const double sign = factor < 0 ? -1 : 1, accuracy = find_accuracy(trial);
    dst[0] = '\0';
    if (pe_trial_read_value(trial, "dim", &dim, text)) {
        const double root = sqrt(dim.real);
        if (fabs(fabs(factor) / root - 1) < accuracy) {
            snprintf(dst, 96, ", the square root of dim=%s", text);
            return sign * root;
        }
        if (fabs(fabs(factor) * root - 1) < accuracy) {
            snprintf(dst, 96, ", 1 over the square root of dim=%s", text);
            return sign / root;
        }
    }
    if (!pe_trial_read_value(trial, "rope_type", &dim, text))
        return factor;
    for (int scaled = 2; scaled <= 64; scaled++) {
        const double attention = 0.1 * log(scaled) + 1;
        if (strcmp(text, "default") == 0 && fabs(factor / attention - 1) < accuracy / 100) {
            snprintf(dst, 96, ", the attention factor of rope_type=yarn, factor=%d", scaled);
            return attention;
        }
    }
    if ((strcmp(text, "yarn") == 0 || strcmp(text, "longrope") == 0))
        snprintf(dst, 96, ", as with another attention factor than that of rope_type=%s", text);
    return factor;
}

bool pe_find_factor(pe_trial *trial)
{
    double measured;
    char text[PE_PRINT_MAX], name[96];
    if (trial->dtype == PE_I32 || !trial->subject->measure_factor(trial, &measured) ||
        fabs(measured) < 1e-30)
        return false;
    const double named = name_factor(trial, measured, name);
    const double factors[] = {named != measured ? named : 1,
                              pe_find_decimal(measured, find_accuracy(trial)),
                              pe_find_decimal(measured, 1e-6), measured};
    for (size_t i = 0; i < PE_COUNT(factors); i++) {
        if (factors[i] == 1 ||
            !pe_trial_fits(trial, trial->query, trial->tensor, &trial->view, factors[i]))
            continue;
        if (factors[i] == -1)
            return pe_trial_say(trial, "sign", "Every entry has the other sign.");
        pe_print_number(text, pe_find_decimal(factors[i], 1e-7));
        return pe_trial_say(trial, "factor", "Every entry is the exact one times %s%s.", text,
                            name);
    }
    return false;
}

/* ---- parameters ---- */

/* Try another value of a parameter. */
static bool try_value(pe_trial *trial, const char *kind, const char *name, const char *text)
{
    char before[PE_PRINT_MAX];
    const char *const changes[] = {name, text, NULL};
    if (strcmp(value_text(trial, name, before), text) == 0 ||
        !pe_trial_fits_changed(trial, changes))
        return false;
    if (!before[0])
        return pe_trial_say(trial, kind,
                            "The table is that of %s=%s, which the request leaves "
                            "out.",
                            name, text);
    if (strcmp(kind, "width") == 0)
        return pe_trial_say(trial, kind, "%s: the table is that of table=%s, not %s.",
                            strcmp(text, "full") == 0 ? "Full width for half"
                                                      : "Half width for full",
                            text, before);
    if (strcmp(kind, "layout") == 0)
        return pe_trial_say(trial, kind,
                            "The columns are in another order: the table is that of layout=%s, "
                            "not %s.",
                            text, before);
    return pe_trial_say(trial, kind, "The table is that of %s=%s, not %s.", name, text, before);
}

/* What a change of a choice is called. */
static const char *kind_of_choice(const char *name)
{
    return strcmp(name, "layout") == 0  ? "layout"
           : strcmp(name, "table") == 0 ? "width"
           : strcmp(name, "mask") == 0  ? "mask"
                                        : "parameter";
}

/* Try the other choices of parameters, one at a time. */
static bool try_choices(pe_trial *trial, const pe_parameter *rows, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const pe_parameter *row = &rows[i];
        const char *kind = kind_of_choice(row->name);
        char text[PE_PRINT_MAX];
        if (strcmp(row->name, "rope_type") == 0)
            continue; /* with its keys: pe_find_scaling */
        for (size_t c = 0; row->type == PE_CHOICE && row->choices[c]; c++)
            if (try_value(trial, kind, row->name, row->choices[c]))
                return true;
        if (row->type == PE_BOOLEAN &&
            try_value(trial, kind, row->name,
                      strcmp(value_text(trial, row->name, text), "true") == 0 ? "false"
                                                                              : "true"))
            return true;
    }
    return false;
}

bool pe_find_option(pe_trial *trial)
{
    return try_choices(trial, trial->subject->options, trial->subject->option_count);
}

bool pe_find_choice(pe_trial *trial)
{
    return try_choices(trial, trial->scheme->info.parameters,
                       trial->scheme->info.parameter_count);
}

/* Bases that models have. */
bool pe_find_base(pe_trial *trial)
{
    static const char *const BASES[] = {
        "10000",   "500000",   "1000000",  "100",    "1000",    "100000",  "50000",   "150000",
        "160000",  "250000",   "200000",   "300000", "1500000", "2000000", "3000000", "5000000",
        "8000000", "10000000", "25000000", "11000",  "5000",    "20000",   "30000",   "40000",
        "10",      "256",      "10500",    "26650",  "500",     "5200000"};
    static const char *const NAMES[] = {"rope_theta", "base"};
    for (size_t n = 0; n < PE_COUNT(NAMES); n++)
        for (size_t i = 0; pe_trial_find_parameter(trial, NAMES[n]) && i < PE_COUNT(BASES); i++)
            if (try_value(trial, "base", NAMES[n], BASES[i]))
                return true;
    return false;
}

/* Other numbers that are often wrong. */
bool pe_find_number(pe_trial *trial)
{
    static const char *const NUMBERS[][2] = {
        {"step", "1"},           {"step", "0.5"},          {"step", "0.25"},
        {"step", "2"},           {"first_index", "1"},     {"first_index", "-1"},
        {"first_index", "0"},    {"first_index", "0.5"},   {"partial_rotary_factor", "0.5"},
        {"num_buckets", "32"},   {"num_buckets", "64"},    {"num_buckets", "128"},
        {"max_distance", "128"}, {"max_distance", "64"},   {"max_distance", "256"},
        {"max_distance", "32"},  {"alibi_bias_max", "8"},  {"alibi_bias_max", "16"},
        {"amplitude", "1"},      {"attention_factor", "1"}};
    for (size_t i = 0; i < PE_COUNT(NUMBERS); i++)
        if (pe_trial_find_parameter(trial, NUMBERS[i][0]) &&
            (strcmp(NUMBERS[i][0], "step") != 0 ||
             !pe_trial_find_parameter(trial, "rope_type")) &&
            try_value(trial, "parameter", NUMBERS[i][0], NUMBERS[i][1]))
            return true;
    return false;
}

/* ---- scalings of rotary frequencies ---- */

#define SCALING_KEYS 20

/* Leave out the scaling that the request has. */
static bool find_added_scaling(pe_trial *trial)
{
    const pe_scheme_info *info = &trial->scheme->info;
    const char *changes[2 * SCALING_KEYS + 5] = {"rope_type", "", "preset", ""};
    char type[PE_PRINT_MAX];
    for (size_t i = 0, at = 4; i < info->parameter_count && at < 2 * SCALING_KEYS; i++)
        if (info->parameters[i].when && strcmp(info->parameters[i].when, "rope_type") == 0) {
            changes[at++] = info->parameters[i].name;
            changes[at++] = "";
        }
    if (strcmp(value_text(trial, "rope_type", type), "default") == 0 ||
        !pe_trial_fits_changed(trial, changes))
        return false;
    return pe_trial_say(
        trial, "scaling",
        "The frequencies are not scaled: the table is that without rope_type=%s.", type);
}

/* Try a scaling by the factors that models have. */
static bool try_scaling(pe_trial *trial, const char *type, const char *factor,
                        const char *original)
{
    char before[PE_PRINT_MAX];
    const char *const changes[] = {"rope_type",
                                   type,
                                   "factor",
                                   factor,
                                   original ? "original_max_position_embeddings" : NULL,
                                   original,
                                   NULL};
    if (!pe_trial_fits_changed(trial, changes))
        return false;
    const char *length = original ? ", original_max_position_embeddings=" : "";
    if (strcmp(value_text(trial, "rope_type", before), "default") == 0)
        return pe_trial_say(trial, "scaling",
                            "A scaling is forgotten: the table is that of rope_type=%s, "
                            "factor=%s%s%s.",
                            type, factor, length, original ? original : "");
    return pe_trial_say(
        trial, "scaling",
        "Another scaling than rope_type=%s of the request: the table is that of "
        "rope_type=%s, factor=%s%s%s.",
        before, type, factor, length, original ? original : "");
}

bool pe_find_scaling(pe_trial *trial)
{
    static const char *const FACTORS[] = {"2",  "4",  "8",   "16",  "32",  "64", "3",
                                          "5",  "10", "40",  "6",   "12",  "20", "24",
                                          "48", "80", "100", "128", "1.5", "2.5"};
    static const char *const LENGTHS[] = {"2048", "4096", "8192", "16384", "32768"};
    const size_t blended = 10; /* factors of yarn and llama3 */
    if (!pe_trial_find_parameter(trial, "rope_type"))
        return false;
    if (find_added_scaling(trial))
        return true;
    for (size_t i = 0; i < PE_COUNT(FACTORS); i++) {
        if (try_scaling(trial, "linear", FACTORS[i], NULL) ||
            try_scaling(trial, "ntk", FACTORS[i], NULL))
            return true;
        for (size_t k = 0; i < blended && k < PE_COUNT(LENGTHS); k++)
            if (try_scaling(trial, "yarn", FACTORS[i], LENGTHS[k]) ||
                try_scaling(trial, "llama3", FACTORS[i], LENGTHS[k]))
                return true;
    }
    return false;
}

bool pe_find_preset(pe_trial *trial)
{
    const pe_scheme_info *info = &trial->scheme->info;
    for (size_t i = 0; i < info->preset_count; i++) {
        const char *const changes[] = {"preset", info->presets[i].name, NULL};
        if (!pe_trial_fits_changed(trial, changes))
            continue;
        for (const char *const *value = info->presets[i].values; *value; value += 2)
            if (strcmp(value[0], "rope_type") == 0)
                return pe_trial_say(trial, "scaling",
                                    "A scaling is forgotten: the table is that of preset=%s, "
                                    "with rope_type=%s.",
                                    info->presets[i].name, value[1]);
        return pe_trial_say(trial, "preset", "The table is that of preset=%s.",
                            info->presets[i].name);
    }
    return false;
}

/* ---- the values ---- */

/* Nothing is wrong but the arithmetic, the dtype of the values, or what stands for a mask. */
bool pe_find_values(pe_trial *trial)
{
    const char *format = trial->format == PE_BF16 ? "bfloat16" : "float16";
    const bool rounded = trial->format != trial->dtype;
    const bool any_mask = trial->tolerance.any_mask;
    if (pe_trial_fits(trial, trial->query, trial->tensor, &trial->view, 1)) {
        if (rounded)
            return pe_trial_say(trial, "values",
                                "The values are %s numbers in a file of %s; "
                                "but for that rounding they are right.",
                                format, pe_dtype_name(trial->dtype));
        return pe_trial_say(trial, "arithmetic",
                            "No mistake: every entry is within what float32 "
                            "arithmetic may lose.");
    }
    trial->tolerance.any_mask = true;
    if (!any_mask && pe_trial_fits(trial, trial->query, trial->tensor, &trial->view, 1))
        return pe_trial_say(trial, "mask",
                            "Finite numbers stand for minus infinity: mask=any "
                            "takes them as it, and the others are right.");
    trial->tolerance.any_mask = any_mask;
    return false;
}

bool pe_find_mistake(pe_trial *trial)
{
    enum { TABLE, ANY };
    static const struct {
        int subjects;
        bool (*find)(pe_trial *);
    } MISTAKES[] = {
#define MISTAKE(subjects, find) {subjects, find},
#include "identify/mistakes.def"
    };
    for (size_t i = 0; i < PE_COUNT(MISTAKES) && !trial->runner.ended; i++)
        if ((MISTAKES[i].subjects == ANY || trial->subject->is_table) &&
            MISTAKES[i].find(trial))
            return true;
    return false;
}
