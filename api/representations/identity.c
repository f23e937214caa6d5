/* Saying what made a table. */
#include "representations/identity.h"

#include "representations/comparison.h"
#include "json/document.h"

#include <stdio.h>
#include <string.h>

#define SCHEME_OPTION                                                                          \
    {                                                                                          \
        .name = "scheme", .type = PE_STORED,                                                   \
        .help = "the one scheme to look for; by default all that are recognised"               \
    }

#define LIMIT_OPTION                                                                           \
    {                                                                                          \
        .name = "limit", .type = PE_INTEGER, .default_text = "3", .maximum = PE_ALIKE_MAX,     \
        .help = "the most other requests to look for that make the same table"                 \
    }

const pe_parameter api_identify_options[API_IDENTIFY_OPTIONS] = {
    [API_IDENTIFY_SCHEME] = SCHEME_OPTION,
    [API_IDENTIFY_LIMIT] = LIMIT_OPTION,
    [API_IDENTIFY_FILE_TENSOR] = {.name = "file_tensor",
                                  .type = PE_STORED,
                                  .help =
                                      "the tensor of a safetensors file; by default its only "
                                      "one"},
    [API_IDENTIFY_SHAPE] = {.name = "shape",
                            .type = PE_INTEGER_LIST,
                            .minimum = 1,
                            .maximum = 9007199254740992.0,
                            .help = "extents of raw elements, such as 4096,128"},
    [API_IDENTIFY_DTYPE] = {.name = "dtype",
                            .type = PE_STORED,
                            .default_text = "f32",
                            .help =
                                "type of raw elements: f32, f64, f16, bf16, i8 to i64, u8 to "
                                "u64 or bool"},
};

const pe_parameter api_identify_stored_options[API_IDENTIFY_STORED_OPTIONS] = {
    [API_IDENTIFY_STORED_SCHEME] = SCHEME_OPTION,
    [API_IDENTIFY_STORED_LIMIT] = LIMIT_OPTION,
    [API_IDENTIFY_STORED_SET] = {.name = "parameters",
                                 .type = PE_STORED,
                                 .help = "the stored set"},
    [API_IDENTIFY_STORED_TENSOR] = {.name = "tensor",
                                    .type = PE_STORED,
                                    .help = "the tensor of the set; by default its only one"},
};

static const char *const STATUSES[] = {[PE_IDENTITY_UNKNOWN] = "unknown",
                                       [PE_IDENTITY_NEAR] = "near",
                                       [PE_IDENTITY_MATCH] = "match",
                                       [PE_IDENTITY_EXACT] = "exact"};

static const struct {
    const char *name, *phrase;
} ARITHMETICS[] = {
    [PE_ARITHMETIC_EXACT] = {"exact", "bit for bit"},
    [PE_ARITHMETIC_F64] = {"float64", "computed in float64 and rounded once"},
    [PE_ARITHMETIC_F32] = {"float32", "computed in float32"},
    [PE_ARITHMETIC_F32_LIKE] = {"like_float32", "as near as float32 arithmetic brings it"},
    [PE_ARITHMETIC_UNKNOWN] = {"unknown", "but not all entries fit"},
};

/* The answer in a sentence. */
static void write_summary(const pe_identity *identity, char *dst, size_t size)
{
    const pe_deviation *most = &identity->comparison.absolute;
    size_t used = 0;
    if (identity->status == PE_IDENTITY_UNKNOWN) {
        snprintf(dst, size, "No request was found that makes this table%s.",
                 identity->gave_up ? " in the time there was" : "");
        return;
    }
    used = (size_t)snprintf(dst, size, "This is %s%s of %s%s%s, %s",
                            identity->status == PE_IDENTITY_NEAR ? "nearly " : "",
                            identity->tensor, pe_scheme_describe(identity->scheme)->name,
                            identity->transposed ? ", transposed" : "",
                            identity->column_count ? ", with its columns in another order" : "",
                            ARITHMETICS[identity->arithmetic].phrase);
    if (most->error > 0 && used < size)
        used += (size_t)snprintf(dst + used, size - used,
                                 "; the largest error against the exact table is %.1e",
                                 most->error);
    if (identity->misfits > 0 && used < size)
        used += (size_t)snprintf(dst + used, size - used, ", and %llu entries do not fit",
                                 (unsigned long long)identity->misfits);
    if (used < size)
        snprintf(dst + used, size - used, ".");
}

/* Write a query as a part of a target: a plus sign would be read as a blank. */
static void encode(const char *query, char *dst, size_t size)
{
    size_t used = 0;
    for (; *query && used + 4 < size; query++)
        if (*query == '+')
            used += (size_t)snprintf(dst + used, size - used, "%%2B");
        else
            dst[used++] = *query;
    dst[used] = '\0';
}

/* A request that makes the exact table. */
static json_t *request_of(const pe_scheme *scheme, const char *query, const char *tensor,
                          const pe_view *view)
{
    char encoded[PE_IDENTITY_QUERY_MAX + 64], url[PE_IDENTITY_QUERY_MAX + 192];
    pe_dtype dtype;
    const char *name = pe_scheme_describe(scheme)->name;
    bool real = pe_element_is_real(view->element, &dtype);
    encode(query, encoded, sizeof encoded);
    snprintf(url, sizeof url, "/v1/encodings/%s?%s&tensor=%s%s%s", name, encoded, tensor,
             real && dtype != PE_F32 ? "&dtype=" : "",
             real && dtype != PE_F32 ? pe_dtype_name(dtype) : "");
    return json_pack("{s:s, s:s, s:s}", "scheme", name, "tensor", tensor, "url", url);
}

/* What was found, with the presets of the same values. */
static json_t *found_request(const pe_identity *identity, const pe_alike *alike,
                             const pe_view *view)
{
    json_t *request = request_of(identity->scheme, identity->query, identity->tensor, view);
    json_t *presets = json_array();
    for (size_t i = 0; i < alike->preset_count; i++)
        json_array_append_new(presets, json_string(alike->presets[i]));
    json_object_set_new(request, "presets", presets);
    return request;
}

/* Other requests that make the same table. */
static json_t *same_of(const pe_alike *alike, const pe_view *view)
{
    json_t *same = json_array();
    for (size_t i = 0; i < alike->same_count; i++)
        json_array_append_new(same, request_of(alike->same[i].scheme, alike->same[i].query,
                                               alike->same[i].tensor, view));
    return same;
}

/* The values of parameters that the table leaves open, by parameter. */
static json_t *undecided_of(const pe_alike *alike)
{
    json_t *undecided = json_array(), *values = NULL;
    for (size_t i = 0; i < alike->open_count; i++) {
        const pe_open_value *open = &alike->open[i];
        if (i == 0 || strcmp(open->parameter, open[-1].parameter) != 0) {
            values = json_array();
            json_array_append_new(undecided, json_pack("{s:s, s:o}", "parameter",
                                                       open->parameter, "values", values));
        }
        json_array_append_new(values, json_string(open->value));
    }
    return undecided;
}

/* Which column of the table each column of the exact tensor is. */
static json_t *columns_of(const pe_identity *identity)
{
    json_t *columns = json_array();
    for (uint64_t i = 0; i < identity->column_count; i++)
        json_array_append_new(columns, json_integer(identity->columns[i]));
    return columns;
}

/* The exact tensor has the shape of the table, unless that is transposed. */
static api_compared tensor_of(const pe_identity *identity, const pe_view *view)
{
    pe_view shape = pe_view_squeezed(view);
    api_compared tensor = {.elements = identity->comparison.entries};
    pe_dtype dtype;
    if (identity->transposed && shape.rank == 2)
        shape = pe_view_transposed(&shape, 0, 1);
    tensor.dtype = pe_element_is_real(view->element, &dtype) ? dtype : PE_I32;
    tensor.rank = shape.rank;
    memcpy(tensor.shape, shape.shape, tensor.rank * sizeof *tensor.shape);
    return tensor;
}

json_t *api_identity_document(const pe_identity *identity, const pe_alike *alike,
                              const pe_view *view)
{
    char summary[320];
    json_t *shape = json_array();
    write_summary(identity, summary, sizeof summary);
    for (size_t i = 0; i < view->rank; i++)
        json_array_append_new(shape, json_integer((json_int_t)view->shape[i]));
    json_t *document = json_pack("{s:s, s:s, s:o}", "status", STATUSES[identity->status],
                                 "summary", summary, "shape", shape);
    if (identity->scheme) {
        const api_compared tensor = tensor_of(identity, view);
        json_object_set_new(document, "request", found_request(identity, alike, view));
        json_object_set_new(document, "transposed", json_boolean(identity->transposed));
        if (identity->column_count > 0)
            json_object_set_new(document, "columns", columns_of(identity));
        json_object_set_new(document, "arithmetic",
                            json_string(ARITHMETICS[identity->arithmetic].name));
        if (identity->computation)
            json_object_set_new(document, "computation", json_string(identity->computation));
        json_object_set_new(document, "misfits", json_integer((json_int_t)identity->misfits));
        json_object_set_new(document, "against_exact",
                            api_comparison_document(&identity->comparison, &tensor));
        json_object_set_new(document, "same_table", same_of(alike, view));
        json_object_set_new(document, "undecided", undecided_of(alike));
    }
    json_object_set_new(
        document, "learned",
        json_pack("{s:I, s:o}", "waves", (json_int_t)identity->waves, "frequency",
                  identity->waves > 0 ? json_real(identity->frequency) : json_null()));
    json_object_set_new(document, "proposed", json_integer((json_int_t)identity->proposed));
    json_object_set_new(document, "compared", json_integer((json_int_t)identity->compared));
    json_object_set_new(document, "gave_up", json_boolean(identity->gave_up));
    return document;
}
