/* The results of a file of tensors, and the file that they make. */
#include "files/applied_parts.h"

#include "bytes/joined.h"
#include "files/safetensors.h"
#include "json/document.h"

#include <stdlib.h>

api_applied *api_applied_new(const api_request *request, bool is_npy)
{
    api_applied *applied = calloc(1, sizeof *applied);
    if (applied) {
        applied->request = *request;
        applied->is_npy = is_npy;
    }
    return applied;
}

void api_applied_free(api_applied *applied)
{
    if (!applied)
        return;
    for (size_t i = 0; i < applied->count; i++)
        pe_apply_free(applied->results[i].apply);
    json_decref(applied->root);
    free(applied);
}

size_t api_applied_count(const api_applied *applied)
{
    return applied->count;
}

const api_applied_tensor *api_applied_get(const api_applied *applied, size_t index)
{
    return &applied->results[index];
}

uint64_t api_applied_footprint(const api_applied *applied, const pe_request *request,
                               const pe_apply_options *options)
{
    uint64_t bytes = sizeof *applied;
    for (size_t i = 0; i < applied->count; i++) {
        bytes += pe_apply_footprint(request, applied->chosen[i], &applied->inputs[i], options);
        if (applied->is_compared)
            bytes += pe_apply_compare_footprint(&applied->results[i].compared);
    }
    return bytes;
}

double api_applied_price(const api_applied *applied, const pe_request *request,
                         const pe_apply_options *options)
{
    double price = 0;
    for (size_t i = 0; i < applied->count; i++)
        price += pe_apply_price(request, applied->chosen[i], &applied->inputs[i], options);
    return price;
}

double api_applied_opening_price(const api_applied *applied, const pe_apply_options *options)
{
    double price = 0;
    for (size_t i = 0; i < applied->count; i++)
        price += pe_apply_opening_price(&applied->inputs[i], options);
    return price;
}

bool api_applied_open(api_applied *applied, pe_request *request,
                      const pe_apply_options *options, const pe_runner *runner,
                      pe_error *reterr)
{
    for (size_t i = 0; i < applied->count; i++)
        if (pe_apply_new(request, applied->chosen[i], &applied->inputs[i], options, runner,
                         &applied->results[i].apply, reterr) != PE_OK)
            return false;
    return true;
}

/* ---- writing ---- */

/* Write the head of a safetensors file. NULL without memory. */
static char *write_safetensors_head(const api_applied_tensor *results, size_t count,
                                    size_t *ret_size)
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
    return api_safetensors_write(root, ret_size);
}

/* Write the head of an npy file. NULL without memory. */
static char *write_npy_head(const api_applied_tensor *result, size_t *ret_size)
{
    static const char *const NAMES[] = {
        [PE_ELEMENT_F32] = "<f4", [PE_ELEMENT_F64] = "<f8", [PE_ELEMENT_F16] = "<f2"};
    static const char *const COMPLEX[] = {[PE_ELEMENT_F32] = "<c8", [PE_ELEMENT_F64] = "<c16"};
    const pe_view *view = pe_apply_shape(result->apply);
    char *head = malloc(PE_TABLE_HEADROOM);
    if (head)
        *ret_size =
            api_npy_write_head(view->is_complex ? COMPLEX[view->element] : NAMES[view->element],
                               view->shape, view->rank - view->is_complex, head);
    return head;
}

/* Larger elements come first, so that all are aligned. */
static void sort_results(api_applied *self)
{
    for (size_t i = 1; i < self->count; i++)
        for (size_t k = i; k > 0; k--) {
            api_applied_tensor *before = &self->results[k - 1], moved = self->results[k];
            if (pe_element_size(pe_apply_shape(before->apply)->element) >=
                pe_element_size(pe_apply_shape(moved.apply)->element))
                break;
            self->results[k] = *before;
            *before = moved;
        }
}

/* An api_source's `read`: of a result. */
static size_t read_result(void *state, uint64_t offset, char *dst, size_t room)
{
    return pe_apply_read(((api_applied_tensor *)state)->apply, offset, dst, room);
}

/* An api_source's `free`: of the last result, which is read last. */
static void free_applied_file(void *state)
{
    api_applied_free(((api_applied_tensor *)state)->all);
}

api_body *api_body_applied(api_applied *applied)
{
    api_source sources[PE_TENSORS_MAX];
    size_t size;
    sort_results(applied);
    applied->results[applied->count - 1].all = applied;
    char *head = applied->is_npy
                     ? write_npy_head(applied->results, &size)
                     : write_safetensors_head(applied->results, applied->count, &size);
    if (!head) {
        api_applied_free(applied);
        return NULL;
    }
    for (size_t i = 0; i < applied->count; i++)
        sources[i] = (api_source){
            .state = &applied->results[i],
            .size = pe_apply_size(applied->results[i].apply),
            .read = read_result,
            .slow = true /* a sum takes a hundred times as long where it has to be exact */};
    sources[applied->count - 1].free = free_applied_file;
    return api_body_from_sources(head, size, sources, applied->count);
}
