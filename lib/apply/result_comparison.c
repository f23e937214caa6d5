/* Comparing the result of an application with one from elsewhere. */
#include "apply/result_comparison.h"

#include "apply/result_bounds.h"
#include "foreign/comparison.h"
#include "requests/request.h"

#include <math.h>
#include <string.h>

/* Results that are compared, or what they may be off, and whom to ask whether to go on. */
typedef struct compared {
    pe_apply *apply;
    pe_result_bounds *bounds;
    pe_result_part part;
    const pe_runner *runner;
    pe_error stopped;
} compared;

/* Multiply elements. */
static void multiply(pe_dtype dtype, double factor, unsigned char *elements, size_t count)
{
    double numbers[256];
    for (size_t done = 0, some; done < count; done += some) {
        void *at = elements + done * pe_dtype_size(dtype);
        some = count - done < PE_COUNT(numbers) ? count - done : PE_COUNT(numbers);
        pe_read_row(numbers, dtype, at, some);
        for (size_t i = 0; i < some; i++)
            numbers[i] *= factor;
        pe_write_row(at, dtype, numbers, some);
    }
}

/* A pe_exact_side's `read`: a read takes about a millisecond, so each is asked for. */
static size_t read_apply(void *context, uint64_t offset, void *dst, size_t size)
{
    compared *self = context;
    const pe_dtype dtype = self->bounds ? PE_F64 : self->apply->rule.dtype;
    double done = (double)offset / (double)pe_apply_size(self->apply);
    offset += self->part.first * pe_dtype_size(dtype);
    if (self->bounds)
        size = pe_result_bounds_read(self->bounds, offset, dst, size);
    else if (pe_may_continue(self->runner, self->apply->exact->values.scheme, done,
                             &self->stopped))
        size = pe_apply_read(self->apply, offset, dst, size);
    else
        return 0;
    if (self->part.factor != 1)
        multiply(dtype, self->bounds ? fabs(self->part.factor) : self->part.factor, dst,
                 size / pe_dtype_size(dtype));
    return size;
}

static bool have_same_shape(const pe_view *one, const pe_view *other)
{
    const pe_view a = pe_view_squeezed(one), b = pe_view_squeezed(other);
    return a.rank == b.rank && memcmp(a.shape, b.shape, a.rank * sizeof *a.shape) == 0;
}

uint64_t pe_apply_compare_footprint(const pe_view *view)
{
    return pe_source_footprint(view);
}

pe_status pe_compared_open(const pe_apply *apply, const pe_view *view, const pe_runner *runner,
                           pe_source *ret_source, pe_error *reterr)
{
    const pe_view answer = pe_source_shape(&apply->shape);
    if (pe_source_open(ret_source, view, apply->exact, runner, reterr) == PE_OK &&
        have_same_shape(&ret_source->view, &answer)) {
        ret_source->view.rank = apply->compared.rank;
        memcpy(ret_source->view.shape, apply->compared.shape, sizeof ret_source->view.shape);
        pe_view_set_row_major(&ret_source->view);
    }
    return reterr->status;
}

pe_status pe_apply_compare_part(pe_apply *apply, const pe_view *view, pe_result_part part,
                                pe_tolerance tolerance, const pe_runner *runner,
                                pe_comparison *ret_comparison, pe_error *reterr)
{
    pe_result_bounds bounds = {.apply = NULL};
    compared self = {.apply = apply, .part = part, .runner = runner};
    compared lost = {.apply = apply, .bounds = &bounds, .part = part, .runner = runner};
    pe_view table = *view;
    pe_exact_side side = {.context = &self,
                          .losses = tolerance.bounded ? &lost : NULL,
                          .bounds = tolerance.bounded,
                          .read = read_apply,
                          .name = apply->application->result,
                          .dtype = apply->rule.dtype,
                          .rank = apply->compared.rank,
                          .request = apply->exact};
    memcpy(side.shape, apply->compared.shape, sizeof side.shape);
    if (part.count > 0) {
        table = pe_source_flat(view, part.first, part.count);
        side.rank = 1;
        side.shape[0] = part.count;
    }
    pe_error_init(&self.stopped);
    pe_error_init(reterr);
    if (!tolerance.bounded || pe_result_bounds_init(&bounds, apply, tolerance.arithmetic,
                                                    runner, &self.stopped, reterr) == PE_OK)
        pe_compare_sides(&side, &table, tolerance, runner, ret_comparison, reterr);
    pe_result_bounds_done(&bounds);
    if (self.stopped.status != PE_OK)
        *reterr = self.stopped;
    return reterr->status;
}

pe_status pe_apply_compare(pe_apply *apply, const pe_view *view, pe_tolerance tolerance,
                           const pe_runner *runner, pe_comparison *ret_comparison,
                           pe_error *reterr)
{
    pe_source source;
    pe_error_init(reterr);
    if (pe_compared_open(apply, view, runner, &source, reterr) == PE_OK)
        pe_apply_compare_part(apply, &source.view, (pe_result_part){.factor = 1}, tolerance,
                              runner, ret_comparison, reterr);
    pe_source_done(&source);
    return reterr->status;
}

const pe_view *pe_apply_compared_shape(const pe_apply *apply)
{
    return &apply->compared;
}

const char *pe_apply_axis(const pe_apply *apply, size_t axis)
{
    return apply->binding.names[axis];
}
