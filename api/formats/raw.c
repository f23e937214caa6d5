/* raw: only the elements, row-major and little-endian. The Tensor-* header fields describe
 * them.
 */
#include "bytes/body.h"
#include "formats/format.h"
#include "formats/streams.h"

static uint64_t length(const api_selection *selection)
{
    return pe_request_tensor(selection->request, selection->first)->bytes;
}

static api_body *write_body(const api_selection *selection, pe_table *table, size_t *ret_bytes)
{
    const pe_tensor *tensor = pe_table_tensor(table, selection->first);
    api_segment data = {pe_table_data(table, selection->first), (size_t)tensor->bytes};
    *ret_bytes = 0;
    return api_body_from_table(table, NULL, &data, 1);
}

static api_body *stream(const api_selection *selection, pe_error *reterr)
{
    return api_body_from_tensors(selection, NULL, 0, &selection->first, reterr);
}

const api_format api_format_raw = {
    .name = "raw",
    .media_type = "application/octet-stream",
    .extension = "bin",
    .help =
        "one tensor's elements, row-major, little-endian, described by the Tensor-* headers",
    .revision = 1,
    .single = true,
    .length = length,
    .write = write_body,
    .stream = stream,
};
