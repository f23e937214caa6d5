#include "identify/mapped_view.h"

#include "numerics/dtype.h"
#include "recognise/quick_cosine.h"

#include <math.h>

#define AT_ONCE      512    /* elements */
#define ANGLES_BELOW 0x1p40 /* of larger ones the elements say nothing */

/* The whole number that an element is, but for its rounding. */
static double find_whole(const pe_mapped_view *self, double element)
{
    const double number = (element - self->constant) / self->factor;
    const double made = rint(number) * self->factor + self->constant;
    const double size = fabs(element) + fabs(self->factor); /* which was rounded, too */
    const double allowed = 1.5 * self->unit * size + 1e-9 * fabs(self->factor);
    return fabs(element - made) <= allowed ? rint(number) : number;
}

pe_dtype pe_get_mapped_dtype(pe_element element)
{
    pe_dtype dtype;
    return pe_element_is_real(element, &dtype) ? dtype : PE_F64;
}

bool pe_find_whole_number(double element, double factor, double constant, pe_dtype dtype,
                          double *ret_whole)
{
    *ret_whole = rint((element - constant) / factor);
    return pe_round_number(*ret_whole * factor + constant, dtype) == element;
}

/* The same of an element that is exactly what a whole number makes; another one's is none. */
static double find_exact_whole(const pe_mapped_view *self, double element)
{
    const double number = (element - self->constant) / self->factor;
    double whole;
    if (pe_find_whole_number(element, self->factor, self->constant, self->own, &whole))
        return whole;
    return number == whole ? nextafter(number, INFINITY) : number;
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
    case PE_MAP_NEGATE_FINITE:
        return isinf(element) ? element : -element;
    case PE_MAP_SCALE:
        return isinf(element) ? element : (element - self->constant) / self->factor;
    case PE_MAP_WHOLE:
        return find_whole(self, element);
    case PE_MAP_MADE:
        return find_exact_whole(self, element);
    }
    return element;
}

/* Read elements of the view, which lie where the source's do: a pe_view's function. */
static bool read_mapped(void *context, uint64_t offset, void *dst, size_t bytes)
{
    const pe_mapped_view *self = context;
    const size_t size = pe_dtype_size(self->dtype), own = pe_element_size(self->source.element);
    unsigned char *to = dst;
    double elements[AT_ONCE];
    pe_view line = self->source;
    line.offset = self->source.offset + offset / size * own;
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
        line.offset += now * own;
        to += now * size;
    }
    return true;
}

void pe_mapped_view_init(pe_mapped_view *mapped, const pe_view *source, pe_mapping mapping,
                         double factor, double constant, pe_view *ret_view)
{
    int exponent;
    *mapped = (pe_mapped_view){
        .source = *source, .mapping = mapping, .factor = factor, .constant = constant};
    *ret_view = *source;
    ret_view->read = read_mapped;
    ret_view->context = mapped;
    ret_view->swapped = false;
    ret_view->offset = 0;
    mapped->own = mapped->dtype = pe_get_mapped_dtype(source->element);
    ret_view->element = pe_get_element(mapped->own);
    mapped->unit = source->unit > 0 ? source->unit : pe_dtypes[mapped->own].unit;
    if ((mapping == PE_MAP_COSINE || mapping == PE_MAP_SINE) &&
        mapped->unit > pe_dtypes[PE_F32].unit)
        ret_view->angle_unit = mapped->unit;
    if (mapping == PE_MAP_NEGATE || mapping == PE_MAP_NEGATE_FINITE)
        ret_view->factor = -source->factor;
    if (mapping < PE_MAP_SCALE)
        return;
    ret_view->grain = source->grain / fabs(factor);
    const bool narrow = mapped->unit > pe_dtypes[PE_F32].unit;
    const bool exact =
        mapping == PE_MAP_MADE || (constant == 0 && frexp(fabs(factor), &exponent) == 0.5);
    ret_view->is_divided = source->is_divided || !exact;
    if (!narrow)
        return;
    mapped->dtype = PE_F32;
    ret_view->element = PE_ELEMENT_F32;
    if (mapping == PE_MAP_MADE)
        return;
    /* a number of few digits has more when it is divided */
    const double before = source->factor != 0 ? source->factor : 1;
    ret_view->factor = factor * before;
    ret_view->constant = source->constant + constant * before;
    ret_view->unit = mapping == PE_MAP_WHOLE ? 0 : mapped->unit;
}
