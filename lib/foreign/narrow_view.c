#include "foreign/narrow_view.h"

#include "numerics/decimal.h"
#include "numerics/dtype.h"
#include "scheme.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DOUBLE_DIGITS 53
#define TF32_DIGITS   11
#define BLOCK_ENTRIES ((uint64_t)1 << 14)
#define NEEDED        32 /* one entry of so many, at least, needs the last digit */
#define OTHERS        32 /* at most one entry of so many has more digits */
#define OTHERS_MAX    8
#define AT_ONCE       512
#define LINE_MAX      ((uint64_t)1 << 20) /* entries of a row; longer ones are not looked at */
#define LOG10_2       0.30103
#define PLACES_MAX    8 /* decimal places that numbers are rounded to */

/* ---- all numbers ---- */

/* Show all numbers of a table of reals to a function, block by block, until it returns false.
 * True: it has seen all. *ret_read: the view could be read, and memory did not run out. */
static bool pass_numbers(const pe_view *view,
                         bool (*take)(void *context, const double *numbers, uint64_t count),
                         void *context, bool *ret_read)
{
    const uint64_t elements = pe_view_elements(view);
    const uint64_t line = elements > 0 && view->rank > 0 ? elements / view->shape[0] : 0;
    pe_dtype own;
    *ret_read = true;
    if (!pe_element_is_real(view->element, &own) || line == 0 || line > LINE_MAX)
        return false;
    const uint64_t at_once = line < BLOCK_ENTRIES ? BLOCK_ENTRIES / line : 1;
    double *numbers = malloc((size_t)(at_once * line) * sizeof *numbers);
    bool good = *ret_read = numbers != NULL;
    for (uint64_t row = 0, now; good && row < view->shape[0]; row += now) {
        now = row == 0 ? 1 : view->shape[0] - row < at_once ? view->shape[0] - row : at_once;
        *ret_read = pe_view_read(view, row, now, numbers);
        good = *ret_read && take(context, numbers, now * line);
    }
    free(numbers);
    return good;
}

/* ---- which dtype ---- */

/* Formats, the shortest first, which rounded numbers may be of. */
static const struct {
    pe_dtype dtype;
    int digits;
} NARROW[] = {{PE_BF16, 8}, {PE_F16, 11}, {PE_F32, TF32_DIGITS}, {PE_F32, 24}};

/* How numbers may be of a format: as its elements, or as the shortest decimals of these, which
 * a text has and which were read in the table's own dtype. */
typedef enum kind { ELEMENTS, DECIMALS, KIND_COUNT } kind;

/* The formats that all numbers so far are of. */
typedef struct candidates {
    pe_dtype own;
    bool fits[KIND_COUNT][PE_COUNT(NARROW)];
    uint64_t needed[KIND_COUNT][PE_COUNT(NARROW)]; /* numbers that need all of its digits */
    uint64_t others[KIND_COUNT][PE_COUNT(NARROW)]; /* that are not of it */
    uint64_t count, most;                          /* of others */
} candidates;

/* Whether a number, but for whole ones and their halves, needs the last of so many digits. */
static bool needs_last(double number, int digits)
{
    uint64_t bits;
    memcpy(&bits, &number, sizeof bits);
    return rint(2 * number) != 2 * number && (bits >> (DOUBLE_DIGITS - digits) & 1);
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

/* Whether a number is what the shortest decimal of an element, or that of as many digits as
 * every element needs, reads as in the dtype `own`. *ret_needed: no number of fewer digits than
 * the dtype can tell apart is that decimal. */
static bool is_decimal(double number, pe_dtype own, pe_dtype dtype, bool *ret_needed)
{
    unsigned char element[sizeof(double)];
    char text[PE_PRINT_MAX];
    double read = 0;
    *ret_needed = false;
    if (!isfinite(number) || number == 0)
        return true;
    if (fabs(number) >= pe_dtypes[dtype].overflow)
        return false;
    pe_round_row(dtype, &number, 1, element);
    const size_t length = pe_print_element(text, dtype, element);
    if (!pe_parse_number(text, length, &read) || pe_round_number(read, own) != number) {
        const int digits = (int)ceil(1 + pe_dtypes[dtype].digits * LOG10_2);
        snprintf(text, sizeof text, "%.*g", digits, pe_element_value(dtype, element));
        if (pe_round_number(strtod(text, NULL), own) != number)
            return false;
    }
    /* 2^-digits is below a unit of so many decimal places, so these alone say nothing */
    *ret_needed = pe_count_significant(text) > (int)(pe_dtypes[dtype].digits * LOG10_2);
    return true;
}

/* Whether a number is of a format in that way, noting whether it needs its digits. */
static bool fits_format(candidates *self, kind how, size_t format, double number)
{
    const pe_dtype dtype = NARROW[format].dtype;
    const int digits = NARROW[format].digits;
    bool needed = needs_last(number, digits);
    const bool fits = how == ELEMENTS ? is_element(number, dtype, digits)
                                      : is_decimal(number, self->own, dtype, &needed);
    self->needed[how][format] += needed;
    return fits;
}

/* Rule out the formats that some number is not of: a pass over numbers. */
static bool rule_out_formats(void *context, const double *numbers, uint64_t count)
{
    candidates *self = context;
    bool some = false;
    for (int how = 0; how < KIND_COUNT; how++)
        for (size_t i = 0; i < PE_COUNT(NARROW); i++) {
            bool *fits = &self->fits[how][i];
            for (uint64_t k = 0; *fits && k < count; k++) {
                self->others[how][i] += !fits_format(self, (kind)how, i, numbers[k]);
                *fits = self->others[how][i] <= self->most;
            }
            some = some || *fits;
        }
    self->count += count;
    return some;
}

bool pe_narrow_view_find(const pe_view *view, pe_narrow_view *ret_narrow)
{
    candidates self = {.count = 0};
    bool read;
    if (!pe_element_is_real(view->element, &self.own))
        return false;
    for (size_t i = 0; i < PE_COUNT(NARROW); i++) {
        self.fits[ELEMENTS][i] = NARROW[i].digits < pe_dtypes[self.own].digits;
        self.fits[DECIMALS][i] =
            self.fits[ELEMENTS][i] && NARROW[i].digits == pe_dtypes[NARROW[i].dtype].digits;
    }
    self.most = pe_view_elements(view) / OTHERS < OTHERS_MAX ? pe_view_elements(view) / OTHERS
                                                             : OTHERS_MAX;
    if (!pass_numbers(view, rule_out_formats, &self, &read))
        return false;
    for (int how = 0; how < KIND_COUNT; how++)
        for (size_t i = 0; i < PE_COUNT(NARROW); i++)
            if (self.fits[how][i]) {
                *ret_narrow = (pe_narrow_view){*view, NARROW[i].dtype, NARROW[i].digits,
                                               how == DECIMALS, self.others[how][i]};
                return NEEDED * self.needed[how][i] >= self.count;
            }
    return false;
}

/* ---- decimal places ---- */

/* How many decimal places all numbers so far have at most. */
typedef struct places {
    pe_dtype own;
    int count;
    double limit;     /* of numbers times 10^count: it has no more whole ones, but for two */
    uint64_t numbers; /* finite ones */
    uint64_t needed;  /* of these, such as are no multiples of 2^-count either */
    uint64_t others;  /* that have more places, or digits that their dtype does not keep */
} places;

/* Whether a number is the one of its dtype that is nearest to a multiple of 1 / scale. */
static bool is_multiple(double number, double scale, pe_dtype own)
{
    return pe_round_number(rint(number * scale) / scale, own) == number;
}

static const double POWERS[PLACES_MAX + 1] = {1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8};

/* Note how many places numbers have: a pass over numbers. */
static bool note_places(void *context, const double *numbers, uint64_t count)
{
    places *self = context;
    for (uint64_t i = 0; i < count; i++) {
        if (!isfinite(numbers[i]))
            continue;
        int own = self->count;
        while (own <= PLACES_MAX && !is_multiple(numbers[i], POWERS[own], self->own))
            own++;
        if (own > PLACES_MAX || POWERS[own] * fabs(numbers[i]) > self->limit) {
            if (++self->others > OTHERS_MAX)
                return false;
            continue;
        }
        self->count = own;
        const double dyadic = ldexp(numbers[i], self->count);
        self->needed += dyadic != rint(dyadic);
        self->numbers++;
    }
    return true;
}

bool pe_view_find_decimals(const pe_view *view, int *ret_decimals, bool *ret_found)
{
    places self = {.count = 0};
    bool read = true;
    if (pe_element_is_real(view->element, &self.own))
        self.limit = ldexp(1, pe_dtypes[self.own].digits - 1);
    *ret_found = self.limit > 0 && pass_numbers(view, note_places, &self, &read) &&
                 self.needed > 0 && NEEDED * self.needed >= self.numbers &&
                 OTHERS * self.others <= self.numbers;
    *ret_decimals = self.count;
    return read;
}

/* ---- the view ---- */

/* Read elements of the source and shorten them, of which none has digits that say anything: a
 * pe_view's function. */
static bool read_narrow(void *context, uint64_t offset, void *dst, size_t bytes)
{
    const pe_narrow_view *self = context;
    const size_t size = pe_dtype_size(self->dtype);
    double numbers[AT_ONCE];
    unsigned char *to = dst;
    pe_view line = self->source; /* its elements as they lie */
    line.rank = 1;
    line.shape[0] = UINT64_MAX;
    line.strides[0] = 1;
    uint64_t first = offset / size;
    for (size_t left = bytes / size, now; left > 0; left -= now, first += now) {
        now = left < AT_ONCE ? left : AT_ONCE;
        if (!pe_view_read(&line, first, now, numbers))
            return false;
        pe_write_row(to, self->dtype, numbers, now);
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
