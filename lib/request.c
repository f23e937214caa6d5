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
static void refuse_name(const pe_scheme_info *info, const pe_argument *argument,
                        const pe_limits *limits, bool *given, pe_error *reterr)
{
    const char *names[NAMES_MAX] = {"preset"};
    size_t count = 1, all = pe_all_parameter_count(info);
    for (size_t i = 0; limits->names && limits->names[i] && count < NAMES_MAX; i++)
        names[count++] = limits->names[i];
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
            refuse_name(info, argument, limits, given, reterr);
    }
    return preset;
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
    pe_request_apply_defaults(request, preset, given, limits, reterr);
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
