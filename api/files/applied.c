/* The results of a file of tensors, and the file that they make. */
#include "files/applied_parts.h"

#include "bytes/joined.h"
#include "files/applied_header.h"

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
    char *head = api_applied_head(applied->results, applied->count, applied->is_npy, &size);
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
