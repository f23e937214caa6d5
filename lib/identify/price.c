#include "identify/price.h"

#include "recognise/proposal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define DIGIT_BITS    3.33 /* log2(10) */
#define EXPONENT_BITS 3    /* where the point is */
#define NAME_BITS     4    /* of a parameter, of what a number is a root of */
#define NOISE_BITS    40   /* more than other forms: it is in all entries */
#define DIVISOR_BITS  3
#define FORM_BITS     14  /* more than a parameter: the scheme does not know it */
#define PRESET_BITS   6   /* it says more than its values */
#define ERROR_WEIGHT  16  /* of the mean error of an arithmetic that is not known, in bits */
#define WHOLE_BITS    128 /* of a row or a column that is another */
#define WHOLE_MAX     1e7
#define ENTRY_BITS    20 /* of an entry that is another number */

static double price_decimal(double number)
{
    return DIGIT_BITS * pe_count_digits(number) + EXPONENT_BITS + (number < 0);
}

double pe_price_number(double number)
{
    const double power = log2(fabs(number)), square = number * number,
                 turns = number / acos(-1);
    double least = price_decimal(number);
    if (power == rint(power))
        least = fmin(least, NAME_BITS + log2(fabs(power) + 2) + (number < 0));
    const double wholes[] = {square,
                             1 / square,
                             turns,
                             1 / turns,
                             number / PE_LOG2_E,
                             1 / (number * PE_LOG2_E),
                             number * PE_LOG2_E};
    for (size_t i = 0; i < PE_COUNT(wholes); i++) {
        const double whole = rint(wholes[i]);
        if (whole >= 1 && whole < WHOLE_MAX && fabs(wholes[i] - whole) < 1e-9 * whole)
            least = fmin(least, NAME_BITS + price_decimal(whole));
    }
    return least;
}

/* ---- requests ---- */

/* The bits of the numbers of a list that is written "1,2,3". */
static double price_list(const char *text, size_t size)
{
    double bits = 0;
    for (size_t at = 0; at < size; at += 1 + strcspn(text + at, ",&"))
        bits += 1 + pe_price_number(strtod(text + at, NULL));
    return bits;
}

static size_t count_choices(const pe_parameter *row)
{
    size_t count = 0;
    while (row->choices && row->choices[count])
        count++;
    return count;
}

/* The bits of a value. */
static double price_value(const pe_parameter *row, const char *text, size_t size)
{
    switch (row->type) {
    case PE_CHOICE:
        return log2((double)count_choices(row) + 1);
    case PE_BOOLEAN:
        return 0;
    case PE_INTEGER:
    case PE_REAL:
        return pe_price_number(strtod(text, NULL));
    case PE_REAL_LIST:
    case PE_INTEGER_LIST:
        return price_list(text, size);
    case PE_STORED:
    case PE_TEXT:
    case PE_TEXT_LIST:
        break;
    }
    return 0;
}

/* The bits of a whole number, which may be an extent of the table, or twice one, or divide one,
 * or, if it is required, make one together with others. */
static double price_extent(double number, bool required, const pe_view *view)
{
    double bits = required ? DIVISOR_BITS : NAME_BITS + pe_price_number(number);
    for (size_t axis = 0; axis < view->rank; axis++) {
        const double extent = (double)view->shape[axis];
        if (number == extent || number == 2 * extent)
            return 0;
        if (number > 1 && (fmod(extent, number) == 0 || fmod(extent - 1, number) == 0))
            bits = fmin(bits, DIVISOR_BITS);
    }
    return bits;
}

double pe_price_request(const pe_scheme *scheme, const char *query, const char *tensor,
                        const pe_view *view)
{
    const pe_scheme_info *info = pe_scheme_describe(scheme);
    double bits = strcmp(tensor, info->tensors[0].name) == 0 ? 0 : 1;
    for (const char *part = query; *part; part += *part == '&') {
        const size_t size = strcspn(part, "&"), length = strcspn(part, "=&");
        const char *text = part + length + 1;
        const size_t left = size > length ? size - length - 1 : 0;
        char name[64] = "";
        if (length < sizeof name)
            memcpy(name, part, length);
        const pe_parameter *row = pe_parameter_find(info, name);
        const bool usual = row && row->default_text && strlen(row->default_text) == left &&
                           strncmp(row->default_text, text, left) == 0;
        if (strcmp(name, "preset") == 0)
            bits += PRESET_BITS + log2((double)info->preset_count + 1);
        else if (row && row->type == PE_INTEGER && !usual)
            bits += price_extent(strtod(text, NULL), row->required, view);
        else if (row && row->type == PE_INTEGER_LIST && row->required)
            bits += DIVISOR_BITS; /* extents of a grid */
        else if (row && !usual)
            bits += NAME_BITS + price_value(row, text, left);
        part += size;
    }
    return bits;
}

/* ---- forms ---- */

double pe_price_form(const pe_transform *form, const pe_view *view)
{
    const double axis = log2((double)view->rank + 1);
    switch (form->kind) {
    case PE_TRANSFORM_FACTOR:
        return FORM_BITS + pe_price_number(form->value) +
               (form->constant != 0 ? pe_price_number(form->constant) : 0);
    case PE_TRANSFORM_MASKED:
        return FORM_BITS + log2((double)form->first + 2) + (isfinite(form->value) ? 4 : 0);
    case PE_TRANSFORM_COLUMNS: {
        double bits = FORM_BITS;
        for (uint64_t i = 2; form->value == 0 && i <= form->count; i++)
            bits += log2((double)i);
        return bits;
    }
    case PE_TRANSFORM_NOISE:
        return NOISE_BITS;
    case PE_TRANSFORM_OTHER_ROWS:
        return 4 * FORM_BITS + WHOLE_BITS * (double)form->count; /* as of wrong rows */
    case PE_TRANSFORM_PARTS:
        return 2 * FORM_BITS + axis;
    default:
        return FORM_BITS + axis;
    }
}

/* ---- what does not fit ---- */

double pe_price_places(double count, double entries)
{
    const double part = count / entries;
    if (count <= 0 || count >= entries)
        return 0;
    return -entries * (part * log2(part) + (1 - part) * log2(1 - part));
}

double pe_price_others(uint64_t count, const pe_view *view)
{
    return pe_price_places((double)count, (double)pe_view_elements(view)) +
           ENTRY_BITS * (double)count;
}

/* The bits of how far the `count` entries that are furthest off are so, in units in the last
 * place. */
static double price_errors(const pe_comparison *compared, uint64_t count)
{
    double bits = 0;
    for (size_t i = PE_COMPARE_BINS; i-- > 1 && count > 0;) {
        const uint64_t own = compared->bins[i] < count ? compared->bins[i] : count;
        bits += (double)own * (double)i;
        count -= own;
    }
    return bits;
}

/* The bits of entries that do not fit: one by one, or of whole rows and columns, of which it
 * does not matter what is in them. */
static double price_misfits(const pe_identity *found, const pe_view *view, double entries)
{
    const pe_misfits *misfits = &found->misfits;
    const double columns = view->rank > 0 ? (double)view->shape[view->rank - 1] : 1;
    const double rows = (double)pe_view_elements(view) / columns;
    const double bad_rows = (double)misfits->row_count;
    const double bad_columns = (double)misfits->column_count;
    const double apart =
        fmax((double)misfits->count - bad_rows * columns - bad_columns * rows, 0);
    const double each = pe_price_places((double)misfits->count, entries) +
                        price_errors(&found->comparison, misfits->count);
    const double lines = WHOLE_BITS * (bad_rows + bad_columns) +
                         pe_price_places(bad_rows, rows) +
                         pe_price_places(bad_columns, columns);
    return fmin(each, lines + pe_price_places(apart, entries) +
                          price_errors(&found->comparison, (uint64_t)apart));
}

double pe_price_rest(const pe_identity *found, const pe_view *view, uint64_t entries)
{
    const pe_comparison *compared = &found->comparison;
    /* of noise the bits of its entries, which are as many more as it is stronger */
    if (found->noise > 0)
        return PE_PRICE_LIKE + (double)entries * log2(1 + found->noise / view->grain);
    const double mean = price_errors(compared, compared->entries) / (double)compared->entries;
    switch (found->arithmetic) {
    case PE_ARITHMETIC_EXACT:
        return 0;
    case PE_ARITHMETIC_F64:
    case PE_ARITHMETIC_F32:
        return PE_PRICE_ARITHMETIC;
    case PE_ARITHMETIC_F32_LIKE:
    case PE_ARITHMETIC_UNKNOWN:
        break;
    }
    return PE_PRICE_LIKE + ERROR_WEIGHT * mean + price_misfits(found, view, (double)entries);
}
