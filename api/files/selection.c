/* Finding the heads that are converted. */
#include "files/selection.h"

#include "files/names.h"
#include "files/safetensors.h"
#include "files/set_header.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HEAD_WIDTH_MAX 65536 /* columns of a head */

/* ---- one array ---- */

/* An array in a file. */
typedef struct file_array {
    const char *name; /* NULL: the file has one */
    size_t rank;
    uint64_t extent, entry; /* of the axis: how many entries it has, and their bytes */
    uint64_t begin, end;    /* bytes of the file */
} file_array;

/* The axis that is asked for. False, and a problem, if the array has no such one. */
static bool choose_axis(const api_convert_request *asked, size_t rank, const char *name,
                        size_t *ret_axis, pe_error *reterr)
{
    int count = (int)rank, axis = asked->axis < 0 ? asked->axis + count : asked->axis;
    char given[24];
    *ret_axis = (size_t)axis;
    if (axis >= 0 && axis < count)
        return true;
    snprintf(given, sizeof given, "%d", asked->axis);
    pe_error_add(reterr, PE_OUT_OF_RANGE, "axis", given, "an axis of %s, which has %d",
                 name ? name : "the array", count);
    return false;
}

/* Check that the axis consists of heads. False: a problem was added. */
static bool split(const api_convert_request *asked, const file_array *array, const char *option,
                  uint64_t heads, api_heads *ret_part, pe_error *reterr)
{
    const char *name = array->name ? array->name : "the array";
    char given[24];
    uint64_t width = array->extent / heads;
    uint64_t turned = asked->rotary_dim > 0 ? asked->rotary_dim : width;
    snprintf(given, sizeof given, "%llu", (unsigned long long)heads);
    if (array->extent % heads != 0 || width > HEAD_WIDTH_MAX)
        pe_error_add(reterr, PE_OUT_OF_RANGE, option, given,
                     "a divisor of %llu, the extent of axis %d of %.100s, with heads of at "
                     "most %d columns",
                     (unsigned long long)array->extent, asked->axis, name, HEAD_WIDTH_MAX);
    else if (turned > width) {
        snprintf(given, sizeof given, "%llu", (unsigned long long)turned);
        pe_error_add(reterr, PE_OUT_OF_RANGE, "rotary_dim", given,
                     "at most %llu, the columns of a head of %.100s", (unsigned long long)width,
                     name);
    } else if (turned % 2 != 0)
        pe_error_add(reterr, PE_OUT_OF_RANGE, option, given,
                     "such that a head of %.100s has an even number of columns; it has %llu",
                     name, (unsigned long long)width);
    else {
        *ret_part = (api_heads){array->begin, array->end, array->entry, width, turned};
        return true;
    }
    return false;
}

/* ---- npy ---- */

bool api_convert_npy(const api_convert_request *asked, const api_file *file,
                     api_conversion *ret_conversion, pe_error *reterr)
{
    pe_view view;
    size_t axis;
    if (!api_npy_view(file, &view, reterr) ||
        !choose_axis(asked, view.rank, NULL, &axis, reterr))
        return false;
    const file_array array = {.rank = view.rank,
                              .extent = view.shape[axis],
                              .entry = view.strides[axis] * pe_element_size(view.element),
                              .begin = view.offset,
                              .end = file->size};
    api_heads part;
    if (!split(asked, &array, "heads", asked->heads, &part, reterr))
        return false;
    *ret_conversion = (api_conversion){asked->from, asked->to, 1, malloc(sizeof part)};
    if (ret_conversion->parts)
        *ret_conversion->parts = part;
    else
        pe_error_add(reterr, PE_NO_MEMORY, "", "", "memory for the conversion");
    return ret_conversion->parts != NULL;
}

/* ---- safetensors ---- */

/* Read where a tensor lies and the shape of it. False: a problem was added. */
static bool read_array(const api_convert_request *asked, const json_t *value, uint64_t data,
                       uint64_t size, file_array *array, pe_error *reterr)
{
    const json_t *shape = json_object_get(value, "shape");
    const json_t *offsets = json_object_get(value, "data_offsets");
    json_int_t begin = json_integer_value(json_array_get(offsets, 0));
    json_int_t end = json_integer_value(json_array_get(offsets, 1));
    uint64_t before = 1;
    size_t axis;
    if (begin < 0 || end <= begin || (uint64_t)end > size - data) {
        pe_error_add(reterr, PE_MALFORMED, array->name, "",
                     "a tensor with data_offsets that begin and end within the file's data");
        return false;
    }
    array->rank = json_array_size(shape);
    if (!choose_axis(asked, array->rank, array->name, &axis, reterr))
        return false;
    for (size_t i = 0; i <= axis; i++) {
        json_int_t extent = json_integer_value(json_array_get(shape, i));
        array->extent = extent > 0 ? (uint64_t)extent : 0;
        if (array->extent == 0 || __builtin_mul_overflow(before, array->extent, &before))
            before = 0;
    }
    array->begin = data + (uint64_t)begin;
    array->end = data + (uint64_t)end;
    if (before > 0 && (uint64_t)(end - begin) % before == 0) {
        array->entry = (uint64_t)(end - begin) / before;
        return true;
    }
    pe_error_add(reterr, PE_MALFORMED, array->name, "",
                 "a tensor with a shape of integers from 1 on that fits its data_offsets");
    return false;
}

/* Add a problem that says which names there are, because none is asked for. */
static void refuse_names(const api_convert_request *asked, const json_t *root, pe_error *reterr)
{
    char names[160] = "";
    const char *name;
    json_t *value;
    size_t used = 0;
    json_object_foreach((json_t *)(uintptr_t)root, name, value)
    {
        if (strcmp(name, API_SET_METADATA) != 0 && used + strlen(name) + 8 < sizeof names)
            used += (size_t)snprintf(names + used, sizeof names - used, "%s, ", name);
    }
    pe_error_add(reterr, PE_OUT_OF_RANGE, "tensors", asked->tensors,
                 "names or patterns (with * for any text) of tensors of the file, which has "
                 "%s…",
                 names);
}

/* Compares parts by their bytes, for qsort. */
static int by_begin(const void *one, const void *other)
{
    uint64_t a = ((const api_heads *)one)->begin, b = ((const api_heads *)other)->begin;
    return (a > b) - (a < b);
}

/* Sort the parts; false, and a problem, if two overlap. */
static bool sort_parts(api_conversion *conversion, pe_error *reterr)
{
    qsort(conversion->parts, conversion->count, sizeof *conversion->parts, by_begin);
    for (size_t i = 1; i < conversion->count; i++)
        if (conversion->parts[i].begin < conversion->parts[i - 1].end) {
            pe_error_add(reterr, PE_MALFORMED, "data_offsets", "",
                         "those of tensors that do not overlap");
            return false;
        }
    return true;
}

/* Whether the heads of a tensor are as wide as those before: heads of queries and of keys are.
 * False: a problem was added, which says how many heads would do. */
static bool have_same_width(const api_conversion *conversion, const file_array *array,
                            const char *option, const char *first, pe_error *reterr)
{
    const api_heads *one = &conversion->parts[0];
    const api_heads *other = &conversion->parts[conversion->count - 1];
    char given[24], fitting[48] = "another number";
    if (one->width == other->width)
        return true;
    snprintf(given, sizeof given, "%llu", (unsigned long long)(array->extent / other->width));
    if (array->extent % one->width == 0)
        snprintf(fitting, sizeof fitting, "%llu",
                 (unsigned long long)(array->extent / one->width));
    pe_error_add(reterr, PE_OUT_OF_RANGE, option, given,
                 "%s, so that a head of %.60s has as many columns as one of %.60s: %llu, not "
                 "%llu",
                 fitting, array->name, first, (unsigned long long)one->width,
                 (unsigned long long)other->width);
    return false;
}

/* Collect the parts of all tensors that are asked for. False: a problem was added. */
static bool collect(const api_convert_request *asked, const api_names *queries,
                    const api_names *keys, const json_t *root, uint64_t data, uint64_t size,
                    api_conversion *conversion, pe_error *reterr)
{
    const char *name, *first = "";
    json_t *value;
    json_object_foreach((json_t *)(uintptr_t)root, name, value)
    {
        bool query = api_names_have(queries, name);
        file_array array = {.name = name};
        if (strcmp(name, API_SET_METADATA) == 0 || (!query && !api_names_have(keys, name)))
            continue;
        if (!read_array(asked, value, data, size, &array, reterr) ||
            !split(asked, &array, query ? "heads" : "kv_heads",
                   query ? asked->heads : asked->kv_heads,
                   &conversion->parts[conversion->count++], reterr))
            return false;
        first = conversion->count == 1 ? name : first;
        if (!have_same_width(conversion, &array, query ? "heads" : "kv_heads", first, reterr))
            return false;
    }
    if (conversion->count == 0)
        refuse_names(asked, root, reterr);
    return conversion->count > 0 && sort_parts(conversion, reterr);
}

/* The same by the lists of names. */
static bool collect_listed(const api_convert_request *asked, const json_t *root, uint64_t data,
                           uint64_t size, api_conversion *conversion, pe_error *reterr)
{
    const pe_parameter *options = api_convert_options;
    api_names queries, keys = {.text = NULL};
    bool good =
        api_names_read(asked->tensors, options[API_CONVERT_TENSORS].name, &queries, reterr) &&
        api_names_read(asked->kv_tensors, options[API_CONVERT_KV_TENSORS].name, &keys,
                       reterr) &&
        collect(asked, &queries, &keys, root, data, size, conversion, reterr);
    api_names_done(&queries);
    api_names_done(&keys);
    return good;
}

bool api_convert_safetensors(const api_convert_request *asked, const api_file *file,
                             api_conversion *ret_conversion, pe_error *reterr)
{
    size_t data;
    json_t *root = api_safetensors_load(file, &data, reterr);
    if (!root)
        return false;
    *ret_conversion = (api_conversion){asked->from, asked->to, 0, NULL};
    size_t members = json_object_size(root);
    ret_conversion->parts = calloc(members + 1, sizeof *ret_conversion->parts);
    if (!ret_conversion->parts)
        pe_error_add(reterr, PE_NO_MEMORY, "", "", "memory for the conversion");
    bool good = ret_conversion->parts &&
                collect_listed(asked, root, data, file->size, ret_conversion, reterr);
    json_decref(root);
    if (!good)
        free(ret_conversion->parts);
    return good;
}
