/* safetensors: all tensors with metadata, a file that torch, JAX and numpy read. */
#include "bytes/body.h"
#include "formats/format.h"
#include "formats/safetensors_header.h"
#include "formats/streams.h"

#include <stdlib.h>
#include <string.h>

#define FLAT_LIMIT (1 << 20) /* up to this size one copied piece is faster to send than two */

/* Order the tensors by descending element size, so that each one is aligned. Tensors of one
 * size keep their order. */
static void storage_order(const api_selection *selection, size_t order[PE_TENSORS_MAX])
{
    size_t count = 0;
    for (size_t size = 8; size > 0; size /= 2)
        for (size_t i = selection->first; i < selection->first + selection->count; i++)
            if (pe_dtype_size(pe_request_tensor(selection->request, i)->dtype) == size)
                order[count++] = i;
}

/* Bring the tensors of a selection into storage order. */
static void list_tensors(const api_selection *selection, size_t ret_order[PE_TENSORS_MAX],
                         api_named_tensor ret_tensors[PE_TENSORS_MAX])
{
    storage_order(selection, ret_order);
    for (size_t i = 0; i < selection->count; i++) {
        const pe_tensor *tensor = pe_request_tensor(selection->request, ret_order[i]);
        ret_tensors[i] = (api_named_tensor){.name = tensor->name, .tensor = tensor};
    }
}

/* The head of the file of a selection, whose tensors come in that order. */
static char *make_header(const api_selection *selection, size_t ret_order[PE_TENSORS_MAX],
                         size_t *ret_size, uint64_t *ret_data)
{
    api_named_tensor tensors[PE_TENSORS_MAX];
    list_tensors(selection, ret_order, tensors);
    return api_safetensors_head(api_safetensors_strings(selection->request), tensors,
                                selection->count, ret_size, ret_data);
}

static uint64_t length(const api_selection *selection)
{
    size_t size, order[PE_TENSORS_MAX];
    uint64_t data;
    char *header = make_header(selection, order, &size, &data);
    free(header);
    return header ? size + data : API_LENGTH_UNKNOWN;
}

/* Copy the pieces, of which the header is the first, into one. The header is from malloc; it is
 * consumed. */
static api_body *flat_body(char *header, size_t size, const api_segment *pieces, size_t count)
{
    char *file = realloc(header, size);
    if (!file) {
        free(header);
        return NULL;
    }
    char *end = file + pieces[0].size;
    for (size_t i = 1; i < count; i++) {
        memcpy(end, pieces[i].data, pieces[i].size);
        end += pieces[i].size;
    }
    return api_body_from_text(file, size);
}

static api_body *write_body(const api_selection *selection, pe_table *table, size_t *ret_bytes)
{
    size_t header_size, order[PE_TENSORS_MAX], count = selection->count;
    uint64_t data;
    api_segment pieces[API_SEGMENTS_MAX];
    char *header = make_header(selection, order, &header_size, &data);
    if (!header)
        return NULL;
    pieces[0] = (api_segment){header, header_size};
    for (size_t i = 0; i < count; i++)
        pieces[i + 1] = (api_segment){pe_table_data(table, order[i]),
                                      (size_t)pe_table_tensor(table, order[i])->bytes};
    *ret_bytes = header_size;
    if (header_size + data > FLAT_LIMIT)
        return api_body_from_table(table, header, pieces, count + 1);
    *ret_bytes += (size_t)data;
    return flat_body(header, header_size + (size_t)data, pieces, count + 1);
}

static api_body *stream(const api_selection *selection, pe_error *reterr)
{
    size_t size, order[PE_TENSORS_MAX];
    uint64_t data;
    char *header = make_header(selection, order, &size, &data);
    return header ? api_body_from_tensors(selection, header, size, order, reterr) : NULL;
}

const api_format api_format_safetensors = {
    .name = "safetensors",
    .media_type = "application/vnd.safetensors",
    .extension = "safetensors",
    .help = "all tensors with scheme and parameters as metadata, data 64-byte aligned",
    .revision = 4,
    .states_parameters = true,
    .length = length,
    .write = write_body,
    .stream = stream,
};
