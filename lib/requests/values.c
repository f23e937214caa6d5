/* Values of a request by their parameters' names, refusing them, and the parameters that every
 * scheme has. */
#include "requests/parameters.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* The real types, in the order of pe_dtype. */
static const char *const DTYPE_CHOICES[] = {"f32", "f64", "f16", "bf16", NULL};

static const pe_parameter COMMON[] = {
    {.name = "dtype",
     .type = PE_CHOICE,
     .default_text = "f32",
     .choices = DTYPE_CHOICES,
     .help = "element type of the real tensors; each value is rounded to it once"},
};

const pe_parameter *pe_common_parameters(size_t *ret_count)
{
    *ret_count = PE_COUNT(COMMON);
    return COMMON;
}

const pe_parameter *pe_parameter_at(const pe_scheme_info *info, size_t index)
{
    return index < info->parameter_count ? &info->parameters[index]
                                         : &COMMON[index - info->parameter_count];
}

size_t pe_all_parameter_count(const pe_scheme_info *info)
{
    return info->parameter_count + PE_COUNT(COMMON);
}

size_t pe_parameter_index(const pe_scheme_info *info, const char *name)
{
    size_t index = 0, count = pe_all_parameter_count(info);
    while (index < count && strcmp(pe_parameter_at(info, index)->name, name) != 0)
        index++;
    return index;
}

const pe_parameter *pe_parameter_find(const pe_scheme_info *info, const char *name)
{
    const size_t index = pe_parameter_index(info, name);
    return index < pe_all_parameter_count(info) ? pe_parameter_at(info, index) : NULL;
}

bool pe_parameter_has_name(const pe_parameter *parameter, const char *name)
{
    return strcmp(parameter->name, name) == 0 ||
           (parameter->old_name && strcmp(parameter->old_name, name) == 0);
}

const char *pe_scheme_current_name(const pe_scheme *scheme, const char *name)
{
    const pe_scheme_info *info = &scheme->info;
    for (size_t i = 0; i < info->parameter_count; i++)
        if (pe_parameter_has_name(&info->parameters[i], name))
            return info->parameters[i].name;
    return name;
}

size_t pe_stored_index(const pe_scheme_info *info)
{
    for (size_t i = 0; i < info->parameter_count; i++)
        if (info->parameters[i].type == PE_STORED)
            return i;
    return pe_all_parameter_count(info);
}

const pe_value *pe_value_find(const pe_values *values, const char *name)
{
    const pe_scheme_info *info = &values->scheme->info;
    size_t index = pe_parameter_index(info, name);
    assert(index < pe_all_parameter_count(info));
    return &values->items[index];
}

bool pe_is_present(const pe_values *values, const char *name)
{
    return pe_value_find(values, name)->present;
}

int64_t pe_get_integer(const pe_values *values, const char *name)
{
    const pe_value *value = pe_value_find(values, name);
    return value->present ? value->integer : 0;
}

double pe_get_real(const pe_values *values, const char *name)
{
    const pe_value *value = pe_value_find(values, name);
    return value->present ? value->real : 0;
}

bool pe_get_flag(const pe_values *values, const char *name)
{
    return pe_get_integer(values, name) != 0;
}

int pe_get_choice(const pe_values *values, const char *name)
{
    assert(pe_is_present(values, name));
    return (int)pe_get_integer(values, name);
}

const pe_set *pe_values_set(const pe_values *values)
{
    const pe_scheme_info *info = &values->scheme->info;
    size_t index = pe_stored_index(info);
    bool has_set = index < pe_all_parameter_count(info) && values->items[index].present;
    return has_set ? values->items[index].set : NULL;
}

pe_dtype pe_requested_dtype(const pe_values *values)
{
    return (pe_dtype)pe_get_choice(values, "dtype");
}

pe_problem *pe_refuse_value(const pe_values *values, const char *name, pe_error *reterr,
                            const char *allowed, ...)
{
    const pe_value *value = pe_value_find(values, name);
    const pe_parameter *row = pe_parameter_find(&values->scheme->info, name);
    char shown[PE_PRINT_MAX];
    char text[4 * sizeof reterr->problems[0].allowed]; /* pe_error_add cuts it */
    va_list list;
    va_start(list, allowed);
    vsnprintf(text, sizeof text, allowed, list);
    va_end(list);
    return pe_error_add(reterr, PE_OUT_OF_RANGE, name,
                        value->present ? pe_value_text(row, value, shown) : "", "%s", text);
}
