/* Streamed bodies of tensors' bytes. */
#ifndef API_STREAMS_H
#define API_STREAMS_H

#include "formats.h"

/* Open a stream for each tensor of the selection, in the order given; NULL or all. False
 * without memory, and then none is left open. */
bool api_open_streams(const api_selection *selection, const size_t *order, size_t block_bytes,
                      pe_stream **ret_streams);

/* A body of a header (from malloc, or NULL) and then the bytes of the selection's tensors in
 * the order given. Takes over the header; on failure NULL, and it is freed. */
api_body *api_body_from_tensors(const api_selection *selection, char *header,
                                size_t header_size, const size_t *order);

#endif
