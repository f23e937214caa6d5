/* What was not given: from the preset, the defaults, other parameters or the stored set; and
 * what excludes another. */
#include "request.h"

#include <string.h>

/* The stored set that an argument named, NULL if none. */
const pe_set *pe_request_set(const pe_request *request)
{
    for (size_t i = 0; i < request->value_count; i++)
        if (request->owned[i].set)
            return request->owned[i].set;
    return NULL;
}

/* What is required of a parameter and its default: by its row, or by the case that another's
 * value makes; a preset's value comes before the default. False where it has no place. */
static bool find_rule(const pe_request *request, const pe_parameter *parameter,
                      const pe_value *value, const pe_preset *preset, pe_case *ret_rule,
                      pe_error *reterr)
{
    const pe_scheme_info *info = &request->values.scheme->info;
    *ret_rule = (pe_case){NULL, parameter->required, parameter->default_text};
    if (parameter->when) {
        size_t decides = pe_parameter_index(info, parameter->when);
        const pe_value *chosen = &request->owned[decides].value;
        if (!chosen->present)
            return false; /* it was given wrongly, which is reported */
        const char *choice = info->parameters[decides].choices[chosen->integer];
        const pe_case *found = pe_parameter_case(parameter, choice);
        char shown[PE_PRINT_MAX];
        if (!found && value->present)
            pe_error_add(reterr, PE_OUT_OF_RANGE, parameter->name,
                         pe_value_text(parameter, value, shown),
                         "nothing with %s=%s, which does not use it", parameter->when, choice);
        if (!found)
            return false;
        *ret_rule = *found;
    }
    for (size_t v = 0; preset && preset->values[v]; v += 2)
        if (strcmp(preset->values[v], parameter->name) == 0)
            ret_rule->default_text = preset->values[v + 1];
    return true;
}

/* Take a value from the stored set, or check that the given one agrees. */
static void apply_stored(const pe_parameter *parameter, const pe_set *set, bool given,
                         pe_value *value, pe_error *reterr)
{
    char shown[PE_PRINT_MAX], extent[PE_PRINT_MAX];
    const pe_set_tensor *found = pe_set_tensor_find(set, parameter->stored);
    if (!found || found->tensor.rank <= parameter->stored_axis)
        return; /* the plan refuses the set */
    double there = (double)found->tensor.shape[parameter->stored_axis];
    if (!given)
        *value = (pe_value){.present = true, .real = there, .integer = (int64_t)there};
    else if (value->present && value->real != there)
        pe_error_add(reterr, PE_OUT_OF_RANGE, parameter->name,
                     pe_plain_number(value->real, shown),
                     "%s, as tensor %s of the stored set has it, or nothing",
                     pe_plain_number(there, extent), parameter->stored);
}

/* Refuse that a required parameter is not given; `choice` requires it, or NULL. */
static void refuse_absence(const pe_parameter *parameter, const char *choice, pe_error *reterr)
{
    const char *other = parameter->unless;
    pe_error_add(reterr, choice ? PE_OUT_OF_RANGE : PE_MALFORMED, parameter->name, "",
                 "required%s%s%s%s: %s%s%s", choice ? " with " : "",
                 choice ? parameter->when : "", choice ? "=" : "", choice ? choice : "",
                 parameter->help, other ? "; instead one may give " : "", other ? other : "");
}

static bool names_set(const pe_scheme_info *info, const bool *given)
{
    for (size_t i = 0; i < info->parameter_count; i++)
        if (info->parameters[i].type == PE_STORED && given[i])
            return true;
    return false;
}

/* The value of another parameter, or `otherwise` where there is no name. False: absent. */
static bool find_value(const pe_request *request, const char *name, int64_t otherwise,
                       int64_t *ret_value)
{
    *ret_value = otherwise;
    if (!name)
        return true;
    size_t index = pe_parameter_index(&request->values.scheme->info, name);
    *ret_value = request->owned[index].value.integer;
    return request->owned[index].value.present;
}

/* Compute a default from the values of other parameters. */
static void apply_computed(pe_request *request, size_t index, pe_error *reterr)
{
    const pe_parameter *parameter = pe_parameter_at(&request->values.scheme->info, index);
    int64_t of, times, less;
    char most[PE_PRINT_MAX];
    if (!find_value(request, parameter->default_of, 0, &of) ||
        !find_value(request, parameter->default_times, 1, &times) ||
        !find_value(request, parameter->default_less, 0, &less))
        return;
    int64_t value = of * times - less; /* each is below 2^31 */
    if (value < 0)
        pe_error_add(reterr, PE_OUT_OF_RANGE, parameter->name, "",
                     "given where %s is less than %s: its default is their difference",
                     parameter->default_of, parameter->default_less);
    else if ((double)value > parameter->maximum)
        pe_error_add(reterr, PE_OUT_OF_RANGE, parameter->default_of, "",
                     "such that %s is at most %s", parameter->name,
                     pe_plain_number(parameter->maximum, most));
    else
        request->owned[index].value =
            (pe_value){.present = true, .integer = value, .real = (double)value};
}

/* Fill what was not given from the preset, then from the defaults; refuse what excludes
 * another. */
void pe_request_apply_defaults(pe_request *request, const pe_preset *preset, const bool *given,
                               const pe_limits *limits, pe_error *reterr)
{
    const pe_scheme_info *info = &request->values.scheme->info;
    const pe_set *set = pe_request_set(request);
    bool stored = names_set(info, given); /* if only one that is not there */
    char shown[PE_PRINT_MAX];             /* only numbers exclude others */
    for (size_t i = 0; i < request->value_count; i++) {
        const pe_parameter *parameter = pe_parameter_at(info, i);
        const char *other = parameter->unless;
        pe_case rule;
        if (!find_rule(request, parameter, &request->owned[i].value, preset, &rule, reterr))
            continue;
        if (other && given[pe_parameter_index(info, other)]) {
            bool both = request->owned[i].value.present &&
                        request->owned[pe_parameter_index(info, other)].value.present;
            if (both)
                pe_error_add(reterr, PE_OUT_OF_RANGE, parameter->name,
                             pe_plain_number(request->owned[i].value.real, shown),
                             "not together with %s, which stands instead", other);
            continue;
        }
        if (set && parameter->stored)
            apply_stored(parameter, set, given[i], &request->owned[i].value, reterr);
        if (given[i] || (stored && parameter->stored))
            continue;
        if (rule.default_text)
            pe_parameter_read(parameter, rule.default_text, PE_KIND_ANY, limits,
                              &request->owned[i], reterr);
        else if (rule.required)
            refuse_absence(parameter, rule.choice, reterr);
        else if (parameter->default_of)
            apply_computed(request, i, reterr);
    }
}
