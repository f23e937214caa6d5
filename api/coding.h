/* Content codings (RFC 9110, sections 8.4 and 12.5.3): text goes as gzip to whom prefers it,
 * binary forms always as they are, since their bytes hardly shrink. */
#ifndef API_CODING_H
#define API_CODING_H

#include "api.h"

typedef enum api_coding { API_IDENTITY, API_GZIP } api_coding;

/* What an Accept-Encoding value admits. */
typedef struct api_codings {
    bool identity;
    bool gzip; /* admitted, and no less welcome than identity */
} api_codings;

/* NULL, no value, asks for nothing and gets identity. */
api_codings api_accept_codings(const char *accept_encoding);

/* The coding of a text or binary form; false if none is acceptable. */
bool api_choose_coding(api_codings codings, bool text, api_coding *ret_coding);

/* What may change the coded bytes of a text: the coding, and who makes it. For ETags. */
const char *api_coding_tag(api_coding coding);

#endif
