/* Bytes in base64 (RFC 4648), by nettle. */
#ifndef API_BASE64_H
#define API_BASE64_H

#include <stdbool.h>
#include <stddef.h>

/* The bytes of a text, from malloc, and their number. NULL without memory, or, with ret_wrong,
 * where the text is no base64. */
char *api_base64_decode(const char *text, size_t size, size_t *ret_size, bool *ret_wrong);

#endif
