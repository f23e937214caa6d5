/* Requests: arguments checked against a scheme's table, defaulted, planned and made canonical.
 */
#include "request.h"

#include "plan.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#define NAMES_MAX 64

/* Refuse an argument that is no parameter, suggesting the nearest that is; that one then counts
 * as given, if wrongly, so that a misspelling is not reported as missing as well. */
static void refuse_name(const pe_scheme_info *info, const pe_argument *argument, bool *given,
                        pe_error *reterr)
{
    const char *names[NAMES_MAX] = {"preset", "format",
                                    "tensor"}; /* the last two are callers' */
    size_t count = 3, all = pe_all_parameter_count(info);
    for (size_t i = 0; i < all && count < NAMES_MAX; i++)
        names[count++] = pe_parameter_at(info, i)->name;
    pe_problem *problem =
        pe_error_add(reterr, PE_MALFORMED, argument->name, argument->text,
                     "a parameter of %s; GET /v1/schemes/%s lists them",
                     info->of ? info->of : info->name, info->of ? info->of : info->name);
    const char *nearest = pe_nearest(argument->name, names, count);
    if (nearest && strcmp(nearest, argument->name) != 0)
        pe_problem_suggest(problem, nearest);
    if (nearest && pe_parameter_index(info, nearest) < all)
        given[pe_parameter_index(info, nearest)] = true;
}

static bool is_repeated(const pe_argument *arguments, size_t index)
{
    for (size_t i = 0; i < index; i++)
        if (strcmp(arguments[i].name, arguments[index].name) == 0)
            return true;
    return false;
}

static const pe_preset *find_preset(const pe_scheme_info *info, const pe_argument *argument,
                                    pe_error *reterr)
{
    const char *names[NAMES_MAX], *name = argument->text;
    size_t count = 0;
    if (argument->kind != PE_KIND_ANY && argument->kind != PE_KIND_STRING) {
        pe_error_add(reterr, PE_MALFORMED, "preset", name, "a JSON string");
        return NULL;
    }
    for (; count < info->preset_count && count < NAMES_MAX; count++) {
        if (strcmp(info->presets[count].name, name) == 0)
            return &info->presets[count];
        names[count] = info->presets[count].name;
    }
    if (count == 0)
        pe_error_add(reterr, PE_MALFORMED, "preset", name, "nothing: %s has no presets",
                     info->name);
    else
        pe_error_add_choice(reterr, "preset", name, names, count);
    return NULL;
}

/* Read the explicit arguments and mark what was given, even if wrongly; returns the preset, if
 * one is named. */
static const pe_preset *read_arguments(pe_request *request, const pe_argument *arguments,
                                       size_t count, const pe_limits *limits, bool *given,
                                       pe_error *reterr)
{
    const pe_scheme_info *info = &request->values.scheme->info;
    const pe_preset *preset = NULL;
    for (size_t i = 0; i < count; i++) {
        const pe_argument *argument = &arguments[i];
        size_t index = pe_parameter_index(info, argument->name);
        if (index < request->value_count)
            given[index] = true;
        if (!argument->text) {
            if (reterr->status != PE_NO_MEMORY)
                reterr->status = PE_MALFORMED;
            continue;
        }
        if (is_repeated(arguments, i))
            pe_error_add(reterr, PE_MALFORMED, argument->name, argument->text, "given once");
        else if (index < request->value_count)
            pe_parameter_read(pe_parameter_at(info, index), argument->text, argument->kind,
                              limits, &request->owned[index], reterr);
        else if (strcmp(argument->name, "preset") == 0)
            preset = find_preset(info, argument, reterr);
        else
            refuse_name(info, argument, given, reterr);
    }
    return preset;
}

/* The stored set that an argument named, NULL if none. */
static const pe_set *find_set(const pe_request *request)
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
static void apply_defaults(pe_request *request, const pe_preset *preset, const bool *given,
                           const pe_limits *limits, pe_error *reterr)
{
    const pe_scheme_info *info = &request->values.scheme->info;
    const pe_set *set = find_set(request);
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

static bool allocate(pe_request *request, size_t count)
{
    request->value_count = count;
    request->owned = calloc(count, sizeof *request->owned);
    request->items = calloc(count, sizeof *request->items);
    return request->owned && request->items;
}

static void read_and_plan(pe_request *request, const pe_argument *arguments, size_t count,
                          const pe_limits *limits, bool *given, pe_error *reterr)
{
    const pe_scheme *scheme = request->values.scheme;
    const pe_preset *preset = read_arguments(request, arguments, count, limits, given, reterr);
    apply_defaults(request, preset, given, limits, reterr);
    if (reterr->status != PE_OK)
        return;
    for (size_t i = 0; i < request->value_count; i++)
        request->items[i] = request->owned[i].value;
    request->values.items = request->items;
    scheme->plan(&request->values, &request->plan, reterr);
    if (reterr->status == PE_OK)
        request->bytes = pe_plan_check(&request->plan, &request->values, limits, reterr);
}

pe_status pe_request_new(const pe_scheme *scheme, const pe_argument *arguments, size_t count,
                         const pe_limits *limits, pe_request **ret_request, pe_error *reterr)
{
    size_t values = pe_all_parameter_count(&scheme->info);
    pe_request *request = calloc(1, sizeof *request);
    bool *given = calloc(values, sizeof *given);
    pe_error_init(reterr);
    if (!request || !given || !allocate(request, values)) {
        pe_error_add(reterr, PE_NO_MEMORY, "", "", "memory for the request");
        goto fail;
    }
    atomic_init(&request->references, 1);
    request->values.scheme = scheme;
    read_and_plan(request, arguments, count, limits, given, reterr);
    if (reterr->status != PE_OK)
        goto fail;
    if (!pe_request_write_key(request)) {
        pe_error_add(reterr, PE_NO_MEMORY, "", "", "memory for the request");
        goto fail;
    }
    free(given);
    *ret_request = request;
    return PE_OK;
fail:
    free(given);
    pe_request_free(request);
    return reterr->status;
}

pe_request *pe_request_ref(pe_request *request)
{
    atomic_fetch_add_explicit(&request->references, 1, memory_order_relaxed);
    return request;
}

void pe_request_free(pe_request *request)
{
    if (!request ||
        atomic_fetch_sub_explicit(&request->references, 1, memory_order_acq_rel) > 1)
        return;
    for (size_t i = 0; request->owned && i < request->value_count; i++)
        pe_owned_value_done(&request->owned[i]);
    free(request->owned);
    free(request->items);
    free(request->key);
    free(request);
}

const pe_scheme *pe_request_scheme(const pe_request *request)
{
    return request->values.scheme;
}

const char *pe_request_key(const pe_request *request, size_t *ret_length)
{
    *ret_length = request->key_length;
    return request->key;
}

const pe_value *pe_request_value(const pe_request *request, size_t index)
{
    assert(index < request->value_count);
    return &request->items[index];
}

size_t pe_request_tensor_count(const pe_request *request)
{
    return request->plan.count;
}

const pe_tensor *pe_request_tensor(const pe_request *request, size_t index)
{
    assert(index < request->plan.count);
    return &request->plan.tensors[index];
}

uint64_t pe_request_bytes(const pe_request *request)
{
    return request->bytes;
}

const pe_set *pe_request_set(const pe_request *request)
{
    return find_set(request);
}

bool pe_scheme_takes_long(const pe_scheme *scheme)
{
    return scheme->takes_long;
}

bool pe_request_takes_long(const pe_request *request)
{
    return request->values.scheme->takes_long;
}

static bool goes_on(const pe_runner *runner, const pe_scheme *scheme, double done,
                    pe_error *reterr)
{
    if (!runner->go_on || runner->go_on(runner->context, scheme, done))
        return true;
    pe_error_add(reterr, PE_CANCELLED, "", "", "more time than is given, or no stop meanwhile");
    return false;
}

bool pe_may_go_on(const pe_runner *runner, const pe_values *values, double done,
                  pe_error *reterr)
{
    const double least = 0x1p-20; /* 0 and 1 are the preparation's beginning and end */
    done = done > least ? done : least;
    return goes_on(runner, values->scheme, done < 1 - least ? done : 1 - least, reterr);
}

pe_status pe_request_prepare(const pe_request *request, const pe_runner *runner,
                             void **ret_state, pe_error *reterr)
{
    static const pe_runner nothing = {0};
    const pe_scheme *scheme = request->values.scheme;
    bool watched = runner && runner->go_on && scheme->takes_long;
    *ret_state = NULL;
    if (!scheme->prepare)
        return PE_OK;
    if (!watched || goes_on(runner, scheme, 0, reterr))
        *ret_state = scheme->prepare(&request->values, &request->plan,
                                     runner ? runner : &nothing, reterr);
    if (watched)
        runner->go_on(runner->context, scheme, 1);
    if (!*ret_state && reterr->status == PE_OK)
        pe_error_add(reterr, PE_NO_MEMORY, "", "", "memory for the scheme's state");
    return reterr->status;
}

void pe_request_release(const pe_request *request, void *state)
{
    const pe_scheme *scheme = request->values.scheme;
    (scheme->release ? scheme->release : free)(state);
}
