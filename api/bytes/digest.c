/* SHA-256 digests by nettle, which uses the processor's own instructions for it. */
#include "bytes/digest.h"

#include <nettle/memops.h>
#include <nettle/sha2.h>
#include <stdlib.h>
#include <string.h>

void api_write_hex(const unsigned char *bytes, size_t count, char *dst)
{
    for (size_t i = 0; i < count; i++) {
        *dst++ = "0123456789abcdef"[bytes[i] >> 4];
        *dst++ = "0123456789abcdef"[bytes[i] & 15];
    }
}

void api_sha256_pieces(const api_segment *pieces, size_t count, size_t size,
                       unsigned char *ret_digest)
{
    struct sha256_ctx context;
    sha256_init(&context);
    for (size_t i = 0; i < count; i++) {
        uint64_t length = pieces[i].size;
        sha256_update(&context, sizeof length, (const uint8_t *)&length);
        sha256_update(&context, pieces[i].size, pieces[i].data);
    }
    sha256_digest(&context, size, ret_digest);
}

void api_sha256_hex(const void *data, size_t size, char ret_hex[API_DIGEST_HEX])
{
    struct sha256_ctx context;
    uint8_t digest[SHA256_DIGEST_SIZE];
    sha256_init(&context);
    sha256_update(&context, size, data);
    sha256_digest(&context, sizeof digest, digest);
    api_write_hex(digest, sizeof digest, ret_hex);
    ret_hex[API_DIGEST_HEX - 1] = '\0';
}

bool api_secrets_match(const char *one, const char *other)
{
    struct sha256_ctx context;
    uint8_t digests[2][SHA256_DIGEST_SIZE];
    for (unsigned i = 0; i < 2; i++) { /* digests have one length, whatever the secrets have */
        const char *text = i ? other : one;
        sha256_init(&context);
        sha256_update(&context, strlen(text), (const uint8_t *)text);
        sha256_digest(&context, SHA256_DIGEST_SIZE, digests[i]);
    }
    return memeql_sec(digests[0], digests[1], SHA256_DIGEST_SIZE);
}
