/* Copying tensors that are not row-major. */
#include "apply/row_major_source.h"

#include "requests/request.h"

#include <stdlib.h>
#include <string.h>

#define COPIED_AT_ONCE ((uint64_t)1 << 18) /* elements, unless a row has more */

static bool is_row_major(const pe_view *view)
{
    pe_view plain = *view;
    pe_view_set_row_major(&plain);
    return memcmp(plain.strides, view->strides, view->rank * sizeof *view->strides) == 0;
}

uint64_t pe_source_footprint(const pe_view *view)
{
    return is_row_major(view) ? 0 : pe_view_elements(view) * pe_element_size(view->element);
}

pe_view pe_source_shape(const pe_view *view)
{
    pe_view shape = *view;
    if (shape.is_complex) {
        shape.rank--;
        shape.shape[shape.rank - 1] *= 2;
    }
    pe_view_set_row_major(&shape);
    return shape;
}

/* A pe_view's `read`. */
static bool read_copy(void *context, uint64_t offset, void *dst, size_t size)
{
    memcpy(dst, (const char *)context + offset, size);
    return true;
}

/* Copy the elements of a view, some rows of the first axis at a time. */
static bool copy_elements(const pe_view *view, const pe_request *request,
                          const pe_runner *runner, unsigned char *to, pe_error *reterr)
{
    const uint64_t rows = view->shape[0], row = pe_view_elements(view) / rows;
    const uint64_t at_once = row < COPIED_AT_ONCE ? COPIED_AT_ONCE / row : 1;
    for (uint64_t at = 0; at < rows; at += at_once) {
        uint64_t now = rows - at < at_once ? rows - at : at_once;
        if (at > 0 &&
            !pe_may_continue(runner, request->values.scheme, (double)at / (double)rows, reterr))
            return false;
        if (!pe_view_read_elements(view, at, now,
                                   to + at * row * pe_element_size(view->element))) {
            pe_error_add(reterr, PE_MALFORMED, "body", "", "a file that can be read");
            return false;
        }
    }
    return true;
}

pe_status pe_source_open(pe_source *ret_source, const pe_view *view, const pe_request *request,
                         const pe_runner *runner, pe_error *reterr)
{
    *ret_source = (pe_source){.view = pe_source_shape(view)};
    if (is_row_major(view))
        return reterr->status;
    ret_source->copy = malloc((size_t)pe_source_footprint(view));
    if (!ret_source->copy) {
        pe_error_add(reterr, PE_NO_MEMORY, "", "", "memory for the tensor");
        return reterr->status;
    }
    ret_source->view.read = read_copy;
    ret_source->view.context = ret_source->copy;
    ret_source->view.offset = 0;
    ret_source->view.swapped = false;
    copy_elements(view, request, runner, ret_source->copy, reterr);
    return reterr->status;
}

void pe_source_done(pe_source *source)
{
    free(source->copy);
    source->copy = NULL;
}

pe_view pe_source_flat(const pe_view *view, uint64_t first, uint64_t count)
{
    pe_view flat = *view;
    flat.rank = 1;
    flat.shape[0] = pe_view_elements(view);
    flat.strides[0] = 1;
    return pe_view_part(&flat, 0, first, count);
}

bool pe_source_read(const pe_source *source, uint64_t first, uint64_t count, void *dst)
{
    const pe_view part = pe_source_flat(&source->view, first, count);
    return pe_view_read_elements(&part, 0, count, dst);
}
