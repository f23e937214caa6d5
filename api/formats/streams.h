/* Streamed bodies that are made of the bytes of tensors. */
#ifndef API_STREAMS_H
#define API_STREAMS_H

#include "bytes/body.h"
#include "formats/format.h"

/* The most multiply-adds of what an event thread reads of a stream at once: a millisecond or
 * two. */
#define API_QUICK_READ 0x1p22

/* The most bytes of what a scheme has prepared, of which an event thread computes a row: more
 * do not fit into caches, and the price counts arithmetic alone. */
#define API_QUICK_STATE ((uint64_t)8 << 20)

/* Whether an event thread leaves reads of so many bytes to a worker. */
bool api_is_slow_stream(const api_selection *selection, const pe_stream *stream,
                        uint64_t bytes);

/* Open a stream for each tensor of the selection. `order` has the tensors' indices in the order
 * of ret_streams. False if one cannot be opened: reterr says why, and none stays open then. */
bool api_open_streams(const api_selection *selection, const size_t *order, size_t block_bytes,
                      pe_stream **ret_streams, pe_error *reterr);

/* A stream of a header and then the bytes of the selection's tensors in an order. The function
 * takes over the header, which is from malloc or NULL. Fails as a format's `stream`. */
api_body *api_body_from_tensors(const api_selection *selection, char *header,
                                size_t header_size, const size_t *order, pe_error *reterr);

#endif
