/* Safetensors files of which one tensor is read: the others may have any dtype and rank, so
 * that a whole checkpoint may be sent. */
#include "files/safetensors.h"

#include "files/set_header.h"
#include "files/table_view.h"
#include "json/document.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    const char *name;
    pe_element element;
    bool complex;
} TYPES[] = {
    {"F64", PE_ELEMENT_F64, false},   {"F32", PE_ELEMENT_F32, false},
    {"F16", PE_ELEMENT_F16, false},   {"BF16", PE_ELEMENT_BF16, false},
    {"I64", PE_ELEMENT_I64, false},   {"I32", PE_ELEMENT_I32, false},
    {"I16", PE_ELEMENT_I16, false},   {"I8", PE_ELEMENT_I8, false},
    {"U64", PE_ELEMENT_U64, false},   {"U32", PE_ELEMENT_U32, false},
    {"U16", PE_ELEMENT_U16, false},   {"U8", PE_ELEMENT_U8, false},
    {"BOOL", PE_ELEMENT_BOOL, false}, {"C64", PE_ELEMENT_F32, true},
};

#define LISTED 8 /* tensors whose names a problem lists */

/* Add that a tensor must be named; the problem lists some. */
static bool refuse_name(const json_t *root, const char *given, pe_error *reterr)
{
    char names[200] = "";
    const char *name;
    json_t *value;
    size_t used = 0, listed = 0, count = 0;
    json_object_foreach((json_t *)(uintptr_t)root, name, value)
    {
        if (strcmp(name, API_SET_METADATA) == 0)
            continue;
        count++;
        if (listed == LISTED || used + strlen(name) + 3 >= sizeof names)
            continue;
        used += (size_t)snprintf(names + used, sizeof names - used, "%s%s",
                                 listed++ > 0 ? ", " : "", name);
    }
    pe_error_add(reterr, PE_OUT_OF_RANGE, "file_tensor", given,
                 "the name of a tensor of the file, which has %s%s", names,
                 count > listed ? ", …" : "");
    return false;
}

const json_t *api_choose_tensor(const json_t *root, const char *name, const char *otherwise,
                                char ret_name[API_SET_NAME_MAX + 1], pe_error *reterr)
{
    size_t count = json_object_size(root) - (json_object_get(root, API_SET_METADATA) != NULL);
    const char *chosen = name ? name : otherwise;
    if (!name && count == 1) {
        void *first = json_object_iter((json_t *)(uintptr_t)root);
        if (strcmp(json_object_iter_key(first), API_SET_METADATA) == 0)
            first = json_object_iter_next((json_t *)(uintptr_t)root, first);
        chosen = json_object_iter_key(first);
    }
    const json_t *value = chosen ? json_object_get(root, chosen) : NULL;
    if (!value || strcmp(chosen, API_SET_METADATA) == 0) {
        refuse_name(root, name ? name : "", reterr);
        return NULL;
    }
    if (strlen(chosen) > API_SET_NAME_MAX) {
        pe_error_add(reterr, PE_OUT_OF_RANGE, "file_tensor", chosen,
                     "the name of a tensor of at most %d bytes", API_SET_NAME_MAX);
        return NULL;
    }
    snprintf(ret_name, API_SET_NAME_MAX + 1, "%s", chosen);
    return value;
}

/* Read dtype and shape of a tensor. */
static bool read_kind(const api_file *file, const json_t *value, pe_view *ret_view,
                      pe_error *reterr)
{
    const char *dtype = json_string_value(json_object_get(value, "dtype"));
    const json_t *shape = json_object_get(value, "shape");
    size_t type = 0;
    while (type < sizeof TYPES / sizeof *TYPES &&
           (!dtype || strcmp(TYPES[type].name, dtype) != 0))
        type++;
    if (type == sizeof TYPES / sizeof *TYPES)
        return api_table_refuse(reterr, PE_OUT_OF_RANGE, "dtype", dtype ? dtype : "",
                                "one of F64, F32, F16, BF16, C64, BOOL and the integers");
    if (!json_is_array(shape))
        return api_table_refuse(reterr, PE_MALFORMED, "shape", "", "an array of integers");
    *ret_view = api_table_view(file, TYPES[type].element, true);
    for (size_t i = 0; i < json_array_size(shape); i++) {
        const json_t *extent = json_array_get(shape, i);
        if (!json_is_integer(extent) || json_integer_value(extent) < 0)
            return api_table_refuse(reterr, PE_MALFORMED, "shape", "", "an array of integers");
        if (!api_table_add_axis(ret_view, (uint64_t)json_integer_value(extent), reterr))
            return false;
    }
    if (TYPES[type].complex && !api_table_add_axis(ret_view, 2, reterr))
        return false;
    ret_view->is_complex = TYPES[type].complex;
    pe_view_set_row_major(ret_view);
    return true;
}

/* Read where its elements are. `room` is the size of the file's data. */
static bool read_place(const json_t *value, uint64_t data, uint64_t room, pe_view *view,
                       pe_error *reterr)
{
    uint64_t begin, end;
    if (!api_set_offsets(value, room, &begin, &end))
        return api_table_refuse(reterr, PE_MALFORMED, "data_offsets", "",
                                "two integers that begin and end within the file's data");
    view->offset = data + begin;
    return api_table_fits(view, end - begin, reterr);
}

/* Read the first bytes of the file that hold the header. NULL, and a problem, without memory or
 * if they cannot be read. */
static char *read_head(const api_file *file, size_t *ret_size, pe_error *reterr)
{
    uint64_t most = API_SET_LENGTH_SIZE + (uint64_t)API_SET_HEADER_MAX;
    size_t size = (size_t)(file->size < most ? file->size : most);
    char *head = malloc(size > 0 ? size : 1);
    if (!head) {
        api_table_refuse(reterr, PE_NO_MEMORY, "", "", "memory for the header");
        return NULL;
    }
    *ret_size = size;
    if (file->read(file->context, 0, head, size))
        return head;
    free(head);
    api_table_refuse(reterr, PE_MALFORMED, "body", "", "a file that can be read");
    return NULL;
}

/* Check that the file ends with its data, if all tensors say where theirs end. */
static bool ends_with_data(const api_file *file, const json_t *root, uint64_t data,
                           pe_error *reterr)
{
    const char *name;
    json_t *value;
    uint64_t end = 0;
    char given[32];
    json_object_foreach((json_t *)(uintptr_t)root, name, value)
    {
        const json_t *last = json_array_get(json_object_get(value, "data_offsets"), 1);
        json_int_t at = json_integer_value(last);
        if (strcmp(name, API_SET_METADATA) == 0)
            continue;
        if (!json_is_integer(last) || at < 0)
            return true; /* which is said where that tensor is read */
        end = (uint64_t)at > end ? (uint64_t)at : end;
    }
    if (end >= file->size - data)
        return true;
    snprintf(given, sizeof given, "%llu bytes", (unsigned long long)file->size);
    pe_error_add(reterr, PE_MALFORMED, "body", given,
                 "a file of %llu bytes, as its header says: nothing follows the last tensor",
                 (unsigned long long)data + end);
    return false;
}

json_t *api_safetensors_load(const api_file *file, size_t *ret_data, pe_error *reterr)
{
    size_t size;
    char *head = read_head(file, &size, reterr);
    json_t *root = head ? api_set_header_load(head, size, ret_data, reterr) : NULL;
    free(head);
    if (root && ends_with_data(file, root, *ret_data, reterr))
        return root;
    json_decref(root);
    return NULL;
}

bool api_safetensors_find(const api_file *file, const json_t *root, size_t data,
                          const char *name, const char *otherwise, pe_view *ret_view,
                          char ret_name[API_SET_NAME_MAX + 1], pe_error *reterr)
{
    const json_t *value = api_choose_tensor(root, name, otherwise, ret_name, reterr);
    return value && read_kind(file, value, ret_view, reterr) &&
           read_place(value, data, file->size - data, ret_view, reterr);
}

bool api_safetensors_view(const api_file *file, const char *name, const char *otherwise,
                          pe_view *ret_view, char ret_name[API_SET_NAME_MAX + 1],
                          pe_error *reterr)
{
    size_t data;
    json_t *root = api_safetensors_load(file, &data, reterr);
    bool good = root && api_safetensors_find(file, root, data, name, otherwise, ret_view,
                                             ret_name, reterr);
    json_decref(root);
    return good;
}

char *api_safetensors_write(json_t *root, size_t *ret_size)
{
    char *text = api_document_text(root, JSON_COMPACT);
    if (!text)
        return NULL;
    const size_t used = strlen(text), align = API_FILE_ALIGNMENT;
    const size_t size = (8 + used + align - 1) / align * align;
    char *head = malloc(size);
    if (head) {
        for (unsigned i = 0; i < 8; i++)
            head[i] = (char)((uint64_t)(size - 8) >> (8 * i));
        memcpy(head + 8, text, used);
        memset(head + 8 + used, ' ', size - 8 - used);
    }
    free(text);
    *ret_size = size;
    return head;
}
