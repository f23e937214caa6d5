/* safetensors: all tensors with metadata, a file that torch, JAX and numpy read. */
#include "bytes/body.h"
#include "formats/options.h"
#include "formats/safetensors_header.h"
#include "formats/streams.h"

#include <stdlib.h>
#include <string.h>

#define FLAT_LIMIT (1 << 20) /* up to this size one copied piece is faster to send than two */

static const pe_parameter DIGESTS = {
    .name = "digests",
    .type = PE_BOOLEAN,
    .default_text = "false",
    .help = "true: the metadata have the SHA-256 of every tensor's bytes, as sha256"};

static bool states_digests(const api_selection *selection)
{
    return api_option_value(selection, &DIGESTS).integer != 0;
}

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

/* Bring the tensors of a selection into storage order, without digests. */
static void list_tensors(const api_selection *selection, size_t ret_order[PE_TENSORS_MAX],
                         api_named_tensor ret_tensors[PE_TENSORS_MAX])
{
    storage_order(selection, ret_order);
    for (size_t i = 0; i < selection->count; i++) {
        const pe_tensor *tensor = pe_request_tensor(selection->request, ret_order[i]);
        ret_tensors[i] = (api_named_tensor){.name = tensor->name, .tensor = tensor};
    }
}

/* The head of the file of a selection, whose tensors are in storage order. */
static char *make_header(const api_selection *selection, const api_named_tensor *tensors,
                         size_t *ret_size, uint64_t *ret_data)
{
    json_t *metadata = api_safetensors_strings(selection->request);
    if (states_digests(selection)) {
        json_t *digests = api_safetensors_digests(tensors, selection->count);
        json_object_set_new(metadata, "sha256", api_safetensors_text(digests));
        json_decref(digests);
    }
    return api_safetensors_head(metadata, tensors, selection->count, ret_size, ret_data);
}

static uint64_t length(const api_selection *selection)
{
    size_t size, order[PE_TENSORS_MAX];
    uint64_t data;
    api_named_tensor tensors[PE_TENSORS_MAX];
    list_tensors(selection, order, tensors);
    char *header = make_header(selection, tensors, &size, &data);
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
    api_named_tensor tensors[PE_TENSORS_MAX];
    api_segment pieces[API_SEGMENTS_MAX];
    list_tensors(selection, order, tensors);
    for (size_t i = 0; i < count; i++) {
        api_digest digest;
        pieces[i + 1] = (api_segment){pe_table_data(table, order[i]),
                                      (size_t)pe_table_tensor(table, order[i])->bytes};
        if (!states_digests(selection))
            continue;
        api_digest_segments(&pieces[i + 1], 1, NULL, &digest); /* NULL: it is not ended */
        api_digest_write_hex(&digest, tensors[i].sha256);
    }
    char *header = make_header(selection, tensors, &header_size, &data);
    if (!header)
        return NULL;
    pieces[0] = (api_segment){header, header_size};
    *ret_bytes = header_size;
    if (header_size + data > FLAT_LIMIT)
        return api_body_from_table(table, header, pieces, count + 1);
    *ret_bytes += (size_t)data;
    return flat_body(header, header_size + (size_t)data, pieces, count + 1);
}

/* Compute the tensors for their digests. False if that fails. */
static bool compute_digests(const api_selection *selection, const size_t order[PE_TENSORS_MAX],
                            api_named_tensor tensors[PE_TENSORS_MAX], pe_error *reterr)
{
    for (size_t i = 0; i < selection->count; i++) {
        api_digest digest;
        if (!api_digest_tensor(selection, order[i], &digest, reterr))
            return false;
        api_digest_write_hex(&digest, tensors[i].sha256);
    }
    return true;
}

static api_body *stream(const api_selection *selection, pe_error *reterr)
{
    size_t size, order[PE_TENSORS_MAX];
    uint64_t data;
    api_named_tensor tensors[PE_TENSORS_MAX];
    list_tensors(selection, order, tensors);
    char *header = make_header(selection, tensors, &size, &data);
    if (header && states_digests(selection) &&
        !(selection->until && selection->from >= size)) { /* it will be read */
        free(header);
        header = compute_digests(selection, order, tensors, reterr)
                     ? make_header(selection, tensors, &size, &data)
                     : NULL;
    }
    return header ? api_body_from_tensors(selection, header, size, order, reterr) : NULL;
}

const api_format api_format_safetensors = {
    .name = "safetensors",
    .media_type = "application/vnd.safetensors",
    .extension = "safetensors",
    .help = "all tensors with scheme and parameters as metadata, data 64-byte aligned",
    .revision = 4,
    .states_parameters = true,
    .options = &DIGESTS,
    .option_count = 1,
    .states_digests = states_digests,
    .length = length,
    .write = write_body,
    .stream = stream,
};
