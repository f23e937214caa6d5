/* Comparing a table from elsewhere with a tensor of a request. */
#include "foreign/comparison.h"

#include <string.h>

/* A pe_exact_side's `read`. */
static size_t read_stream(void *context, uint64_t offset, void *dst, size_t size)
{
    return pe_stream_read(context, offset, dst, size);
}

pe_status pe_compare(pe_request *request, size_t tensor, const pe_view *view,
                     pe_tolerance tolerance, const pe_runner *runner,
                     pe_comparison *ret_comparison, pe_error *reterr)
{
    const pe_tensor *shape = pe_request_tensor(request, tensor);
    pe_exact_side side = {.read = read_stream,
                          .name = shape->name,
                          .dtype = shape->dtype,
                          .rank = shape->rank,
                          .request = request};
    pe_stream *stream;
    memcpy(side.shape, shape->shape, shape->rank * sizeof *shape->shape);
    pe_error_init(reterr);
    if (!pe_compare_fits(view, &side, reterr) ||
        pe_stream_new(request, tensor, PE_STREAM_FAST, runner, &stream, reterr) != PE_OK)
        return reterr->status;
    side.context = stream;
    pe_status status = pe_compare_sides(&side, view, tolerance, runner, ret_comparison, reterr);
    pe_stream_free(stream);
    return status;
}
