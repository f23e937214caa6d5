/* safetensors: all tensors with metadata, a file that torch, JAX and numpy read. */
#include "bytes/body.h"
#include "writers/format.h"
#include "writers/streams.h"
#include "writers/values.h"
#include "json/document.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#define ALIGNMENT  64
#define FLAT_LIMIT (1 << 20) /* up to this size one copied piece is faster to send than two */

static const char *dtype_name(pe_dtype dtype)
{
    static const char *const names[PE_DTYPE_COUNT] = {[PE_F32] = "F32",
                                                      [PE_F64] = "F64",
                                                      [PE_F16] = "F16",
                                                      [PE_BF16] = "BF16",
                                                      [PE_I32] = "I32"};
    return names[dtype];
}

/* Order the tensors by descending element size, so that each one is aligned. Tensors of one
 * size keep their order. Returns their number. */
static size_t storage_order(const api_selection *selection, size_t order[PE_TENSORS_MAX])
{
    size_t count = 0;
    for (size_t size = 8; size > 0; size /= 2)
        for (size_t i = selection->first; i < selection->first + selection->count; i++)
            if (pe_dtype_size(pe_request_tensor(selection->request, i)->dtype) == size)
                order[count++] = i;
    return count;
}

/* The scheme and the values of the parameters; the format allows only strings. NULL without
 * memory. */
static json_t *metadata(const pe_request *request)
{
    const pe_scheme_info *info = pe_scheme_describe(pe_request_scheme(request));
    json_t *object = json_object();
    json_object_set_new(object, "scheme",
                        json_string(info->similarity_of ? info->similarity_of : info->name));
    json_object_set_new(object, "revision", json_sprintf("%u", info->revision));
    json_object_set_new(object, "release", json_string(PE_VERSION));
    if (pe_request_preset(request))
        json_object_set_new(object, "preset", json_string(pe_request_preset(request)));
    json_object_set_new(object, "scheme.formula", json_string(info->formula));
    json_object_set_new(object, "scheme.convention", json_string(info->convention));
    json_object_set_new(object, "scheme.reference", json_string(info->reference));
    for (size_t i = 0; i < pe_all_parameter_count(info); i++) {
        api_text text = {0};
        if (!pe_request_value(request, i)->present)
            continue;
        api_parameter_append_json(&text, request, i);
        if (text.failed) {
            json_decref(object);
            return NULL;
        }
        bool quoted = text.size >= 2 && text.data[0] == '"';
        json_object_set_new(object, pe_parameter_at(info, i)->name,
                            quoted ? json_stringn(text.data + 1, text.size - 2)
                                   : json_stringn(text.data, text.size));
        api_text_done(&text);
    }
    return object;
}

/* The length of the header in 8 bytes, and the header, padded with blanks. ret_size is the size
 * of both, ret_data that of the tensors' data. NULL without memory. */
static char *make_header(const api_selection *selection, size_t *ret_size, uint64_t *ret_data)
{
    size_t order[PE_TENSORS_MAX], count = storage_order(selection, order);
    json_t *root = json_object();
    json_t *strings = metadata(selection->request);
    if (!strings) {
        api_document_drop(root);
        return NULL;
    }
    json_object_set_new(root, "__metadata__", strings);
    uint64_t offset = 0;
    for (size_t i = 0; i < count; i++) {
        const pe_tensor *tensor = pe_request_tensor(selection->request, order[i]);
        json_t *shape = json_array();
        for (size_t axis = 0; axis < tensor->rank; axis++)
            json_array_append_new(shape, json_integer((json_int_t)tensor->shape[axis]));
        json_object_set_new(root, tensor->name,
                            json_pack("{s:s, s:o, s:[I, I]}", "dtype",
                                      dtype_name(tensor->dtype), "shape", shape, "data_offsets",
                                      (json_int_t)offset,
                                      (json_int_t)(offset + tensor->bytes)));
        offset += tensor->bytes;
    }
    char *text = api_document_text(root, JSON_COMPACT);
    if (!text)
        return NULL;
    size_t used = strlen(text), size = (8 + used + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    char *header = malloc(size);
    if (header) {
        for (unsigned i = 0; i < 8; i++)
            header[i] = (char)((size - 8) >> (8 * i));
        memcpy(header + 8, text, used);
        memset(header + 8 + used, ' ', size - 8 - used);
    }
    free(text);
    *ret_size = size;
    *ret_data = offset;
    return header;
}

static uint64_t length(const api_selection *selection)
{
    size_t size;
    uint64_t data;
    char *header = make_header(selection, &size, &data);
    free(header);
    return header ? size + data : API_LENGTH_UNKNOWN;
}

/* Copy the pieces, of which the header is the first, into one. The header is from malloc; it is
 * consumed. */
static api_body *flat_body(char *header, size_t size, const api_segment *pieces, size_t count)
{
    char *file = realloc(header, size);
    if (!file) {
        free(header);
        return NULL;
    }
    char *end = file + pieces[0].size;
    for (size_t i = 1; i < count; i++) {
        memcpy(end, pieces[i].data, pieces[i].size);
        end += pieces[i].size;
    }
    return api_body_from_text(file, size);
}

static api_body *write_body(const api_selection *selection, pe_table *table, size_t *ret_bytes)
{
    size_t header_size, order[PE_TENSORS_MAX], count = storage_order(selection, order);
    uint64_t data;
    char *header = make_header(selection, &header_size, &data);
    if (!header)
        return NULL;
    api_segment pieces[API_SEGMENTS_MAX] = {{header, header_size}};
    for (size_t i = 0; i < count; i++)
        pieces[i + 1] = (api_segment){pe_table_data(table, order[i]),
                                      (size_t)pe_table_tensor(table, order[i])->bytes};
    *ret_bytes = header_size;
    if (header_size + data > FLAT_LIMIT)
        return api_body_from_table(table, header, pieces, count + 1);
    *ret_bytes += (size_t)data;
    return flat_body(header, header_size + (size_t)data, pieces, count + 1);
}

static api_body *stream(const api_selection *selection, pe_error *reterr)
{
    size_t size, order[PE_TENSORS_MAX];
    uint64_t data;
    storage_order(selection, order);
    char *header = make_header(selection, &size, &data);
    return header ? api_body_from_tensors(selection, header, size, order, reterr) : NULL;
}

const api_format api_format_safetensors = {
    .name = "safetensors",
    .media_type = "application/vnd.safetensors",
    .extension = "safetensors",
    .help = "all tensors with scheme and parameters as metadata, data 64-byte aligned",
    .revision = 2,
    .states_parameters = true,
    .length = length,
    .write = write_body,
    .stream = stream,
};
