/* Heads of the files that applying an encoding answers. */
#include "files/applied_header.h"

#include "json/document.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The JSON object of the head of a safetensors file, as text. */
static char *describe_safetensors(const api_applied_tensor *results, size_t count)
{
    static const char *const NAMES[] = {[PE_ELEMENT_F32] = "F32",
                                        [PE_ELEMENT_F64] = "F64",
                                        [PE_ELEMENT_F16] = "F16",
                                        [PE_ELEMENT_BF16] = "BF16"};
    json_t *root = json_object();
    uint64_t begin = 0;
    for (size_t i = 0; i < count; i++) {
        const pe_view *view = pe_apply_shape(results[i].apply);
        const char *name = view->is_complex ? "C64" : NAMES[view->element];
        uint64_t end = begin + pe_apply_size(results[i].apply);
        json_object_set_new(
            root, results[i].name,
            json_pack("{s:s, s:o, s:[I, I]}", "dtype", name, "shape",
                      api_document_shape(view->shape, view->rank - view->is_complex),
                      "data_offsets", (json_int_t)begin, (json_int_t)end));
        begin = end;
    }
    return api_document_text(root, JSON_COMPACT);
}

/* Write the head of an npy file, as text without its preamble. */
static char *describe_array(const api_applied_tensor *result)
{
    static const char *const NAMES[] = {
        [PE_ELEMENT_F32] = "<f4", [PE_ELEMENT_F64] = "<f8", [PE_ELEMENT_F16] = "<f2"};
    static const char *const COMPLEX[] = {[PE_ELEMENT_F32] = "<c8", [PE_ELEMENT_F64] = "<c16"};
    const pe_view *view = pe_apply_shape(result->apply);
    const size_t size = 256;
    char *text = malloc(size);
    if (!text)
        return NULL;
    int used = snprintf(text, size, "{'descr': '%s', 'fortran_order': False, 'shape': (",
                        view->is_complex ? COMPLEX[view->element] : NAMES[view->element]);
    for (size_t i = 0; i + view->is_complex < view->rank; i++)
        used += snprintf(text + used, size - (size_t)used, "%llu, ",
                         (unsigned long long)view->shape[i]);
    snprintf(text + used, size - (size_t)used, "), }");
    return text;
}

#define ALIGNMENT   64
#define NPY_MAGIC   "\x93NUMPY\x01"
#define NPY_PREFIX  10 /* magic, version, length of the head */
#define FILE_PREFIX 8  /* length of the head */

char *api_applied_head(const api_applied_tensor *results, size_t count, bool is_npy,
                       size_t *ret_size)
{
    char *text = is_npy ? describe_array(results) : describe_safetensors(results, count);
    size_t prefix = is_npy ? NPY_PREFIX : FILE_PREFIX;
    if (!text)
        return NULL;
    size_t used = strlen(text);
    size_t size = (prefix + used + 1 + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    size_t length = size - prefix;
    char *head = malloc(size);
    if (head) {
        memset(head, is_npy ? 0 : ' ', size);
        memset(head + prefix, ' ', length);
        memcpy(head + prefix, text, used);
        if (is_npy)
            memcpy(head, NPY_MAGIC, sizeof NPY_MAGIC);
        for (unsigned i = 0; i < (is_npy ? 2 : 8); i++)
            head[prefix - (is_npy ? 2 : 8) + i] = (char)((uint64_t)length >> (8 * i));
        if (is_npy)
            head[size - 1] = '\n';
    }
    *ret_size = size;
    free(text);
    return head;
}
