/* The body of a batch: which tables are held and which are streamed, and the bytes. */
#ifndef API_BATCH_BODY_H
#define API_BATCH_BODY_H

#include "representations/batch.h"

#define API_BATCH_STREAMS_MAX 16 /* tensors that are computed as the reply is read */

/* Decide for each request whether its table comes from the cache: as long as all these together
 * take no more memory than one table may. Returns the number of the tensors of the others. */
size_t api_batch_choose_streams(api_batch *batch);

/* Refuse names that two tensors of the reply would have. */
void api_batch_check_names(api_batch *batch);

/* The length of the body; API_LENGTH_UNKNOWN of JSON, or without memory. */
uint64_t api_batch_length(const api_batch *batch, api_batch_format format);

/* The body, once the tables that come from the cache are there. NULL without memory, or if a
 * scheme cannot be prepared; then a problem was added to the batch. */
api_body *api_batch_body(api_batch *batch, api_batch_format format);

#endif
