/* Values that arguments do not give: they come from the preset, the set, the defaults
 * or other parameters. Parameters that exclude or require each other are checked here too. */
#include "requests/defaults.h"

#include <stdio.h>
#include <string.h>

static void refuse_conflict(const pe_parameter *parameter, const char *given,
                            const char *allowed, pe_error *reterr)
{
    pe_parameter_refuse(parameter, PE_OUT_OF_RANGE, PE_REASON_CONFLICT, PE_KIND_ANY, given,
                        allowed, reterr);
}

/* Refuse a value of a parameter without the choice that it belongs to. */
static void refuse_companion(const pe_parameter *parameter, const pe_value *value,
                             pe_error *reterr)
{
    char shown[PE_PRINT_MAX], allowed[128];
    snprintf(allowed, sizeof allowed, "left out without %s", parameter->when);
    refuse_conflict(parameter, pe_value_text(parameter, value, shown), allowed, reterr);
}

/* Find out whether a parameter is required and what its default is: from its row, or from the
 * case of the choice that it depends on. The preset's value replaces the default. False: the
 * parameter is not legal with that choice; if it was given, a problem was added. */
static bool find_rule(const pe_reading *reading, const pe_parameter *parameter,
                      const pe_value *value, pe_case *ret_rule, pe_error *reterr)
{
    const pe_preset *preset = reading->preset;
    *ret_rule =
        (pe_case){.required = parameter->required, .default_text = parameter->default_text};
    if (parameter->when) {
        size_t decides = pe_reading_index(reading, parameter->when);
        const pe_value *chosen = &reading->values[decides].value;
        if (!chosen->present) { /* where it was given wrongly, that is a problem already */
            if (value->present && !reading->given[decides])
                refuse_companion(parameter, value, reterr);
            return false;
        }
        const char *choice = pe_reading_row(reading, decides)->choices[chosen->integer];
        const pe_case *legal = pe_parameter_case(parameter, choice);
        if (!legal && value->present) {
            char shown[PE_PRINT_MAX], allowed[256];
            snprintf(allowed, sizeof allowed, "left out with %s=%s, which does not use it",
                     parameter->when, choice);
            refuse_conflict(parameter, pe_value_text(parameter, value, shown), allowed, reterr);
        }
        if (!legal)
            return false;
        *ret_rule = *legal;
    }
    for (size_t v = 0; preset && preset->values[v]; v += 2)
        if (strcmp(preset->values[v], parameter->name) == 0)
            ret_rule->default_text = preset->values[v + 1];
    return true;
}

/* Refuse a set that cannot give the value of `parameter`, once for each request. */
static void refuse_set(const pe_reading *reading, const char *given, const char *allowed,
                       pe_error *reterr)
{
    const pe_scheme_info *info = reading->info;
    const pe_parameter *row = &info->parameters[pe_stored_index(info)];
    for (size_t i = 0; i < reterr->count; i++)
        if (strcmp(reterr->problems[i].parameter, row->name) == 0)
            return;
    pe_error_add(reterr, PE_OUT_OF_RANGE, row->name, given, "%s", allowed);
}

/* Write what a tensor has, such as " [3] of f32". */
static void describe_tensor(const pe_tensor *tensor, char *dst, size_t size)
{
    char shape[PE_RANK_MAX * 24];
    pe_write_shape(tensor->shape, tensor->rank, shape, sizeof shape);
    snprintf(dst, size, " %s of %s", shape, pe_dtype_name(tensor->dtype));
}

/* Find the extent that the set has for a parameter. 0: the tensor is missing, or the
 * extent is none that the parameter may have, and a problem was added. So no plan meets a
 * stored value that is absent or out of range. */
static uint64_t find_extent(const pe_reading *reading, const pe_parameter *parameter,
                            const pe_set *set, pe_error *reterr)
{
    const pe_scheme_info *info = reading->info;
    size_t stored_index = pe_stored_index(info), axis = parameter->stored_axis;
    const char *set_name = reading->values[stored_index].value.text;
    char given[320], allowed[256], least[PE_PRINT_MAX], most[PE_PRINT_MAX];
    const pe_set_tensor *stored = pe_set_tensor_find(set, parameter->stored);
    snprintf(allowed, sizeof allowed, "the %s", info->parameters[stored_index].help);
    if (!stored || stored->tensor.rank <= axis) {
        int used = snprintf(given, sizeof given, "%s with%s %s", set_name, stored ? "" : "out",
                            parameter->stored);
        if (stored)
            describe_tensor(&stored->tensor, given + used, sizeof given - (size_t)used);
        refuse_set(reading, given, allowed, reterr);
        return 0;
    }
    double extent = (double)stored->tensor.shape[axis];
    if (extent >= parameter->minimum && extent <= parameter->maximum)
        return stored->tensor.shape[axis];
    snprintf(given, sizeof given, "%s with %.0f", set_name, extent);
    snprintf(allowed, sizeof allowed,
             "the name of a set whose tensor %s has an extent of %s to %s along axis %zu, "
             "which is %s",
             parameter->stored, pe_plain_number(parameter->minimum, least),
             pe_plain_number(parameter->maximum, most), axis, parameter->name);
    refuse_set(reading, given, allowed, reterr);
    return 0;
}

/* Take a value from the set, or check that the given one agrees with it. */
static void apply_stored(const pe_reading *reading, const pe_parameter *parameter,
                         const pe_set *set, bool given, pe_value *value, pe_error *reterr)
{
    char shown[PE_PRINT_MAX], wanted[PE_PRINT_MAX];
    double extent = (double)find_extent(reading, parameter, set, reterr);
    if (extent == 0)
        return;
    if (!given)
        *value = (pe_value){.present = true, .real = extent, .integer = (int64_t)extent};
    else if (value->present && value->real != extent)
        pe_error_add(reterr, PE_OUT_OF_RANGE, parameter->name,
                     pe_plain_number(value->real, shown),
                     "%s, the extent of tensor %s of the set, or left out",
                     pe_plain_number(extent, wanted), parameter->stored);
}

/* Refuse that a required parameter is not given; `choice` requires it, or is NULL. */
static void refuse_absence(const pe_parameter *parameter, const char *choice, pe_error *reterr)
{
    char described[512], allowed[640];
    pe_parameter_describe(parameter, described, sizeof described);
    if (choice)
        snprintf(allowed, sizeof allowed, "%s with %s=%s", described, parameter->when, choice);
    else if (parameter->unless)
        snprintf(allowed, sizeof allowed, "%s, unless %s is given", described,
                 parameter->unless);
    else
        snprintf(allowed, sizeof allowed, "%s", described);
    pe_parameter_refuse(parameter, choice ? PE_OUT_OF_RANGE : PE_MALFORMED, PE_REASON_MISSING,
                        PE_KIND_ANY, "", allowed, reterr);
}

/* The value of another parameter, or `otherwise` where there is no name. False: absent. */
static bool find_value(const pe_reading *reading, const char *name, int64_t otherwise,
                       int64_t *ret_value)
{
    *ret_value = otherwise;
    if (!name)
        return true;
    size_t index = pe_reading_index(reading, name);
    *ret_value = reading->values[index].value.integer;
    return reading->values[index].value.present;
}

/* Compute a default from the values of other parameters: base * times - less. */
static void apply_computed(pe_reading *reading, size_t index, pe_error *reterr)
{
    const pe_parameter *parameter = pe_reading_row(reading, index);
    int64_t base, times, less;
    char most[PE_PRINT_MAX];
    if (!find_value(reading, parameter->default_of, 0, &base) ||
        !find_value(reading, parameter->default_times, 1, &times) ||
        !find_value(reading, parameter->default_less, 0, &less))
        return;
    int64_t value = base * times - less; /* each is below 2^31 */
    if (value < 0)
        pe_error_add(reterr, PE_OUT_OF_RANGE, parameter->name, "",
                     "given where %s is less than %s: the default, their difference, would be "
                     "negative",
                     parameter->default_of, parameter->default_less);
    else if ((double)value > parameter->maximum)
        pe_error_add(reterr, PE_OUT_OF_RANGE, parameter->default_of, "",
                     "small enough that %s, by default %s%s%s, is at most %s", parameter->name,
                     parameter->default_of, parameter->default_times ? " * " : "",
                     parameter->default_times ? parameter->default_times : "",
                     pe_plain_number(parameter->maximum, most));
    else
        reading->values[index].value =
            (pe_value){.present = true, .integer = value, .real = (double)value};
}

/* Whether the parameter is excluded by another that was given. If both have a value, a problem
 * is added. */
static bool is_excluded(const pe_reading *reading, size_t index, pe_error *reterr)
{
    const pe_parameter *parameter = pe_reading_row(reading, index);
    if (!parameter->unless)
        return false;
    size_t other = pe_reading_index(reading, parameter->unless);
    const pe_value *value = &reading->values[index].value;
    if (reading->given[other] && value->present && reading->values[other].value.present) {
        char shown[PE_PRINT_MAX], allowed[128];
        snprintf(allowed, sizeof allowed, "left out with %s, which replaces it",
                 parameter->unless);
        refuse_conflict(parameter, pe_value_text(parameter, value, shown), allowed, reterr);
    }
    return reading->given[other];
}

void pe_apply_defaults(pe_reading *reading, pe_error *reterr)
{
    size_t stored = reading->info ? pe_stored_index(reading->info) : reading->count;
    bool takes_set = stored < reading->count;
    bool names_set = takes_set && reading->given[stored]; /* perhaps an unknown one */
    const pe_set *set = takes_set ? reading->values[stored].set : NULL;
    for (size_t i = 0; i < reading->count; i++) {
        const pe_parameter *parameter = pe_reading_row(reading, i);
        pe_owned_value *value = &reading->values[i];
        const bool given = reading->given[i];
        pe_case rule;
        if (!find_rule(reading, parameter, &value->value, &rule, reterr) ||
            is_excluded(reading, i, reterr))
            continue;
        if (set && parameter->stored)
            apply_stored(reading, parameter, set, given, &value->value, reterr);
        if (given || (names_set && parameter->stored))
            continue;
        if (rule.default_text)
            pe_parameter_read(parameter, rule.default_text, PE_KIND_ANY, reading->limits, value,
                              reterr);
        else if (rule.required)
            refuse_absence(parameter, rule.choice, reterr);
        else if (parameter->default_of)
            apply_computed(reading, i, reterr);
    }
}
