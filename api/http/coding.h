/* Content codings (RFC 9110, sections 8.4 and 12.5.3). Text is sent as gzip to clients that
 * prefer it. Binary formats are never compressed, since their bytes hardly shrink. */
#ifndef API_CODING_H
#define API_CODING_H

#include "api.h"

typedef enum api_coding { API_IDENTITY, API_GZIP } api_coding;

/* What an Accept-Encoding value admits. */
typedef struct api_codings {
    bool identity;
    bool gzip;          /* admitted, and its quality is not below that of identity */
    bool gzip_admitted; /* of any quality above 0 */
} api_codings;

/* The codings that an Accept-Encoding value admits. Without the header, NULL, only identity. */
api_codings api_accept_codings(const char *accept_encoding);

/* Choose the coding for a text or a binary format; false if none is acceptable. */
bool api_choose_coding(api_codings codings, bool text, api_coding *ret_coding);

/* A text for ETags that changes whenever the coded bytes may change: identity, or the version
 * of the compressor. */
const char *api_coding_tag(api_coding coding);

#endif
