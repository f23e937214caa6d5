/* What all file formats of tables share, and raw elements. */
#include "files/table_view.h"

#include <stdio.h>
#include <string.h>

bool api_table_refuse(pe_error *reterr, pe_status status, const char *part, const char *given,
                      const char *rule)
{
    pe_error_add(reterr, status, part, given, "%s", rule);
    return false;
}

pe_view api_table_view(const api_file *file, pe_element element, bool little)
{
    const uint16_t one = 1;
    bool machine_is_little = *(const unsigned char *)&one == 1;
    return (pe_view){.read = file->read,
                     .context = file->context,
                     .element = element,
                     .swapped = little != machine_is_little};
}

bool api_table_add_axis(pe_view *view, uint64_t extent, pe_error *reterr)
{
    if (extent == 0)
        return api_table_refuse(reterr, PE_OUT_OF_RANGE, "shape", "0",
                                "a shape without empty axes");
    if (view->rank == PE_VIEW_RANK_MAX) {
        pe_error_add(reterr, PE_OUT_OF_RANGE, "shape", "", "a shape of at most %d axes",
                     PE_VIEW_RANK_MAX);
        return false;
    }
    view->shape[view->rank++] = extent;
    return true;
}

bool api_table_fits(const pe_view *view, uint64_t bytes, pe_error *reterr)
{
    uint64_t elements = pe_view_elements(view), wanted;
    size_t size = pe_element_size(view->element);
    char given[48];
    if (elements > 0 && !__builtin_mul_overflow(elements, (uint64_t)size, &wanted) &&
        wanted == bytes)
        return true;
    snprintf(given, sizeof given, "%llu bytes of elements", (unsigned long long)bytes);
    if (elements == 0)
        return api_table_refuse(reterr, PE_MALFORMED, "body", given,
                                "as long as the shape says, which has more than 2^64 elements");
    pe_error_add(reterr, PE_MALFORMED, "body", given,
                 "%llu elements of %zu bytes, as the shape and the dtype %s say",
                 (unsigned long long)elements, size, pe_element_name(view->element));
    return false;
}

bool api_find_dtype(const char *name, pe_dtype *ret_dtype)
{
    for (pe_dtype dtype = PE_F32; dtype < PE_DTYPE_COUNT; dtype++)
        if (strcmp(name, pe_dtype_name(dtype)) == 0) {
            *ret_dtype = dtype;
            return true;
        }
    return false;
}

static bool read_segment(void *context, uint64_t offset, void *dst, size_t size)
{
    const api_segment *segment = context;
    if (offset > segment->size || size > segment->size - offset)
        return false;
    if (size > 0)
        memcpy(dst, (const char *)segment->data + offset, size);
    return true;
}

api_file api_segment_file(const api_segment *segment)
{
    return (api_file){read_segment, (void *)(uintptr_t)segment, segment->size};
}

/* Give a view a shape whose elements take exactly `bytes` bytes, in row-major order. */
static bool set_shape(pe_view *view, size_t rank, const uint64_t *shape, uint64_t bytes,
                      pe_error *reterr)
{
    view->rank = 0;
    for (size_t i = 0; i < rank; i++)
        if (!api_table_add_axis(view, shape[i], reterr))
            return false;
    if (!api_table_fits(view, bytes, reterr))
        return false;
    pe_view_set_row_major(view);
    return true;
}

bool api_reshape_view(pe_view *view, size_t rank, const uint64_t *shape, pe_error *reterr)
{
    const uint64_t bytes = pe_view_elements(view) * pe_element_size(view->element);
    return set_shape(view, rank, shape, bytes, reterr);
}

bool api_raw_view(const api_file *file, pe_element element, size_t rank, const uint64_t *shape,
                  pe_view *ret_view, pe_error *reterr)
{
    pe_view view = api_table_view(file, element, true);
    if (!set_shape(&view, rank, shape, file->size, reterr))
        return false;
    *ret_view = view;
    return true;
}
