/* Writing comparisons. */
#include "replies/comparison.h"

#include "replies/document.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Names in place of a tolerance, and their dtypes. */
static const char *const ARITHMETICS[] = {"float32", "bfloat16", "float16", "float64", NULL};
static const pe_dtype ARITHMETIC_DTYPES[] = {PE_F32, PE_BF16, PE_F16, PE_F64};

const pe_parameter api_compare_options[API_COMPARE_OPTIONS] = {
    [API_COMPARE_FILE_TENSOR] =
        {.name = "file_tensor",
         .type = PE_TEXT,
         .help =
             "the tensor of a safetensors file, or of JSON; by default its only one, or the "
             "one that is called as the scheme's"},
    [API_COMPARE_TOLERANCE] =
        {.name = "tolerance",
         .type = PE_REAL,
         .minimum = 0,
         .maximum = 1e300,
         .choices = ARITHMETICS,
         .help = "largest absolute error that is accepted; or an arithmetic, and then what "
                 "that may lose at the position of each entry. With this, rtol or ulps, the "
                 "answer to a table with larger errors is 409"},
    [API_COMPARE_ULPS] =
        {.name = "ulps",
         .type = PE_REAL,
         .minimum = 0,
         .maximum = 1e300,
         .help = "largest error that is accepted in units in the last place of the exact "
                 "entry, whatever its absolute size"},
    [API_COMPARE_RTOL] =
        {.name = "rtol",
         .type = PE_REAL,
         .minimum = 0,
         .maximum = 1e300,
         .help = "largest relative error that is accepted: tolerance + rtol * |exact|, as "
                 "numpy.allclose has it"},
    [API_COMPARE_MASK] =
        {.name = "mask",
         .type = PE_TEXT_LIST,
         .help = "any: where the exact entry is minus infinity, numbers 50 or more below "
                 "the finite entries of its row are equal to it, as -1e9 or the least float; a "
                 "value of the scheme's parameter of this name goes before it: causal,any"},
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
    if (comparison->repeated > 1)
        json_object_set_new(document, "repeated", describe_integer(comparison->repeated));
    json_object_set_new(document, "ulps_of_one", describe_error(comparison->one));
    json_object_set_new(document, "not_finite", describe_integer(comparison->not_finite));
    if (comparison->masked > 0)
        json_object_set_new(document, "masked", describe_integer(comparison->masked));
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

/* Take "any" out of a list of names joined by commas, which lies in `text`. False: it is not
 * there. */
static bool take_any(const char **list, char *text)
{
    static const char ANY[] = ",any";
    const size_t length = strlen(*list), own = strlen(ANY);
    if (length >= own && strcmp(*list + length - own, ANY) == 0) {
        text[(*list - text) + (ptrdiff_t)(length - own)] = '\0';
        return true;
    }
    const bool first = strncmp(*list, "any,", own) == 0;
    *list += first ? own : 0;
    return first;
}

bool api_take_any_mask(api_arguments *arguments)
{
    const char *name = api_compare_options[API_COMPARE_MASK].name;
    api_arguments_add_names(arguments, &api_compare_options[API_COMPARE_MASK], 1);
    for (size_t i = 0; i < arguments->count; i++) {
        pe_argument *item = &arguments->items[i];
        if (strcmp(item->name, name) != 0 || !item->text)
            continue;
        if (strcmp(item->text, "any") == 0) {
            arguments->count--;
            memmove(item, item + 1, (arguments->count - i) * sizeof *item);
            return true;
        }
        if (take_any(&item->text, arguments->text))
            return true;
    }
    return false;
}

api_judgement api_read_judgement(const pe_options *options, size_t row, bool any_mask)
{
    const pe_value *values[API_COMPARE_READ];
    for (size_t i = API_COMPARE_TOLERANCE; i < API_COMPARE_READ; i++)
        values[i] = pe_options_value(options, row + i - API_COMPARE_TOLERANCE);
    const pe_value *absolute = values[API_COMPARE_TOLERANCE];
    const size_t named = (size_t)absolute->integer;
    const bool judged = absolute->present || values[API_COMPARE_ULPS]->present ||
                        values[API_COMPARE_RTOL]->present;
    return (api_judgement){judged,
                           {.decides = judged,
                            .absolute = absolute->real,
                            .ulps = values[API_COMPARE_ULPS]->real,
                            .relative = values[API_COMPARE_RTOL]->real,
                            .bounded = named > 0,
                            .arithmetic = named > 0 ? ARITHMETIC_DTYPES[named - 1] : PE_F32,
                            .any_mask = any_mask}};
}

void api_check_arithmetic(const pe_options *options, size_t row, const pe_scheme *scheme,
                          pe_error *reterr)
{
    if (pe_options_value(options, row)->integer > 0 && !pe_scheme_is_bounded(scheme))
        pe_error_add(reterr, PE_OUT_OF_RANGE, api_compare_options[API_COMPARE_TOLERANCE].name,
                     pe_options_text(options, row),
                     "a number: entries of this scheme, or their angles, are sums whose terms "
                     "may cancel");
}

json_t *api_comparison_describe(const api_compared_names *names,
                                const pe_comparison *comparison, const api_compared *tensor,
                                bool judged, const char *name, json_t *member)
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
    if (member)
        json_object_set_new(document, name, member);
    return document;
}

api_reply *api_comparison_answer(json_t *document)
{
    bool differs = json_is_false(json_object_get(document, "within_tolerance"));
    return api_passing_document(differs ? 409 : 200, document);
}
