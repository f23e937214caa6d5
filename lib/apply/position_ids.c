/* Reading positions by row, some at a time. */
#include "apply/position_ids.h"

#include "apply/row_major_source.h"
#include "requests/parameters.h"
#include "requests/request.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define AT_ONCE  ((uint64_t)4096)
#define POSITION 0x1p53 /* the largest magnitude */

static bool refuse_ids(pe_error *reterr, const char *given, const char *allowed)
{
    pe_error_add(reterr, PE_OUT_OF_RANGE, "position_ids", given, "%s", allowed);
    return false;
}

/* Find the strides of one axis's positions. */
static bool fit_axis(const pe_view *ids, const pe_id_axes *axes, pe_id_strides *ret_strides,
                     pe_error *reterr)
{
    uint64_t last = ids->rank > 0 ? ids->shape[ids->rank - 1] : 0;
    uint64_t rows = ids->rank == 2 ? ids->shape[0] : 1;
    char given[64];
    *ret_strides = (pe_id_strides){.length = 1};
    if (axes->length == 0)
        return refuse_ids(reterr, "", "left out: the encoding has no positions of rows");
    if (ids->rank == 1 && axes->length == 1 && last == axes->batch) {
        *ret_strides = (pe_id_strides){.batch = 1};
        return true;
    }
    if ((ids->rank == 1 || ids->rank == 2) && last == axes->length &&
        (rows == 1 || rows == axes->batch)) {
        ret_strides->batch = rows > 1 ? last : 0;
        return true;
    }
    snprintf(given, sizeof given, "%zu axes, the last of %llu", ids->rank,
             (unsigned long long)last);
    pe_error_add(
        reterr, PE_OUT_OF_RANGE, "position_ids", given,
        "integers [batch, length], [1, length], [length] or, of one row, [batch]: "
        "[%llu, %llu] here; the axis batch is that which axes calls so, or the first one",
        (unsigned long long)axes->batch, (unsigned long long)axes->length);
    return false;
}

bool pe_ids_fit(const pe_view *ids, const pe_id_axes *axes, pe_id_strides *ret_strides,
                pe_error *reterr)
{
    char given[96];
    if (axes->count == 0)
        return fit_axis(ids, axes, ret_strides, reterr);
    if (ids->rank < 2 || ids->shape[0] != axes->count) {
        pe_write_shape(ids->shape, ids->rank, given, sizeof given);
        pe_error_add(reterr, PE_OUT_OF_RANGE, "position_ids", given,
                     "[%zu, length] or [%zu, batch, length], one of each axis", axes->count,
                     axes->count);
        return false;
    }
    const pe_view one = pe_view_at(ids, 0, 0);
    if (!fit_axis(&one, axes, ret_strides, reterr))
        return false;
    ret_strides->axis = pe_view_elements(&one);
    return true;
}

/* What is done with some positions; false after a problem was added. */
typedef bool use_ids(void *context, uint64_t at, const double *ids, size_t count,
                     pe_error *reterr);

/* All of them as one axis, which is how row-major ones lie. */
static pe_view flatten_ids(const pe_view *ids)
{
    pe_view flat = *ids;
    flat.rank = 1;
    flat.shape[0] = pe_view_elements(ids);
    flat.strides[0] = 1;
    return flat;
}

static bool read_blocks(const pe_view *ids, const pe_scheme *scheme, const pe_runner *runner,
                        use_ids *use, void *context, pe_error *reterr)
{
    const pe_view flat = flatten_ids(ids);
    const uint64_t count = flat.shape[0];
    double numbers[AT_ONCE];
    pe_dtype dtype;
    if (pe_element_is_real(ids->element, &dtype) || ids->element == PE_ELEMENT_BOOL)
        return refuse_ids(reterr, pe_element_name(ids->element), "integers");
    if (pe_source_footprint(ids) > 0)
        return refuse_ids(reterr, "", "integers in row-major order");
    for (uint64_t at = 0; at < count; at += AT_ONCE) {
        size_t now = (size_t)(count - at < AT_ONCE ? count - at : AT_ONCE);
        if (at > 0 && !pe_may_continue(runner, scheme, (double)at / (double)count, reterr))
            return false;
        if (!pe_view_read(&flat, at, now, numbers)) {
            pe_error_add(reterr, PE_MALFORMED, "body", "", "a file that can be read");
            return false;
        }
        if (!use(context, at, numbers, now, reterr))
            return false;
    }
    return true;
}

/* ---- their range ---- */

static bool widen_range(void *context, uint64_t at, const double *ids, size_t count,
                        pe_error *reterr)
{
    pe_position_range *range = context;
    (void)at;
    for (size_t i = 0; i < count; i++) {
        if (!(fabs(ids[i]) <= POSITION))
            return refuse_ids(reterr, "", "integers from -2^53 to 2^53");
        range->first = fmin(range->first, ids[i]);
        range->last = fmax(range->last, ids[i]);
    }
    return true;
}

pe_status pe_find_position_range(const pe_view *ids, const pe_scheme *scheme,
                                 const pe_runner *runner, pe_position_range *ret_range,
                                 pe_error *reterr)
{
    *ret_range = (pe_position_range){.first = INFINITY, .last = -INFINITY};
    if (read_blocks(ids, scheme, runner, widen_range, ret_range, reterr) &&
        !(ret_range->last - ret_range->first < 0x1p32))
        refuse_ids(reterr, "", "integers less than 2^32 from each other");
    return reterr->status;
}

/* ---- as rows ---- */

typedef struct offsets {
    int64_t first;
    uint64_t rows;
    uint32_t *to;
} offsets;

static bool store_offsets(void *context, uint64_t at, const double *ids, size_t count,
                          pe_error *reterr)
{
    const offsets *self = context;
    for (size_t i = 0; i < count; i++) {
        double offset = ids[i] - (double)self->first;
        if (!(offset >= 0 && offset < (double)self->rows))
            return refuse_ids(reterr, "", "positions of rows that the request has");
        self->to[at + i] = (uint32_t)offset;
    }
    return true;
}

pe_status pe_ids_read(const pe_view *ids, int64_t first, uint64_t rows,
                      const pe_request *request, const pe_runner *runner,
                      uint32_t **ret_offsets, pe_error *reterr)
{
    offsets self = {first, rows, malloc((size_t)pe_view_elements(ids) * sizeof(uint32_t))};
    *ret_offsets = self.to;
    if (!self.to)
        pe_error_add(reterr, PE_NO_MEMORY, "", "", "memory for positions");
    else
        read_blocks(ids, request->values.scheme, runner, store_offsets, &self, reterr);
    return reterr->status;
}
