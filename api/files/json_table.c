/* JSON tables: what /v1/encodings answers, one of its tensors, or nested arrays of numbers. */
#include "files/safetensors.h"
#include "files/table_view.h"
#include "files/text_table.h"
#include "http/arguments.h"
#include "json/document.h"
#include "json/measure.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- the document ---- */

/* Parse a text. NULL, and a problem, if it is no JSON, or too much. */
static json_t *parse_text(const char *text, size_t size, pe_error *reterr)
{
    const api_json_measure found = api_json_count(text, size);
    return api_json_reserve(&found, size, 0, reterr)
               ? api_json_parse(text, size, "JSON", reterr)
               : NULL;
}

/* The tensors of a document by their names, as many as an answer may have; NULL without memory.
 */
static json_t *name_tensors(const json_t *tensors)
{
    json_t *named = json_object();
    for (size_t i = 0; i < json_array_size(tensors) && i < PE_TENSORS_MAX; i++) {
        json_t *tensor = json_array_get(tensors, i);
        const char *name = json_string_value(json_object_get(tensor, "name"));
        if (name && json_object_set(named, name, tensor) != 0) {
            json_decref(named);
            return NULL;
        }
    }
    return named;
}

/* Find the tensor of a document: an object with `data`, or the data alone. NULL, and a problem,
 * if there is none. It belongs to the root. */
static const json_t *find_tensor(const json_t *root, const api_table_wish *wish,
                                 char ret_name[API_SET_NAME_MAX + 1], pe_error *reterr)
{
    if (json_is_array(root) || json_object_get(root, "data")) {
        if (!wish->name)
            return root;
        api_table_refuse(reterr, PE_MALFORMED, "file_tensor", wish->name,
                         "left out: the body has one table alone");
        return NULL;
    }
    json_t *named = name_tensors(json_object_get(root, "tensors"));
    const json_t *found = NULL;
    if (!named)
        api_table_refuse(reterr, PE_NO_MEMORY, "", "", "memory for the body");
    else if (json_object_size(named) == 0)
        api_table_refuse(
            reterr, PE_MALFORMED, "body", "",
            "what /v1/encodings answers, with tensors, or nested arrays of numbers, "
            "as [[0, 1], [0.84, 0.54]]");
    else
        found = api_choose_tensor(named, wish->name, wish->otherwise, ret_name, reterr);
    json_decref(named);
    return found;
}

/* Read the dtype of a tensor, if it says one. */
static bool read_dtype(const json_t *tensor, pe_dtype *dtype, pe_error *reterr)
{
    const json_t *given = json_object_get(tensor, "dtype");
    const char *name = json_string_value(given), *names[PE_DTYPE_COUNT];
    for (int i = 0; i < PE_DTYPE_COUNT; i++)
        names[i] = pe_dtype_name((pe_dtype)i);
    if (!given || (name && api_find_dtype(name, dtype)))
        return true;
    pe_error_add_choice(reterr, "dtype", name ? name : "", names, PE_DTYPE_COUNT);
    return false;
}

/* ---- the numbers ---- */

/* Read a number. What JSON has none for is a text, or null, which stands for the minus infinity
 * of masks. */
static bool read_number(api_numbers *numbers, const json_t *value)
{
    if (json_is_string(value))
        return api_numbers_read(numbers, json_string_value(value), json_string_length(value));
    return (json_is_number(value) || json_is_null(value)) &&
           api_numbers_add(numbers, json_is_null(value) ? -INFINITY : json_number_value(value));
}

/* Read arrays from an axis on. False: they are of another shape, or hold something else. */
static bool read_nested(api_numbers *numbers, const pe_view *shape, const json_t *value,
                        size_t axis)
{
    if (axis == shape->rank)
        return read_number(numbers, value);
    bool good = json_is_array(value) && json_array_size(value) == shape->shape[axis];
    for (size_t i = 0; good && i < shape->shape[axis]; i++)
        good = read_nested(numbers, shape, json_array_get(value, i), axis + 1);
    return good;
}

/* Find the shape of nested arrays by the first items. */
static bool find_shape(pe_view *shape, const json_t *data, pe_error *reterr)
{
    for (; json_is_array(data); data = json_array_get(data, 0))
        if (!api_table_add_axis(shape, json_array_size(data), reterr))
            return false;
    return true;
}

/* Read the numbers of a tensor: those of a text of `size` bytes, as which they are fewer. */
static bool read_data(api_numbers *numbers, pe_view *shape, const json_t *data, size_t size,
                      uint64_t most, pe_error *reterr)
{
    if (!find_shape(shape, data, reterr))
        return false;
    const uint64_t elements = pe_view_elements(shape);
    const bool may_be = json_is_array(data) && elements > 0 && elements <= size;
    if (may_be && !api_numbers_begin(numbers, elements, most, reterr))
        return false;
    if (may_be && read_nested(numbers, shape, data, 0))
        return true;
    pe_error_add(
        reterr, PE_MALFORMED, "body", "",
        "nested arrays of numbers, all those of an axis as long as the first; they are "
        "so up to number %llu",
        (unsigned long long)numbers->count);
    return false;
}

bool api_json_view(const api_file *file, const api_table_wish *wish, api_segment *ret_numbers,
                   pe_view *ret_view, char ret_name[API_SET_NAME_MAX + 1], pe_error *reterr)
{
    const size_t size = (size_t)file->size;
    char *text = api_text_load(file, reterr);
    json_t *root = text ? parse_text(text, size, reterr) : NULL;
    free(text);
    const json_t *tensor = root ? find_tensor(root, wish, ret_name, reterr) : NULL;
    const json_t *data = json_is_array(tensor) ? tensor : json_object_get(tensor, "data");
    api_numbers numbers = {.dtype = wish->dtype};
    pe_view shape = {.rank = 0};
    const bool good = tensor && read_dtype(tensor, &numbers.dtype, reterr) &&
                      read_data(&numbers, &shape, data, size, wish->most, reterr) &&
                      api_numbers_view(&numbers, &shape, ret_numbers, ret_view, reterr);
    free(numbers.elements);
    json_decref(root);
    return good;
}
