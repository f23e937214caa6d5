/* Reading requests for tables of grids, and the rules between their parameters. */
#include "waves/axial_request.h"

#include <stdio.h>

/* a * b, or PE_AXIAL_ROWS_MAX if that is less. */
static uint64_t multiply_saturating(uint64_t a, uint64_t b)
{
    return b != 0 && a > PE_AXIAL_ROWS_MAX / b ? PE_AXIAL_ROWS_MAX : a * b;
}

void pe_axial_request_split(pe_axial_request *request, pe_axial_split split)
{
    const uint64_t dim = 2 * request->pairs, part = dim / (2 * request->axes) * 2;
    for (size_t a = 0; a < request->axes; a++)
        request->widths[a] = part;
    if (split == PE_SPLIT_REST_TO_FIRST)
        request->widths[0] += dim - part * request->axes;
    for (size_t a = 0; split == PE_SPLIT_EIGHTH_FIRST && a < request->axes; a++)
        request->widths[a] =
            a == 0 ? dim / 8 : dim / 8 * 7 / (request->axes > 1 ? request->axes - 1 : 1);
}

pe_axial_request pe_axial_request_read(const pe_values *values)
{
    const pe_value *sizes = pe_value_find(values, "sizes"), *widths;
    pe_axial_request request = {.axes = sizes->count < PE_AXES_MAX ? sizes->count : PE_AXES_MAX,
                                .pairs = (size_t)pe_get_integer(values, "dim") / 2,
                                .cells = 1};
    for (size_t a = 0; a < request.axes; a++) {
        request.sizes[a] = (uint64_t)sizes->items[a];
        request.cells = multiply_saturating(request.cells, request.sizes[a]);
    }
    if (pe_get_choice(values, "row_order") == PE_ROWS_ZIPPED)
        request.cells = request.sizes[0];
    widths = pe_value_find(values, "widths");
    if (!widths->present)
        pe_axial_request_split(&request, (pe_axial_split)pe_get_choice(values, "split"));
    for (size_t a = 0; widths->present && a < request.axes && a < widths->count; a++)
        request.widths[a] = (uint64_t)widths->items[a];
    const pe_value *first = pe_value_find(values, "first_index");
    for (size_t a = 0; a < request.axes && first->count > 0; a++)
        request.first[a] = first->items[first->count > a ? a : 0];
    for (size_t a = 0; a < request.axes; a++)
        request.turned += request.widths[a];
    request.rows =
        multiply_saturating(request.cells, (uint64_t)pe_get_integer(values, "repeats")) +
        (uint64_t)pe_get_integer(values, "prefix") + (uint64_t)pe_get_integer(values, "suffix");
    return request;
}

static bool are_equal(const uint64_t *numbers, size_t count)
{
    for (size_t i = 1; i < count; i++)
        if (numbers[i] != numbers[0])
            return false;
    return true;
}

/* ---- rules between parameters ---- */

static void check_widths(const pe_values *values, const pe_axial_request *request,
                         pe_error *reterr)
{
    bool odd = false;
    char given[40];
    pe_check_count(values, "widths", request->axes, "one for each axis", reterr);
    for (size_t a = 0; a < request->axes; a++)
        odd = odd || request->widths[a] % 2 != 0;
    snprintf(given, sizeof given, "%llu columns together", (unsigned long long)request->turned);
    if (odd || request->turned < 2 || request->turned > 2 * request->pairs)
        pe_error_add(reterr, PE_OUT_OF_RANGE, "widths", given,
                     "even numbers, from 2 to dim = %zu columns together", 2 * request->pairs);
}

static void check_split(const pe_values *values, const pe_axial_request *request,
                        pe_error *reterr)
{
    const uint64_t dim = 2 * request->pairs, axes = request->axes;
    const pe_axial_split split = (pe_axial_split)pe_get_choice(values, "split");
    char given[24];
    snprintf(given, sizeof given, "%llu", (unsigned long long)dim);
    if (split == PE_SPLIT_EIGHTH_FIRST && axes < 2)
        pe_error_add(reterr, PE_OUT_OF_RANGE, "split", "eighth_first",
                     "another one for a single axis");
    else if (split == PE_SPLIT_EIGHTH_FIRST &&
             (dim % 16 != 0 || dim / 8 * 7 % (2 * (axes - 1)) != 0))
        pe_error_add(reterr, PE_OUT_OF_RANGE, "dim", given,
                     "a multiple of 16, and dim * 7/8 one of %llu, with split=eighth_first and "
                     "%llu axes",
                     (unsigned long long)(2 * (axes - 1)), (unsigned long long)axes);
    else if (split == PE_SPLIT_EQUAL && dim % (2 * axes) != 0)
        pe_error_add(reterr, PE_OUT_OF_RANGE, "dim", given,
                     "a multiple of %llu with split=equal and %llu axes, each of which turns "
                     "pairs of columns",
                     (unsigned long long)(2 * axes), (unsigned long long)axes);
    else if (dim < 2 * axes)
        pe_error_add(reterr, PE_OUT_OF_RANGE, "dim", given,
                     "at least %llu, two columns for each axis",
                     (unsigned long long)(2 * axes));
}

/* Refuse a choice unless something holds. */
static void check_rule(bool holds, const char *name, const char *given, const char *rule,
                       pe_error *reterr)
{
    if (!holds)
        pe_error_add(reterr, PE_OUT_OF_RANGE, name, given, "%s", rule);
}

static void check_columns(const pe_values *values, const pe_axial_request *request,
                          pe_error *reterr)
{
    const bool equal = are_equal(request->widths, request->axes);
    const bool alternating = pe_get_choice(values, "arrangement") == PE_PAIRS_ALTERNATING;
    const bool by_axis = pe_get_choice(values, "layout") == PE_LAYOUT_HALF_BY_AXIS;
    if (pe_is_present(values, "widths"))
        check_widths(values, request, reterr);
    else
        check_split(values, request, reterr);
    check_rule(equal || pe_get_choice(values, "ladder") != PE_LADDER_SPLIT, "ladder", "split",
               "by_axis unless all axes have equally many columns", reterr);
    check_rule(equal || !alternating, "arrangement", "alternating",
               "blocks unless all axes have equally many columns", reterr);
    check_rule(
        !by_axis || !alternating, "layout", "half_by_axis",
        "another one with arrangement=alternating, where an axis has no block of columns",
        reterr);
    check_rule(
        !by_axis || pe_get_choice(values, "table") == PE_TABLE_FULL, "layout", "half_by_axis",
        "another one unless table=full, since a table of half the width has each value once",
        reterr);
}

static void check_rows(const pe_values *values, const pe_axial_request *request,
                       pe_error *reterr)
{
    const pe_value *sizes = pe_value_find(values, "sizes");
    char given[24], counted[40];
    uint64_t all = 0;
    snprintf(counted, sizeof counted, "%zu items", sizes->count);
    check_rule(sizes->count <= PE_AXES_MAX, "sizes", counted, "a list of 1 to 4 items", reterr);
    for (size_t a = 0; a < request->axes; a++)
        all += request->sizes[a];
    if (pe_value_find(values, "first_index")->count != 1)
        pe_check_count(values, "first_index", request->axes, "or one for all axes", reterr);
    pe_check_count(values, "reference_sizes", request->axes, "one for each axis", reterr);
    pe_check_count(values, "coordinates", (size_t)all, "one for each cell along each axis",
                   reterr);
    check_rule(pe_get_choice(values, "row_order") != PE_ROWS_ZIPPED ||
                   are_equal(request->sizes, request->axes),
               "row_order", "zipped", "another one unless all sizes are alike", reterr);
    if (pe_get_choice(values, "row_order") != PE_ROWS_MERGE_BLOCKS)
        return;
    const uint64_t merge = (uint64_t)pe_get_integer(values, "merge_size");
    snprintf(given, sizeof given, "%llu", (unsigned long long)merge);
    check_rule(request->axes >= 2, "row_order", "merge_blocks", "another one for a single axis",
               reterr);
    if (request->axes >= 2)
        check_rule(request->sizes[request->axes - 1] % merge == 0 &&
                       request->sizes[request->axes - 2] % merge == 0,
                   "merge_size", given, "a divisor of the last two sizes", reterr);
}

void pe_axial_request_check(const pe_values *values, const pe_axial_request *request,
                            pe_error *reterr)
{
    check_columns(values, request, reterr);
    check_rows(values, request, reterr);
}
