/* Saying what made a table. */
#include "replies/identity.h"

#include "bytes/text.h"
#include "http/arguments.h"
#include "replies/comparison.h"
#include "replies/identity_forms.h"
#include "replies/identity_reason.h"
#include "json/document.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

const pe_parameter api_identify_options[API_IDENTIFY_OPTIONS] = {
    [API_IDENTIFY_SCHEME] = {.name = "scheme",
                             .type = PE_TEXT,
                             .help = "the one scheme to look for; by default all that are "
                                     "recognised"},
    [API_IDENTIFY_LIMIT] = {.name = "limit",
                            .type = PE_INTEGER,
                            .default_text = "3",
                            .maximum = PE_EQUIVALENTS_MAX,
                            .help = "the most other requests to look for that make the same "
                                    "table"},
    [API_IDENTIFY_SET] = {.name = "set",
                          .old_name = "parameters",
                          .type = PE_STORED,
                          .help = "the set whose tensors the table may be made of: rows "
                                  "of them, or interpolated ones"},
    [API_IDENTIFY_FILE_TENSOR] = {.name = "file_tensor",
                                  .type = PE_TEXT,
                                  .help = "the tensor of a safetensors file, or of JSON; by "
                                          "default its only one"},
    [API_IDENTIFY_SHAPE] = {.name = "shape",
                            .type = PE_INTEGER_LIST,
                            .minimum = 1,
                            .maximum = 9007199254740992.0,
                            .list_length = PE_VIEW_RANK_MAX,
                            .help = "extents of raw elements or, if a line is no row, of CSV, "
                                    "such as 4096,128"},
    [API_IDENTIFY_DTYPE] = {.name = "dtype",
                            .type = PE_TEXT,
                            .default_text = "f32",
                            .help =
                                "type of raw elements: f32, f64, f16, bf16, i8 to i64, u8 to "
                                "u64 or bool"},
};

#define LIST_MAX 16 /* numbers of a list that a sentence says */

static const char *const STATUSES[] = {[PE_IDENTITY_UNKNOWN] = "unknown",
                                       [PE_IDENTITY_NEAR] = "near",
                                       [PE_IDENTITY_MATCH] = "match",
                                       [PE_IDENTITY_EXACT] = "exact"};

static const struct {
    const char *name, *phrase;
} ARITHMETICS[] = {
    [PE_ARITHMETIC_EXACT] = {"exact", ", bit for bit"},
    [PE_ARITHMETIC_F64] = {"float64", ", computed in float64 and rounded once"},
    [PE_ARITHMETIC_F32] = {"float32", ", computed in float32"},
    [PE_ARITHMETIC_F32_LIKE] = {"like_float32", ", as near as float32 arithmetic brings it"},
    [PE_ARITHMETIC_UNKNOWN] = {"unknown", ""},
};

/* ---- the answer in a sentence ---- */

/* Add a value, of a long list its ends: "0,1,2,…,511 (512 numbers)". */
static void add_value(const char *value, size_t size, api_text *text)
{
    size_t commas = 0, third = 0, last = 0;
    for (size_t i = 0; i < size; i++)
        if (value[i] == ',') {
            last = i;
            third = ++commas == 3 ? i : third;
        }
    if (commas < LIST_MAX)
        api_text_add(text, " %.*s", (int)size, value);
    else
        api_text_add(text, " %.*s,…%.*s (%zu numbers)", (int)third, value, (int)(size - last),
                     value + last, commas + 1);
}

/* Add a query in words: "length 4096, dim 128". */
static void add_query(const char *query, api_text *text)
{
    const char *rest = query;
    for (api_query_pair pair; api_query_next(&rest, &pair);)
        if (pair.name < pair.size) {
            api_text_add(text, "%s %.*s", pair.text > query ? "," : "", (int)pair.name,
                         pair.text);
            add_value(pair.text + pair.name + 1, pair.size - pair.name - 1, text);
        }
}

/* Add what an item of a list is, and how many there are: "rows 40, 41 and 7 more". */
static void add_places(const char *what, const uint64_t *items, uint64_t count, api_text *text)
{
    if (count == 0)
        return;
    api_text_add(text, "%s%s %llu", what, count > 1 ? "s" : "", (unsigned long long)items[0]);
    if (count > 1)
        api_text_add(text, " and %llu more", (unsigned long long)count - 1);
}

/* Add an element's index: "[40, 3]". */
static void add_index(const api_compared *tensor, uint64_t place, api_text *text)
{
    json_t *index = api_comparison_index(tensor, place);
    for (size_t axis = 0; axis < json_array_size(index); axis++)
        api_text_add(text, "%s%lld", axis > 0 ? ", " : "[",
                     (long long)json_integer_value(json_array_get(index, axis)));
    api_text_add(text, "]");
    json_decref(index);
}

/* Add how many entries do not fit. `whose`: " of sin". */
static void add_misfit_count(uint64_t count, const char *whose, api_text *text)
{
    if (count > 0)
        api_text_add(text, "; %llu entr%s%s do%s not fit", (unsigned long long)count,
                     count > 1 ? "ies" : "y", whose, count > 1 ? "" : "es");
}

static void add_misfits(const pe_misfits *misfits, const api_compared *tensor, api_text *text)
{
    const bool rows = misfits->row_count > 0, columns = misfits->column_count > 0;
    const bool entries = misfits->entry_count > 0;
    add_misfit_count(misfits->count, "", text);
    api_text_add(text, "%s", rows || columns || entries ? ": " : "");
    add_places("row", misfits->rows, misfits->row_count, text);
    if (rows && misfits->zero_rows == misfits->row_count)
        api_text_add(text, ", which %s zero", misfits->row_count > 1 ? "are" : "is");
    api_text_add(text, "%s", rows && columns ? ", " : "");
    add_places("column", misfits->columns, misfits->column_count, text);
    if (entries) {
        api_text_add(text, "%s%s", rows || columns ? ", " : "",
                     misfits->entry_count > 1 ? "entries such as " : "entry ");
        add_index(tensor, misfits->entries[0], text);
    }
}

/* Add which format the values are of, where the table has a longer one. */
static void add_values(const pe_identity *identity, pe_element stored, bool is_text,
                       api_text *text)
{
    static const char *const NAMES[] = {[PE_ELEMENT_F32] = "float32",
                                        [PE_ELEMENT_F64] = "float64",
                                        [PE_ELEMENT_F16] = "float16",
                                        [PE_ELEMENT_BF16] = "bfloat16"};
    char but[40] = "";
    if (identity->wider > 0)
        snprintf(but, sizeof but, ", but for %llu,", (unsigned long long)identity->wider);
    if (!identity->tf32 && identity->element == stored)
        return;
    api_text_add(text, "; %s values%s", identity->tf32 ? "TF32" : NAMES[identity->element],
                 but);
    if (!is_text) /* whose numbers have no format of their own */
        api_text_add(text, " in a %s file", NAMES[stored]);
}

/* The arithmetic that is told: float32 says nothing of numbers in float64. */
static pe_arithmetic find_arithmetic(const pe_identity *identity)
{
    return identity->arithmetic == PE_ARITHMETIC_F32_LIKE && identity->element == PE_ELEMENT_F64
               ? PE_ARITHMETIC_UNKNOWN
               : identity->arithmetic;
}

/* Add from where on a computation shows. */
static void add_effect(const pe_computation *computation, api_text *text)
{
    if (computation->first_off > 0)
        api_text_add(text, " (%s): entries are off by more than %g, first in row %llu",
                     computation->text, PE_COMPUTATION_FAR,
                     (unsigned long long)computation->first_off);
}

static void add_found(const pe_identity *identity, const pe_equivalents *equivalents,
                      pe_element stored, bool is_text, const api_compared *tensor,
                      api_text *text)
{
    const pe_deviation *most = &identity->comparison.absolute;
    const bool near = identity->status == PE_IDENTITY_NEAR;
    char whose[40];
    const pe_second *second = &identity->second;
    const double far = PE_COMPUTATION_FAR * fmax(1, fabs(most->exact));
    const bool made = !near && fmax(most->error, second->largest) <= far; /* as a preset does */
    const bool apart = second->tensor[0] && (second->scheme != identity->scheme ||
                                             strcmp(second->query, identity->query) != 0);
    api_text_add(text, "This is %s%s%s%s of %s with", near ? "nearly " : "", identity->tensor,
                 second->tensor[0] && !apart ? " and " : "", apart ? "" : second->tensor,
                 pe_scheme_describe(identity->scheme)->name);
    add_query(identity->query, text);
    if (equivalents->preset_count > 0 && !strstr(identity->query, "preset="))
        api_text_add(text, " (%s preset %s)", made ? "as" : "the law of",
                     equivalents->presets[0]);
    if (apart) {
        api_text_add(text, ", and %s of %s with", second->tensor,
                     pe_scheme_describe(second->scheme)->name);
        add_query(second->query, text);
    }
    api_text_add(text, "%s", ARITHMETICS[find_arithmetic(identity)].phrase);
    add_effect(&identity->computation, text);
    api_forms_add(identity, text);
    if (most->error > 0) {
        api_text_add(text, "; the largest error against the exact table is %.1e, at ",
                     most->error);
        add_index(tensor, most->place, text);
    }
    if (near && identity->misfits.count == 0 && identity->comparison.differing > 0)
        api_text_add(text, "; %llu of %llu entries differ from it",
                     (unsigned long long)identity->comparison.differing,
                     (unsigned long long)identity->comparison.entries);
    if (identity->noise == 0)
        add_misfits(&identity->misfits, tensor, text);
    snprintf(whose, sizeof whose, " of %s", identity->second.tensor);
    add_misfit_count(identity->second.misfits, whose, text);
    add_values(identity, stored, is_text, text);
    api_text_add(text, ".");
}

/* NULL without memory. */
static json_t *write_summary(const pe_identity *identity, const pe_equivalents *equivalents,
                             const pe_view *table, bool is_text, const api_compared *tensor)
{
    api_text text = {.data = NULL};
    if (identity->status == PE_IDENTITY_UNKNOWN) {
        api_text_add(&text, "No request was found that makes this table%s.",
                     identity->gave_up ? " in the time there was" : "");
    } else {
        add_found(identity, equivalents, table->element, is_text, tensor, &text);
    }
    api_reason_add(identity, table, &text);
    json_t *summary = text.failed ? NULL : json_stringn(text.data, text.size);
    api_text_done(&text);
    return summary;
}

/* ---- requests ---- */

/* Write a query as a part of a target: a plus sign would be read as a blank. */
static void percent_encode(const char *query, char *dst, size_t size)
{
    size_t used = 0;
    for (; *query && used + 4 < size; query++)
        if (*query == '+')
            used += (size_t)snprintf(dst + used, size - used, "%%2B");
        else
            dst[used++] = *query;
    dst[used] = '\0';
}

json_t *api_table_request(const pe_scheme *scheme, const char *query, const char *tensor,
                          const pe_view *view)
{
    char encoded[PE_IDENTITY_QUERY_MAX + 64], url[PE_IDENTITY_QUERY_MAX + 192];
    pe_dtype dtype;
    const char *name = pe_scheme_describe(scheme)->name;
    bool real = view && pe_element_is_real(view->element, &dtype);
    percent_encode(query, encoded, sizeof encoded);
    if (!view)
        snprintf(url, sizeof url, "/v1/apply/%s?%s", name, encoded);
    else
        snprintf(url, sizeof url, "/v1/encodings/%s?%s&tensor=%s%s%s", name, encoded, tensor,
                 real && dtype != PE_F32 ? "&dtype=" : "",
                 real && dtype != PE_F32 ? pe_dtype_name(dtype) : "");
    return json_pack("{s:s, s:s, s:s}", "scheme", name, "tensor", tensor, "url", url);
}

/* What was found, with the presets of the same values. */
static json_t *found_request(const pe_identity *identity, const pe_equivalents *equivalents,
                             const pe_view *view)
{
    json_t *request =
        api_table_request(identity->scheme, identity->query, identity->tensor, view);
    json_t *presets = json_array();
    for (size_t i = 0; i < equivalents->preset_count; i++)
        json_array_append_new(presets, json_string(equivalents->presets[i]));
    json_object_set_new(request, "presets", presets);
    return request;
}

/* Other requests that make the same table. */
static json_t *list_same(const pe_equivalents *equivalents, const pe_view *view)
{
    json_t *same = json_array();
    for (size_t i = 0; i < equivalents->same_count; i++)
        json_array_append_new(same, api_table_request(equivalents->same[i].scheme,
                                                      equivalents->same[i].query,
                                                      equivalents->same[i].tensor, view));
    return same;
}

/* Which column of the table each column of the exact tensor is. */
static json_t *list_columns(const pe_identity *identity)
{
    json_t *columns = json_array();
    for (uint64_t i = 0; i < identity->column_count; i++)
        json_array_append_new(columns, json_integer(identity->columns[i]));
    return columns;
}

/* The exact tensor has the shape of the table without its forms. */
static api_compared find_tensor(const pe_identity *identity, const pe_view *view)
{
    api_compared tensor = {.rank = identity->rank, .elements = identity->comparison.entries};
    pe_dtype dtype;
    tensor.dtype = pe_element_is_real(view->element, &dtype) ? dtype : PE_I32;
    memcpy(tensor.shape, identity->shape, tensor.rank * sizeof *tensor.shape);
    return tensor;
}

static json_t *list_first(const uint64_t *items, uint64_t count)
{
    json_t *array = json_array();
    for (uint64_t i = 0; i < count && i < PE_MISFITS_MAX; i++)
        json_array_append_new(array, json_integer((json_int_t)items[i]));
    return array;
}

/* Whether it is known where entries do not fit. */
static bool are_told(const pe_misfits *misfits)
{
    return misfits->row_count + misfits->column_count + misfits->entry_count > 0;
}

/* Where entries do not fit. */
static json_t *list_exceptions(const pe_misfits *misfits, const api_compared *tensor)
{
    json_t *entries = json_array();
    for (size_t i = 0; i < misfits->entry_count; i++)
        json_array_append_new(entries, api_comparison_index(tensor, misfits->entries[i]));
    return json_pack("{s:o, s:I, s:o, s:I, s:o}", "rows",
                     list_first(misfits->rows, misfits->row_count), "row_count",
                     (json_int_t)misfits->row_count, "columns",
                     list_first(misfits->columns, misfits->column_count), "column_count",
                     (json_int_t)misfits->column_count, "entries", entries);
}

/* Add how a table in float32 was computed. */
static void add_computation(const pe_computation *computation, json_t *document)
{
    if (!computation->text)
        return;
    json_object_set_new(document, "computation", json_string(computation->text));
    if (computation->first_off > 0)
        json_object_set_new(document, "off_from_row",
                            json_integer((json_int_t)computation->first_off));
}

/* Add what was undone of the table, the other tensor that it has, and how noisy it is. */
static void add_forms(const pe_identity *identity, const pe_view *view, json_t *document)
{
    const pe_second *second = &identity->second;
    json_object_set_new(document, "forms", api_forms_list(identity));
    if (second->tensor[0]) {
        json_t *request =
            api_table_request(second->scheme, second->query, second->tensor, view);
        json_object_set_new(request, "status", json_string(STATUSES[second->status]));
        json_object_set_new(request, "negative", json_boolean(second->negative));
        json_object_set_new(request, "misfits", json_integer((json_int_t)second->misfits));
        json_object_set_new(request, "max_abs", json_real(second->largest));
        json_object_set_new(document, "second", request);
    }
    if (identity->noise > 0)
        json_object_set_new(document, "noise", json_real(identity->noise));
}

json_t *api_identity_document(const pe_identity *identity, const pe_equivalents *equivalents,
                              const pe_view *table, bool is_text)
{
    pe_view compared = *table, *view = &compared;
    compared.element = identity->element;

    const api_compared tensor = find_tensor(identity, view);
    json_t *document =
        json_pack("{s:s, s:o, s:o}", "status", STATUSES[identity->status], "summary",
                  write_summary(identity, equivalents, table, is_text, &tensor), "shape",
                  api_document_shape(view->shape, view->rank));
    if (identity->scheme) {
        json_object_set_new(document, "request", found_request(identity, equivalents, view));
        json_object_set_new(document, "price",
                            json_pack("{s:f, s:f, s:f}", "request", identity->price.request,
                                      "forms", identity->price.forms, "misfits",
                                      identity->price.misfits));
        json_object_set_new(document, "transposed", json_boolean(identity->transposed));
        if (identity->column_count > 0)
            json_object_set_new(document, "columns", list_columns(identity));
        json_object_set_new(
            document, "values",
            json_string(identity->tf32 ? "tf32" : pe_element_name(identity->element)));
        json_object_set_new(document, "arithmetic",
                            json_string(ARITHMETICS[find_arithmetic(identity)].name));
        add_computation(&identity->computation, document);
        add_forms(identity, view, document);
        json_object_set_new(document, "misfits",
                            json_integer((json_int_t)identity->misfits.count));
        if (are_told(&identity->misfits))
            json_object_set_new(document, "exceptions",
                                list_exceptions(&identity->misfits, &tensor));
        json_object_set_new(document, "against_exact",
                            api_comparison_document(&identity->comparison, &tensor));
        json_object_set_new(document, "same_table", list_same(equivalents, view));
    }
    if (identity->claim_count > 0)
        json_object_set_new(document, "reason", api_reason_document(identity, view));
    json_object_set_new(
        document, "learned",
        json_pack("{s:I, s:o}", "waves", (json_int_t)identity->waves, "frequency",
                  identity->waves > 0 ? json_real(identity->frequency) : json_null()));
    json_object_set_new(document, "proposed", json_integer((json_int_t)identity->proposed));
    json_object_set_new(document, "compared", json_integer((json_int_t)identity->compared));
    json_object_set_new(document, "gave_up", json_boolean(identity->gave_up));
    return document;
}
