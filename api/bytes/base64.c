/* Bytes in base64. */
#include "bytes/base64.h"

#include <nettle/base64.h>
#include <stdint.h>
#include <stdlib.h>

char *api_base64_decode(const char *text, size_t size, size_t *ret_size, bool *ret_wrong)
{
    struct base64_decode_ctx context;
    size_t bytes = BASE64_DECODE_LENGTH(size);
    char *decoded = malloc(bytes + 1);
    *ret_wrong = false;
    base64_decode_init(&context);
    if (decoded && (!base64_decode_update(&context, &bytes, (uint8_t *)decoded, size, text) ||
                    !base64_decode_final(&context))) {
        *ret_wrong = true;
        free(decoded);
        return NULL;
    }
    *ret_size = bytes;
    return decoded;
}
