#include "apply/measured_cosines.h"

#include "numerics/dtype.h"
#include "requests/request.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const pe_tensor *find_cosines(const pe_apply *apply)
{
    return pe_request_tensor(apply->exact, apply->tensors[0]);
}

bool pe_cosines_are_measurable(const pe_apply *apply)
{
    const pe_row_rule *rule = &apply->rule;
    return rule->kind == PE_APPLY_ROTATE && rule->pairs > 0 && rule->axes == 1 &&
           !rule->scaled && !apply->offsets && apply->binding.together == 1 &&
           (double)find_cosines(apply)->elements <= PE_MEASURED_MAX;
}

uint64_t pe_cosines_footprint(const pe_apply *apply)
{
    const uint64_t element = 2 * sizeof(double) + pe_dtype_size(apply->rule.dtype);
    return pe_cosines_are_measurable(apply)
               ? element * find_cosines(apply)->elements + 32 * (uint64_t)apply->rule.columns
               : 0;
}

/* Add the pairs of a row, before and after they were turned, to the sums of its position, for
 * each column that a tensor has of them. */
static void add_pairs(const pe_row_rule *rule, const double *before, const double *after,
                      double *products, double *squares)
{
    for (size_t p = 0; p < rule->pairs; p++) {
        const size_t one = rule->full ? rule->one[p] - rule->first : p;
        const size_t other = rule->full ? rule->other[p] - rule->first : p;
        const double x = before[rule->one[p]], y = before[rule->other[p]];
        products[one] += x * after[rule->to_one[p]] + y * after[rule->to_other[p]];
        squares[one] += x * x + y * y;
        products[other] = products[one];
        squares[other] = squares[one];
    }
}

/* Read a row of numbers as doubles. `elements` has room for them. */
static bool read_row(pe_source *source, pe_dtype dtype, uint64_t first, size_t count,
                     void *elements, double *dst)
{
    if (!pe_source_read(source, first, count, elements))
        return false;
    pe_read_row(dst, dtype, elements, count);
    return true;
}

/* Sum the products of all rows but values, which are not turned. */
static bool sum_rows(pe_apply *apply, const pe_view *result, double *products, double *squares)
{
    const size_t columns = apply->rule.columns;
    const pe_tensor *tensor = find_cosines(apply);
    const uint64_t width = tensor->elements / tensor->rows;
    double *numbers = malloc(3 * columns * sizeof *numbers);
    bool good = numbers != NULL;
    for (uint64_t row = 0; good && row < apply->binding.rows; row++) {
        const pe_view part = pe_source_flat(result, row * columns, columns);
        const uint64_t at = pe_binding_row(&apply->binding, row, 0) * width;
        if (pe_binding_role(&apply->binding, row) != pe_binding_role(&apply->binding, 0))
            continue;
        good = read_row(&apply->input, apply->dtype, row * columns, columns,
                        numbers + 2 * columns, numbers) &&
               pe_view_read(&part, 0, columns, numbers + columns);
        if (good)
            add_pairs(&apply->rule, numbers, numbers + columns, products + at, squares + at);
    }
    free(numbers);
    return good;
}

/* A pe_view's `read`. */
static bool read_entries(void *context, uint64_t offset, void *dst, size_t size)
{
    memcpy(dst, (const unsigned char *)context + offset, size);
    return true;
}

static pe_view view_entries(void *entries, pe_dtype dtype, const pe_tensor *tensor)
{
    pe_view view = {.read = read_entries,
                    .context = entries,
                    .element = pe_get_element(dtype),
                    .unit = 4 * pe_dtypes[dtype].unit, /* elements of the result were rounded */
                    .rank = tensor->rank};
    memcpy(view.shape, tensor->shape, tensor->rank * sizeof *tensor->shape);
    pe_view_set_row_major(&view);
    return view;
}

bool pe_cosines_measure(pe_apply *apply, const pe_view *result,
                        pe_measured_cosines *ret_measured)
{
    const pe_tensor *tensor = find_cosines(apply);
    const pe_dtype dtype = apply->rule.dtype;
    const size_t count = (size_t)tensor->elements;
    double *products = calloc(2 * count, sizeof *products);
    void *entries = malloc(count * pe_dtype_size(dtype));
    *ret_measured = (pe_measured_cosines){.sums = products, .entries = entries};
    bool good = products && entries && sum_rows(apply, result, products, products + count);
    for (size_t i = 0; good && i < count; i++) {
        products[i] /= products[count + i];
        good = isfinite(products[i]);
    }
    if (good)
        pe_round_row(dtype, products, count, entries);
    ret_measured->view = view_entries(entries, dtype, tensor);
    return good;
}

void pe_measured_cosines_done(pe_measured_cosines *measured)
{
    free(measured->sums);
    free(measured->entries);
}
