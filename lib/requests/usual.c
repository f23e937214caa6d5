/* Whether a request is the usual one of its tensor's shape. */
#include "requests/request.h"

#include <stdlib.h>
#include <string.h>

/* Whether a tensor has an extent of this, or of its half, which is that of the pairs of a dim.
 */
static bool has_extent(const pe_tensor *tensor, int64_t extent)
{
    for (size_t i = 0; i < tensor->rank; i++)
        if ((uint64_t)extent == tensor->shape[i] || (uint64_t)extent == 2 * tensor->shape[i])
            return true;
    return false;
}

/* Whether a value is the one that a default's text says. */
static bool is_said(const pe_parameter *row, const pe_value *value)
{
    const char *said = row->default_text;
    if (!said)
        return false;
    if (row->type == PE_CHOICE)
        return strcmp(row->choices[value->integer], said) == 0;
    if (row->type == PE_BOOLEAN)
        return (strcmp(said, "true") == 0) == (value->integer != 0);
    return (row->type == PE_INTEGER || value->integer == 0) &&
           strtod(said, NULL) == value->real;
}

/* The default that is worked out from other values. */
static int64_t compute_default(const pe_values *values, const pe_parameter *row)
{
    const int64_t base = pe_get_integer(values, row->default_of);
    return base * (row->default_times ? pe_get_integer(values, row->default_times) : 1) -
           (row->default_less ? pe_get_integer(values, row->default_less) : 0);
}

/* Whether a parameter shows in the shape, or has its default. */
static bool is_usual(const pe_values *values, size_t index, const pe_tensor *tensor)
{
    const pe_parameter *row = &values->scheme->info.parameters[index];
    const pe_value *value = &values->items[index];
    if (!value->present || value->items || value->text) /* lists and names are no defaults */
        return !value->present;
    if (row->default_of)
        return value->integer == compute_default(values, row);
    if (row->counts_rows)
        return true;
    return row->required ? row->type == PE_INTEGER && has_extent(tensor, value->integer)
                         : is_said(row, value);
}

bool pe_request_is_usual(const pe_request *request, const pe_tensor *tensor)
{
    size_t i = 0;
    const size_t count = request->values.scheme->info.parameter_count;
    while (i < count && is_usual(&request->values, i, tensor))
        i++;
    return i == count;
}
