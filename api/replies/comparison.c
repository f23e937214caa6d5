/* Writing comparisons. */
#include "replies/comparison.h"

#include "replies/document.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const pe_parameter api_compare_options[API_COMPARE_OPTIONS] = {
    [API_COMPARE_FILE_TENSOR] =
        {.name = "file_tensor",
         .type = PE_TEXT,
         .help = "the tensor of a safetensors file; by default its only one, or the "
                 "one that is called as the scheme's"},
    [API_COMPARE_TOLERANCE] =
        {.name = "tolerance",
         .type = PE_REAL,
         .minimum = 0,
         .maximum = 1e300,
         .help = "largest absolute error that is accepted: with it, or with ulps, the "
                 "answer to a table with larger errors is 409"},
    [API_COMPARE_ULPS] =
        {.name = "ulps",
         .type = PE_REAL,
         .minimum = 0,
         .maximum = 1e300,
         .help = "largest error that is accepted in units in the last place of the exact "
                 "entry, whatever its absolute size"},
};

/* An error; null if it is infinite. */
static json_t *describe_error(double error)
{
    return isfinite(error) ? json_real(error) : json_null();
}

/* A value of a table: the double with the shortest text of the tensor's dtype. Infinities and
 * NaN are null, as in the json form of tensors. */
static json_t *describe_value(const api_compared *tensor, double value)
{
    char text[PE_PRINT_MAX];
    float narrow = (float)value;
    if (!isfinite(value))
        return json_null();
    if (tensor->dtype == PE_F64 || (double)narrow != value)
        return json_real(value);
    pe_print_element(text, PE_F32, &narrow);
    return json_real(strtod(text, NULL));
}

static json_t *describe_integer(uint64_t integer)
{
    return json_integer((json_int_t)integer);
}

json_t *api_comparison_index(const api_compared *tensor, uint64_t place)
{
    json_t *index = json_array();
    uint64_t left = tensor->elements;
    for (size_t axis = 0; axis < tensor->rank; axis++) {
        left /= tensor->shape[axis];
        json_array_append_new(index, describe_integer(place / left));
        place %= left;
    }
    return index;
}

static json_t *describe_deviation(const pe_deviation *deviation, const api_compared *tensor)
{
    return json_pack("{s:o, s:o, s:o, s:o}", "error", describe_error(deviation->error), "at",
                     api_comparison_index(tensor, deviation->place), "found",
                     describe_value(tensor, deviation->found), "exact",
                     describe_value(tensor, deviation->exact));
}

/* How many entries err by how many ulps; bins without entries are left out. */
static json_t *describe_histogram(const pe_comparison *comparison)
{
    json_t *histogram = json_array();
    for (size_t i = 0; i < PE_COMPARE_BINS; i++) {
        double limit = i == 0 ? 0 : ldexp(1, (int)i - 2);
        if (comparison->bins[i] > 0)
            json_array_append_new(
                histogram,
                json_pack("{s:o, s:o}", "ulps",
                          i == PE_COMPARE_BINS - 1 ? json_null() : api_document_number(limit),
                          "entries", describe_integer(comparison->bins[i])));
    }
    return histogram;
}

/* Parts with differing entries; `name` is what they consist of. */
static json_t *list_parts(const pe_compared_part *parts, size_t count, const char *name)
{
    json_t *list = json_array();
    for (size_t i = 0; i < count; i++) {
        const pe_compared_part *part = &parts[i];
        if (part->differing == 0)
            continue;
        json_t *described = json_object();
        json_object_set_new(described, name, describe_integer(part->first));
        json_object_set_new(described, "count", describe_integer(part->count));
        json_object_set_new(described, "differing", describe_integer(part->differing));
        json_object_set_new(described, "max_abs", describe_error(part->max_abs));
        json_array_append_new(list, described);
    }
    return list;
}

static json_t *list_rows(const pe_comparison *comparison, const api_compared *tensor)
{
    json_t *rows = json_array();
    uint64_t columns = tensor->rank > 0 ? tensor->shape[tensor->rank - 1] : 1;
    for (size_t i = 0; i < comparison->row_count; i++) {
        const pe_compared_row *row = &comparison->rows[i];
        json_t *entries = json_array();
        for (size_t k = 0; k < row->samples; k++)
            json_array_append_new(
                entries,
                json_pack("{s:o, s:o, s:o}", "at",
                          api_comparison_index(tensor, row->row * columns + row->columns[k]),
                          "found", describe_value(tensor, row->found[k]), "exact",
                          describe_value(tensor, row->exact[k])));
        json_array_append_new(
            rows, json_pack("{s:o, s:o, s:o}", "row", describe_integer(row->row), "differing",
                            describe_integer(row->differing), "entries", entries));
    }
    return rows;
}

api_compared api_compared_init(const pe_tensor *tensor)
{
    api_compared compared = {
        .dtype = tensor->dtype, .rank = tensor->rank, .elements = tensor->elements};
    memcpy(compared.shape, tensor->shape, tensor->rank * sizeof *tensor->shape);
    return compared;
}

json_t *api_comparison_axis(const pe_comparison *comparison, size_t axis)
{
    json_t *list = json_array();
    for (size_t i = 0; i < comparison->axis_parts[axis]; i++) {
        const pe_compared_part *part = &comparison->axes[axis][i];
        json_array_append_new(list, json_pack("{s:o, s:o, s:o, s:o, s:o}", "first",
                                              describe_integer(part->first), "count",
                                              describe_integer(part->count), "differing",
                                              describe_integer(part->differing), "max_abs",
                                              describe_error(part->max_abs), "max_ulps",
                                              describe_error(part->max_ulps)));
    }
    return list;
}

json_t *api_comparison_document(const pe_comparison *comparison, const api_compared *tensor)
{
    json_t *document = json_pack("{s:b, s:o, s:o, s:o}", "equal", comparison->differing == 0,
                                 "entries", describe_integer(comparison->entries), "differing",
                                 describe_integer(comparison->differing), "signs",
                                 describe_integer(comparison->signs));
    if (comparison->absolute.error > 0) {
        json_object_set_new(document, "max_abs",
                            describe_deviation(&comparison->absolute, tensor));
        json_object_set_new(document, "max_ulps",
                            describe_deviation(&comparison->ulps, tensor));
    }
    json_object_set_new(document, "ulps_of_one", describe_error(comparison->one));
    json_object_set_new(document, "not_finite", describe_integer(comparison->not_finite));
    if (comparison->not_finite > 0)
        json_object_set_new(document, "first_not_finite",
                            api_comparison_index(tensor, comparison->first_not_finite));
    json_object_set_new(document, "histogram", describe_histogram(comparison));
    json_object_set_new(document, "columns",
                        list_parts(comparison->columns, comparison->column_count, "column"));
    json_object_set_new(document, "blocks",
                        list_parts(comparison->blocks, comparison->block_count, "row"));
    json_object_set_new(document, "rows", list_rows(comparison, tensor));
    return document;
}

api_judgement api_read_judgement(const pe_options *options, size_t row)
{
    const pe_value *absolute = pe_options_value(options, row);
    const pe_value *ulps = pe_options_value(options, row + 1);
    return (api_judgement){absolute->present || ulps->present,
                           {.absolute = absolute->real, .ulps = ulps->real}};
}

json_t *api_comparison_describe(const api_compared_names *names,
                                const pe_comparison *comparison, const api_compared *tensor,
                                bool judged, json_t *by)
{
    json_t *document =
        json_pack("{s:{s:s, s:s, s:s?}, s:o, s:s, s:{s:s, s:s, s:s*}}", "request", "scheme",
                  names->scheme, "tensor", names->tensor, "url", names->url, "shape",
                  api_document_shape(tensor->shape, tensor->rank), "dtype",
                  pe_dtype_name(tensor->dtype), "file", "format", names->format, "dtype",
                  pe_element_name(names->element), "tensor", names->file_tensor);
    if (judged) {
        json_object_set_new(document, "within_tolerance",
                            json_boolean(comparison->outside == 0));
        json_object_set_new(document, "outside_tolerance",
                            json_integer((json_int_t)comparison->outside));
    }
    json_t *found = api_comparison_document(comparison, tensor);
    json_object_update(document, found);
    json_decref(found);
    if (by)
        json_object_set_new(document, "by", by);
    return document;
}

api_reply *api_comparison_answer(json_t *document)
{
    bool differs = json_is_false(json_object_get(document, "within_tolerance"));
    return api_passing_document(differs ? 409 : 200, document);
}
