/* Comparing a table from elsewhere with a tensor of a request. */
#include "foreign/comparison.h"
#include "requests/request.h"

#include <string.h>

/* A pe_exact_side's `read`. */
static size_t read_stream(void *context, uint64_t offset, void *dst, size_t size)
{
    return pe_stream_read(context, offset, dst, size);
}

/* Open what the entries lose, where the tolerance asks for it. False: a problem was added. */
static bool open_losses(pe_request *request, size_t tensor, const pe_tolerance *tolerance,
                        const pe_runner *runner, pe_stream **ret_losses, pe_error *reterr)
{
    pe_request *lossy;
    if (!tolerance->bounded || request->values.scheme->errors != PE_ERRORS_OF_ANGLES ||
        pe_request_tensor(request, tensor)->dtype == PE_I32)
        return true;
    if (pe_request_with_dtype(request, PE_LOSS, &lossy, reterr) != PE_OK)
        return false;
    pe_stream_new(lossy, tensor, PE_STREAM_FAST, runner, ret_losses, reterr);
    pe_request_unref(lossy);
    return reterr->status == PE_OK;
}

pe_status pe_compare_table(pe_request *request, size_t tensor, const pe_view *view,
                           pe_tolerance tolerance, const pe_runner *runner,
                           pe_comparison *ret_comparison, pe_error *reterr)
{
    const pe_tensor *shape = pe_request_tensor(request, tensor);
    pe_exact_side side = {.read = read_stream,
                          .name = shape->name,
                          .dtype = shape->dtype,
                          .rank = shape->rank,
                          .request = request};
    pe_stream *stream, *losses = NULL;
    memcpy(side.shape, shape->shape, shape->rank * sizeof *shape->shape);
    pe_error_init(reterr);
    if (!pe_compare_fits(view, &side, reterr) ||
        pe_stream_new(request, tensor, PE_STREAM_FAST, runner, &stream, reterr) != PE_OK)
        return reterr->status;
    side.context = stream;
    if (open_losses(request, tensor, &tolerance, runner, &losses, reterr)) {
        side.losses = losses;
        pe_compare_sides(&side, view, tolerance, runner, ret_comparison, reterr);
    }
    pe_stream_free(losses);
    pe_stream_free(stream);
    return reterr->status;
}
