#include "identify/mapped_view.h"

#include "numerics/dtype.h"
#include "recognise/quick_cosine.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define AT_ONCE      1024   /* elements of a line */
#define ANGLES_BELOW 0x1p40 /* of larger ones the elements say nothing */

bool pe_mapped_view_masks(double number, double element)
{
    return element == number || (number < 0 && isfinite(number) && element <= 0.5 * number);
}

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
    case PE_MAP_DIVIDE:
        return element / self->number;
    case PE_MAP_UNMASK:
    case PE_MAP_UNMASK_BY_KEY:
        break;
    }
    return element;
}

/* The line along the last axis with a number, in row-major order; *ret_query: its index of the
 * axis before. */
static pe_view view_line(const pe_view *view, uint64_t number, uint64_t *ret_query)
{
    pe_view line = *view;
    *ret_query = view->rank > 1 ? number % view->shape[view->rank - 2] : 0;
    for (size_t axis = view->rank - 1; axis-- > 0;) {
        line.offset +=
            number % view->shape[axis] * view->strides[axis] * pe_element_size(view->element);
        number /= view->shape[axis];
    }
    line.rank = 1;
    line.shape[0] = view->shape[view->rank - 1];
    line.strides[0] = view->strides[view->rank - 1];
    return line;
}

/* Fill the masked elements of a part of a line. */
static bool unmask_line(const pe_mapped_view *self, uint64_t number, uint64_t query,
                        uint64_t first, uint64_t count, double *elements)
{
    const pe_view *view = &self->source;
    const uint64_t keys = view->shape[view->rank - 1], queries = view->shape[view->rank - 2];
    const uint64_t visible = query + 1 + keys > queries ? query + 1 + keys - queries : 0;
    double last[AT_ONCE];
    uint64_t ignored;
    const pe_view line = view_line(view, number - query + queries - 1, &ignored);
    if (first + count <= visible)
        return true;
    if (self->mapping == PE_MAP_UNMASK_BY_KEY && !pe_view_read(&line, first, count, last))
        return false;
    for (uint64_t i = 0; i < count; i++)
        if (first + i >= visible && pe_mapped_view_masks(self->number, elements[i]))
            elements[i] = self->mapping == PE_MAP_UNMASK_BY_KEY ? last[i] : -INFINITY;
    return true;
}

/* Map all elements, in row-major order. False: the source cannot be read. */
static bool map_elements(pe_mapped_view *self)
{
    const pe_view *source = &self->source;
    const size_t size = pe_element_size(source->element);
    const uint64_t columns = source->shape[source->rank - 1];
    const uint64_t lines = pe_view_elements(source) / columns;
    unsigned char *to = self->elements;
    double elements[AT_ONCE];
    for (uint64_t number = 0, query; number < lines; number++) {
        const pe_view line = view_line(source, number, &query);
        for (uint64_t first = 0, count; first < columns; first += count, to += count * size) {
            count = columns - first < AT_ONCE ? columns - first : AT_ONCE;
            if (!pe_view_read(&line, first, count, elements) ||
                (self->mapping >= PE_MAP_UNMASK &&
                 !unmask_line(self, number, query, first, count, elements)))
                return false;
            for (uint64_t i = 0; i < count; i++)
                elements[i] = map_element(self, elements[i]);
            pe_round_row(self->dtype, elements, (size_t)count, to);
        }
    }
    return true;
}

/* Read elements of the view: a pe_view's function. */
static bool read_mapped(void *context, uint64_t offset, void *dst, size_t bytes)
{
    const pe_mapped_view *self = context;
    unsigned char element[8];
    memcpy(dst, self->elements + offset, bytes);
    return self->source.read(self->source.context, self->source.offset, element,
                             pe_element_size(self->source.element));
}

bool pe_mapped_view_init(pe_mapped_view *mapped, const pe_view *source, pe_mapping mapping,
                         double number, pe_view *ret_view)
{
    const uint64_t bytes = pe_view_elements(source) * pe_element_size(source->element);
    *mapped = (pe_mapped_view){.source = *source, .mapping = mapping, .number = number};
    if (bytes > PE_MAPPED_BYTES_MAX || !pe_element_is_real(source->element, &mapped->dtype))
        return false;
    mapped->elements = malloc((size_t)bytes);
    *ret_view = *source;
    ret_view->read = read_mapped;
    ret_view->context = mapped;
    ret_view->offset = 0;
    ret_view->swapped = false;
    pe_view_set_row_major(ret_view);
    return mapped->elements && map_elements(mapped);
}

void pe_mapped_view_done(pe_mapped_view *mapped)
{
    free(mapped->elements);
}
