/* Comparing the result of an application with one from elsewhere. */
#include "apply/result_bounds.h"
#include "foreign/comparison.h"
#include "requests/request.h"

#include <string.h>

/* A result that is compared, or what it may be off, and whom to ask whether to go on. */
typedef struct compared {
    pe_apply *apply;
    pe_result_bounds *bounds;
    const pe_runner *runner;
    pe_error stopped;
} compared;

/* A pe_exact_side's `read`: a read takes about a millisecond, so each is asked for. */
static size_t read_apply(void *context, uint64_t offset, void *dst, size_t size)
{
    compared *self = context;
    if (self->bounds)
        return pe_result_bounds_read(self->bounds, offset, dst, size);
    double done = (double)offset / (double)pe_apply_size(self->apply);
    if (!pe_may_continue(self->runner, self->apply->exact->values.scheme, done, &self->stopped))
        return 0;
    return pe_apply_read(self->apply, offset, dst, size);
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

pe_status pe_apply_compare(pe_apply *apply, const pe_view *view, pe_tolerance tolerance,
                           const pe_runner *runner, pe_comparison *ret_comparison,
                           pe_error *reterr)
{
    pe_result_bounds bounds = {.apply = NULL};
    compared self = {.apply = apply, .runner = runner};
    compared lost = {.apply = apply, .bounds = &bounds, .runner = runner};
    const pe_view answer = pe_source_shape(&apply->shape);
    pe_exact_side side = {.context = &self,
                          .losses = tolerance.bounded ? &lost : NULL,
                          .bounds = tolerance.bounded,
                          .read = read_apply,
                          .name = apply->application->result,
                          .dtype = apply->rule.dtype,
                          .rank = apply->compared.rank,
                          .request = apply->exact};
    pe_source source;
    memcpy(side.shape, apply->compared.shape, sizeof side.shape);
    pe_error_init(&self.stopped);
    pe_error_init(reterr);
    if (pe_source_open(&source, view, apply->exact, runner, reterr) == PE_OK &&
        (!tolerance.bounded || pe_result_bounds_init(&bounds, apply, tolerance.arithmetic,
                                                     runner, &self.stopped, reterr) == PE_OK)) {
        if (have_same_shape(&source.view, &answer)) {
            source.view.rank = apply->compared.rank;
            memcpy(source.view.shape, apply->compared.shape, sizeof source.view.shape);
            pe_view_set_row_major(&source.view);
        }
        pe_compare_sides(&side, &source.view, tolerance, runner, ret_comparison, reterr);
    }
    pe_result_bounds_done(&bounds);
    pe_source_done(&source);
    if (self.stopped.status != PE_OK)
        *reterr = self.stopped;
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
