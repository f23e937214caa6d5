#include "foreign/narrow_view.h"

#include "numerics/dtype.h"
#include "scheme.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define DOUBLE_DIGITS 53
#define TF32_DIGITS   11
#define BLOCK_ENTRIES ((uint64_t)1 << 14)
#define NEEDED        32 /* one entry of so many, at least, needs the last digit */
#define AT_ONCE       512
#define LINE_MAX      ((uint64_t)1 << 20) /* entries of a row; longer ones are not looked at */

/* ---- which dtype ---- */

/* Formats, the shortest first, which rounded numbers may be of. */
static const struct {
    pe_dtype dtype;
    int digits;
} NARROW[] = {{PE_BF16, 8}, {PE_F16, 11}, {PE_F32, TF32_DIGITS}, {PE_F32, 24}};

/* The formats that all numbers so far are of. */
typedef struct candidates {
    bool fits[PE_COUNT(NARROW)];
    uint64_t needed[PE_COUNT(NARROW)]; /* numbers below 1 that need the last digit */
    uint64_t count;
} candidates;

/* Whether a number below 1 in magnitude needs the last of so many digits. */
static bool needs_last(double number, int digits)
{
    uint64_t bits;
    memcpy(&bits, &number, sizeof bits);
    return fabs(number) < 1 && (bits >> (DOUBLE_DIGITS - digits) & 1);
}

/* Whether all digits of a normal double beyond so many are 0. */
static bool has_digits(double number, int digits)
{
    uint64_t bits;
    memcpy(&bits, &number, sizeof bits);
    return (bits & (((uint64_t)1 << (DOUBLE_DIGITS - digits)) - 1)) == 0;
}

/* Whether a number is an element of a dtype. */
static bool is_element(double number, pe_dtype dtype, int digits)
{
    const pe_dtype_facts *facts = &pe_dtypes[dtype];
    const double size = fabs(number), least = ldexp(1, facts->least_exponent);
    if (!isfinite(number) || number == 0)
        return true;
    if (size >= facts->overflow)
        return false;
    if (size < least) { /* below, elements are evenly spaced */
        const double places = size / ldexp(least, 1 - digits);
        return places == rint(places);
    }
    return has_digits(number, digits);
}

/* Rule out the formats that some number is not of. False: no format is left. */
static bool rule_out_formats(candidates *self, const double *numbers, uint64_t count)
{
    bool some = false;
    for (size_t i = 0; i < PE_COUNT(NARROW); i++) {
        for (uint64_t k = 0; self->fits[i] && k < count; k++) {
            self->fits[i] = is_element(numbers[k], NARROW[i].dtype, NARROW[i].digits);
            self->needed[i] += needs_last(numbers[k], NARROW[i].digits);
        }
        some = some || self->fits[i];
    }
    self->count += count;
    return some;
}

bool pe_narrow_view_find(const pe_view *view, pe_narrow_view *ret_narrow)
{
    candidates self = {.count = 0};
    const uint64_t elements = pe_view_elements(view);
    pe_dtype own;
    if (!pe_element_is_real(view->element, &own) || elements == 0 || view->rank == 0)
        return false;
    const uint64_t line = elements / view->shape[0];
    if (line > LINE_MAX)
        return false;
    const uint64_t at_once = line < BLOCK_ENTRIES ? BLOCK_ENTRIES / line : 1;
    double *numbers = malloc((size_t)(at_once * line) * sizeof *numbers);
    bool good = numbers != NULL;
    for (size_t i = 0; i < PE_COUNT(NARROW); i++)
        self.fits[i] = NARROW[i].digits < pe_dtypes[own].digits;
    for (uint64_t row = 0, now; good && row < view->shape[0]; row += now) {
        now = row == 0 ? 1 : view->shape[0] - row < at_once ? view->shape[0] - row : at_once;
        good = pe_view_read(view, row, now, numbers) &&
               rule_out_formats(&self, numbers, now * line);
    }
    free(numbers);
    for (size_t i = 0; good && i < PE_COUNT(NARROW); i++)
        if (self.fits[i]) {
            *ret_narrow = (pe_narrow_view){*view, NARROW[i].dtype, NARROW[i].digits};
            return NEEDED * self.needed[i] >= self.count;
        }
    return false;
}

/* ---- the view ---- */

static void swap_bytes(unsigned char *element, size_t size)
{
    for (size_t low = 0, high = size - 1; low < high; low++, high--) {
        unsigned char kept = element[low];
        element[low] = element[high];
        element[high] = kept;
    }
}

/* Shorten elements, of which none has digits that are lost. */
static void shorten_elements(const pe_narrow_view *self, pe_dtype dtype,
                             const unsigned char *elements, size_t count, unsigned char *dst)
{
    double numbers[AT_ONCE];
    if (dtype == PE_F32 && self->dtype == PE_BF16) { /* by far the commonest */
        for (size_t i = 0; i < count; i++) {
            uint32_t bits;
            memcpy(&bits, elements + i * sizeof bits, sizeof bits);
            const uint16_t upper = (uint16_t)(bits >> 16);
            memcpy(dst + i * sizeof upper, &upper, sizeof upper);
        }
        return;
    }
    for (size_t i = 0; i < count; i++)
        numbers[i] = pe_element_value(dtype, elements + i * pe_dtype_size(dtype));
    pe_round_row(self->dtype, numbers, count, dst);
    const size_t size = pe_dtype_size(self->dtype);
    for (size_t i = 0; i < count; i++) /* rounding makes all zeros +0 */
        if (numbers[i] == 0 && signbit(numbers[i]))
            dst[i * size + size - 1] |= 0x80;
}

/* Read elements of the source and shorten them: a pe_view's function. */
static bool read_narrow(void *context, uint64_t offset, void *dst, size_t bytes)
{
    const pe_narrow_view *self = context;
    const pe_view *source = &self->source;
    const size_t size = pe_dtype_size(self->dtype), wide = pe_element_size(source->element);
    unsigned char elements[AT_ONCE * sizeof(double)];
    unsigned char *to = dst;
    pe_dtype dtype = PE_F64;
    pe_element_is_real(source->element, &dtype);
    uint64_t first = offset / size;
    for (size_t left = bytes / size, now; left > 0; left -= now, first += now) {
        now = left < AT_ONCE ? left : AT_ONCE;
        if (!source->read(source->context, source->offset + first * wide, elements, now * wide))
            return false;
        for (size_t i = 0; source->swapped && i < now; i++)
            swap_bytes(elements + i * wide, wide);
        shorten_elements(self, dtype, elements, now, to);
        to += now * size;
    }
    return true;
}

pe_view pe_narrow_view_make(pe_narrow_view *narrow)
{
    pe_view view = narrow->source;
    view.read = read_narrow;
    view.context = narrow;
    view.element = pe_get_element(narrow->dtype);
    if (narrow->digits < pe_dtypes[narrow->dtype].digits)
        view.unit = ldexp(1, 1 - narrow->digits);
    view.offset = 0;
    view.swapped = false;
    return view;
}
