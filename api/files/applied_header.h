/* The head of a file with results: what comes before their elements. */
#ifndef API_APPLIED_HEADER_H
#define API_APPLIED_HEADER_H

#include "files/applied.h"

/* A length and a text, padded so that the elements are aligned: of an npy file of one result,
 * or of a safetensors file. From malloc; NULL without memory. */
char *api_applied_head(const api_applied_tensor *results, size_t count, bool is_npy,
                       size_t *ret_size);

#endif
