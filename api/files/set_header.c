/* Reading the headers of safetensors files. */
#include "files/set_header.h"

#include "files/table_view.h"
#include "json/document.h"
#include "json/measure.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    const char *name;
    pe_dtype dtype;
} DTYPES[] = {{"F64", PE_F64}, {"F32", PE_F32}, {"F16", PE_F16}, {"BF16", PE_BF16}};
#define DTYPE_COUNT (sizeof DTYPES / sizeof *DTYPES)

static uint64_t read_length(const char *bytes)
{
    uint64_t length = 0;
    for (unsigned i = 0; i < API_SET_LENGTH_SIZE; i++)
        length |= (uint64_t)(unsigned char)bytes[i] << (8 * i);
    return length;
}

/* Refuse a header of more values than tensors need: they take many times its bytes. Reserve
 * memory for the others, and for a copy of the text. A tensor
 * takes 48 bytes at least, and is an object of two arrays and four strings. */
static bool has_few_values(const char *text, size_t size, pe_error *reterr)
{
    const api_json_measure found = api_json_count(text, size);
    if (found.containers > 8 + size / 16 || found.strings > 8 + size / 4)
        return api_table_refuse(reterr, PE_MALFORMED, "file header", "",
                                "an object of tensors, each of dtype, shape and data_offsets");
    return api_json_reserve(&found, size, 1, reterr);
}

/* Whether a value may be the file's metadata: an object of strings. */
static bool is_metadata(const json_t *value)
{
    const char *name;
    json_t *item;
    if (!json_is_object(value))
        return false;
    json_object_foreach((json_t *)(uintptr_t)value, name, item)
    {
        if (!json_is_string(item))
            return false;
    }
    return true;
}

/* The header as JSON; NULL, and a problem, if it is none. */
static json_t *parse_header(const char *text, size_t size, pe_error *reterr)
{
    json_error_t problem = {0};
    json_t *root = json_loadb(text, size, JSON_REJECT_DUPLICATES, &problem);
    if (!root && api_document_lacked_memory(&problem))
        pe_error_add(reterr, PE_NO_MEMORY, "", "", "memory for the header");
    else if (!root)
        pe_error_add(reterr, PE_MALFORMED, "file header", "",
                     "JSON in UTF-8 (column %d is wrong)", problem.column);
    const json_t *metadata = json_object_get(root, API_SET_METADATA);
    if (!metadata || is_metadata(metadata))
        return root;
    api_table_refuse(reterr, PE_MALFORMED, API_SET_METADATA, "", "an object of strings");
    json_decref(root);
    return NULL;
}

json_t *api_set_header_load(const char *bytes, size_t size, size_t *ret_data, pe_error *reterr)
{
    char given[64];
    const uint64_t length = size < API_SET_LENGTH_SIZE ? UINT64_MAX : read_length(bytes);
    if (length > size - API_SET_LENGTH_SIZE || length > API_SET_HEADER_MAX) {
        const bool is_npy = size > 6 && memcmp(bytes, "\x93NUMPY", 6) == 0;
        snprintf(given, sizeof given, is_npy ? "an npy file" : "%zu bytes", size);
        pe_error_add(reterr, PE_MALFORMED, "body", given,
                     "a safetensors file, whose first 8 bytes hold the length of its header in "
                     "little-endian order: at most %d bytes and within the file",
                     API_SET_HEADER_MAX);
        return NULL;
    }
    const char *text = bytes + API_SET_LENGTH_SIZE;
    size_t used = (size_t)length;
    while (used > 0 && text[used - 1] == ' ')
        used--;
    if (used < 2 || text[0] != '{' || text[used - 1] != '}') {
        api_table_refuse(reterr, PE_MALFORMED, "file header", "",
                         "one JSON object, padded with blanks only at its end");
        return NULL;
    }
    if (!has_few_values(text, used, reterr))
        return NULL;
    *ret_data = API_SET_LENGTH_SIZE + (size_t)length;
    return parse_header(text, used, reterr);
}

static bool is_tensor_name(const char *name)
{
    size_t length = strlen(name);
    for (size_t i = 0; i < length; i++)
        if ((unsigned char)name[i] < ' ' || name[i] == 0x7f)
            return false;
    return length > 0 && length <= API_SET_NAME_MAX;
}

static bool read_dtype(const char *name, const json_t *value, api_set_entry *entry,
                       pe_error *reterr)
{
    const char *given = json_string_value(value);
    for (size_t i = 0; given && i < DTYPE_COUNT; i++)
        if (strcmp(DTYPES[i].name, given) == 0) {
            entry->tensor.dtype = DTYPES[i].dtype;
            return true;
        }
    return api_table_refuse(reterr, given ? PE_OUT_OF_RANGE : PE_MALFORMED, name,
                            given ? given : "", "a tensor of dtype F64, F32, F16 or BF16");
}

/* Read a shape into the entry's tensor, with its elements and bytes. `room` is the size of the
 * file's data; more elements than that are refused, so that the product does not overflow. */
static bool read_shape(const char *name, const json_t *value, uint64_t room,
                       api_set_entry *entry, pe_error *reterr)
{
    pe_tensor *tensor = &entry->tensor;
    if (!json_is_array(value))
        return api_table_refuse(reterr, PE_MALFORMED, name, "",
                                "a tensor with a shape that is an array of integers");
    if (json_array_size(value) > PE_RANK_MAX) {
        pe_error_add(reterr, PE_OUT_OF_RANGE, name, "",
                     "a tensor with a shape of at most %d extents", PE_RANK_MAX);
        return false;
    }
    tensor->rank = json_array_size(value);
    tensor->elements = 1;
    for (size_t i = 0; i < tensor->rank; i++) {
        const json_t *extent = json_array_get(value, i);
        if (!json_is_integer(extent) || json_integer_value(extent) < 1)
            return api_table_refuse(reterr, PE_MALFORMED, name, "",
                                    "a tensor with a shape of integers from 1 on");
        tensor->shape[i] = (uint64_t)json_integer_value(extent);
        if (tensor->shape[i] > room / tensor->elements)
            return api_table_refuse(reterr, PE_MALFORMED, name, "",
                                    "a tensor with a shape that fits the file");
        tensor->elements *= tensor->shape[i];
    }
    tensor->bytes = tensor->elements * pe_dtype_size(tensor->dtype);
    return true;
}

bool api_set_offsets(const json_t *tensor, uint64_t room, uint64_t *ret_begin,
                     uint64_t *ret_end)
{
    const json_t *offsets = json_object_get(tensor, "data_offsets");
    const json_t *begin = json_array_get(offsets, 0), *end = json_array_get(offsets, 1);
    *ret_begin = (uint64_t)json_integer_value(begin);
    *ret_end = (uint64_t)json_integer_value(end);
    return json_array_size(offsets) == 2 && json_is_integer(begin) && json_is_integer(end) &&
           json_integer_value(begin) >= 0 && *ret_begin <= *ret_end && *ret_end <= room;
}

/* Read data_offsets, which must lie in the data and be as far apart as dtype and shape require.
 */
static bool read_offsets(const char *name, const json_t *value, uint64_t room,
                         api_set_entry *entry, pe_error *reterr)
{
    uint64_t end;
    if (!api_set_offsets(value, room, &entry->begin, &end))
        return api_table_refuse(
            reterr, PE_MALFORMED, name, "",
            "a tensor with data_offsets that begin and end within the data");
    if (end - entry->begin == entry->tensor.bytes)
        return true;
    pe_error_add(reterr, PE_MALFORMED, name, "",
                 "a tensor with data_offsets %llu bytes apart, the size by dtype and shape",
                 (unsigned long long)entry->tensor.bytes);
    return false;
}

static bool read_entry(const char *name, const json_t *value, uint64_t room,
                       api_set_entry *entry, pe_error *reterr)
{
    *entry = (api_set_entry){.tensor.name = name};
    if (!is_tensor_name(name)) {
        pe_error_add(reterr, PE_OUT_OF_RANGE, "file header", name,
                     "an object whose names have 1 to %d bytes and no control characters",
                     API_SET_NAME_MAX);
        return false;
    }
    if (json_object_size(value) != 3)
        return api_table_refuse(reterr, PE_MALFORMED, name, "",
                                "an object of dtype, shape and data_offsets and nothing else");
    return read_dtype(name, json_object_get(value, "dtype"), entry, reterr) &&
           read_shape(name, json_object_get(value, "shape"), room, entry, reterr) &&
           read_offsets(name, value, room, entry, reterr);
}

/* Compares entries by the offset of their data, for qsort. */
static int by_begin(const void *one, const void *other)
{
    uint64_t a = ((const api_set_entry *)one)->begin, b = ((const api_set_entry *)other)->begin;
    return (a > b) - (a < b);
}

/* Whether the data of the tensors follows one after the other and ends with the file. */
static bool check_layout(const api_set_header *header, uint64_t room, pe_error *reterr)
{
    uint64_t end = 0;
    for (size_t i = 0; i < header->count; i++) {
        const api_set_entry *entry = &header->entries[i];
        if (entry->begin != end) {
            pe_error_add(reterr, PE_MALFORMED, entry->tensor.name, "",
                         "a tensor with data_offsets from %llu on, without holes or overlaps",
                         (unsigned long long)end);
            return false;
        }
        end += entry->tensor.bytes;
    }
    if (end == room)
        return true;
    pe_error_add(reterr, PE_MALFORMED, "body", "",
                 "a file with %llu bytes of data, as its header says", (unsigned long long)end);
    return false;
}

/* Read all members of the header. It goes on after one that is wrong, to report them all. */
static bool read_entries(api_set_header *header, uint64_t room, pe_error *reterr)
{
    const char *name;
    json_t *value;
    bool legal = true;
    json_object_foreach(header->root, name, value)
    {
        if (strcmp(name, API_SET_METADATA) != 0)
            legal = read_entry(name, value, room, &header->entries[header->count++], reterr) &&
                    legal;
    }
    return legal;
}

bool api_set_header_read(const char *bytes, size_t size, api_set_header *ret_header,
                         pe_error *reterr)
{
    *ret_header = (api_set_header){0};
    ret_header->root = api_set_header_load(bytes, size, &ret_header->data, reterr);
    if (!ret_header->root)
        return false;
    size_t members = json_object_size(ret_header->root);
    size_t count = members - (json_object_get(ret_header->root, API_SET_METADATA) != NULL);
    if (count == 0 || count > API_SET_TENSORS_MAX) {
        pe_error_add(reterr, PE_OUT_OF_RANGE, "file header", "", "an object of 1 to %d tensors",
                     API_SET_TENSORS_MAX);
        return false;
    }
    ret_header->entries = calloc(count, sizeof *ret_header->entries);
    if (!ret_header->entries) {
        pe_error_add(reterr, PE_NO_MEMORY, "", "", "memory for the header");
        return false;
    }
    uint64_t room = size - ret_header->data;
    if (!read_entries(ret_header, room, reterr))
        return false;
    qsort(ret_header->entries, ret_header->count, sizeof *ret_header->entries, by_begin);
    return check_layout(ret_header, room, reterr);
}

void api_set_header_done(api_set_header *header)
{
    json_decref(header->root);
    free(header->entries);
}
