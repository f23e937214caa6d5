/* The head of a safetensors file. */
#include "formats/safetensors_header.h"

#include "files/safetensors.h"
#include "formats/parameter_values.h"
#include "json/document.h"

#include <stdlib.h>
#include <string.h>

static const char *dtype_name(pe_dtype dtype)
{
    static const char *const names[PE_DTYPE_COUNT] = {[PE_F32] = "F32",
                                                      [PE_F64] = "F64",
                                                      [PE_F16] = "F16",
                                                      [PE_BF16] = "BF16",
                                                      [PE_I32] = "I32"};
    return names[dtype];
}

json_t *api_safetensors_text(const json_t *object)
{
    char *text = json_dumps(object, JSON_COMPACT);
    json_t *string = text ? json_string(text) : NULL;
    if (!string)
        api_document_spoil();
    free(text);
    return string;
}

json_t *api_safetensors_strings(const pe_request *request)
{
    const pe_scheme_info *info = pe_scheme_describe(pe_request_scheme(request));
    json_t *object = json_object();
    json_object_set_new(object, "scheme",
                        json_string(info->similarity_of ? info->similarity_of : info->name));
    json_object_set_new(object, "revision", json_sprintf("%u", info->revision));
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
            api_text_done(&text);
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

char *api_safetensors_head(json_t *metadata, const api_named_tensor *tensors, size_t count,
                           size_t *ret_size, uint64_t *ret_data)
{
    json_t *root = json_object();
    if (!metadata) {
        api_document_drop(root);
        return NULL;
    }
    json_object_set_new(root, "__metadata__", metadata);
    uint64_t offset = 0;
    for (size_t i = 0; i < count; i++) {
        const pe_tensor *tensor = tensors[i].tensor;
        json_object_set_new(
            root, tensors[i].name,
            json_pack("{s:s, s:o, s:[I, I]}", "dtype", dtype_name(tensor->dtype), "shape",
                      api_document_shape(tensor->shape, tensor->rank), "data_offsets",
                      (json_int_t)offset, (json_int_t)(offset + tensor->bytes)));
        offset += tensor->bytes;
    }
    *ret_data = offset;
    return api_safetensors_write(root, ret_size);
}
