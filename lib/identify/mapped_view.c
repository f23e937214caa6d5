#include "identify/mapped_view.h"

#include "numerics/dtype.h"
#include "recognise/quick_cosine.h"

#include <math.h>

#define AT_ONCE      512    /* elements */
#define ANGLES_BELOW 0x1p40 /* of larger ones the elements say nothing */

static double map_element(const pe_mapped_view *self, double element)
{
    switch (self->mapping) {
    case PE_MAP_COSINE:
    case PE_MAP_SINE:
        return fabs(element) < ANGLES_BELOW
                   ? pe_quick_cosine(element, self->mapping == PE_MAP_SINE ? 3 : 0)
                   : (double)NAN;
    case PE_MAP_NEGATE:
        return -element;
    case PE_MAP_SCALE:
        return (element - self->constant) / self->factor;
    }
    return element;
}

/* Read elements of the view, which lie where the source's do: a pe_view's function. */
static bool read_mapped(void *context, uint64_t offset, void *dst, size_t bytes)
{
    const pe_mapped_view *self = context;
    const size_t size = pe_element_size(self->source.element);
    unsigned char *to = dst;
    double elements[AT_ONCE];
    pe_view line = self->source;
    line.offset = offset;
    line.rank = 1;
    line.strides[0] = 1;
    line.is_complex = false;
    for (uint64_t left = bytes / size, now; left > 0; left -= now) {
        now = left < AT_ONCE ? left : AT_ONCE;
        line.shape[0] = now;
        if (!pe_view_read(&line, 0, now, elements))
            return false;
        for (uint64_t i = 0; i < now; i++)
            elements[i] = map_element(self, elements[i]);
        pe_round_row(self->dtype, elements, (size_t)now, to);
        line.offset += now * size;
        to += now * size;
    }
    return true;
}

bool pe_mapped_view_init(pe_mapped_view *mapped, const pe_view *source, pe_mapping mapping,
                         double factor, double constant, pe_view *ret_view)
{
    *mapped = (pe_mapped_view){
        .source = *source, .mapping = mapping, .factor = factor, .constant = constant};
    *ret_view = *source;
    ret_view->read = read_mapped;
    ret_view->context = mapped;
    ret_view->swapped = false;
    return pe_element_is_real(source->element, &mapped->dtype);
}

/* ---- row-major ---- */

/* The line along the last axis with a number, in row-major order. */
static pe_view view_line(const pe_view *view, uint64_t number)
{
    pe_view line = *view;
    for (size_t axis = view->rank - 1; axis-- > 0; number /= view->shape[axis])
        line.offset +=
            number % view->shape[axis] * view->strides[axis] * pe_element_size(view->element);
    line.rank = 1;
    line.shape[0] = view->shape[view->rank - 1];
    line.strides[0] = view->strides[view->rank - 1];
    line.is_complex = false;
    return line;
}

/* Read elements in row-major order: a pe_view's function. */
static bool read_packed(void *context, uint64_t offset, void *dst, size_t bytes)
{
    const pe_view *source = context;
    const size_t size = pe_element_size(source->element);
    const uint64_t columns = source->shape[source->rank - 1];
    unsigned char *to = dst;
    uint64_t at = offset / size;
    for (uint64_t left = bytes / size, now; left > 0; left -= now, at += now) {
        const pe_view line = view_line(source, at / columns);
        now = columns - at % columns < left ? columns - at % columns : left;
        if (!pe_view_read_elements(&line, at % columns, now, to))
            return false;
        to += now * size;
    }
    return true;
}

pe_view pe_view_packed(pe_view *source)
{
    pe_view packed = *source;
    packed.read = read_packed;
    packed.context = source;
    packed.offset = 0;
    packed.swapped = false;
    pe_view_set_row_major(&packed);
    return packed;
}
