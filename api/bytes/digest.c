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

void api_sha256_hex(const void *data, size_t size, char ret_hex[65])
{
    api_digest digest;
    api_digest_segments(&(api_segment){data, size}, 1, NULL, &digest);
    api_digest_write_hex(&digest, ret_hex);
}

static bool may_continue(const pe_runner *runner)
{
    return !runner || !runner->go_on || runner->go_on(runner->context, NULL, 0);
}

static bool add_segment(struct sha256_ctx *context, api_segment segment,
                        const pe_runner *runner)
{
    const uint8_t *at = segment.data;
    bool goes_on = true;
    while (goes_on && segment.size > 0) {
        const size_t size = segment.size < API_READ_MAX ? segment.size : API_READ_MAX;
        sha256_update(context, size, at);
        at += size;
        segment.size -= size;
        goes_on = may_continue(runner);
    }
    return goes_on;
}

bool api_digest_segments(const api_segment *segments, size_t count, const pe_runner *runner,
                         api_digest *ret_digest)
{
    struct sha256_ctx context;
    bool complete = true;
    sha256_init(&context);
    for (size_t i = 0; complete && i < count; i++)
        complete = add_segment(&context, segments[i], runner);
    sha256_digest(&context, sizeof ret_digest->bytes, ret_digest->bytes);
    return complete;
}

bool api_digest_source(size_t (*read)(void *state, uint64_t offset, char *dst, size_t room),
                       void *state, const pe_runner *runner, api_digest *ret_digest,
                       uint64_t *ret_size)
{
    struct sha256_ctx context;
    char *part = malloc(API_READ_MAX); /* a stream has reserved it for its reader */
    bool complete = part != NULL;
    *ret_size = 0;
    sha256_init(&context);
    for (size_t got = 1; complete && got > 0; *ret_size += got) {
        got = read(state, *ret_size, part, API_READ_MAX);
        sha256_update(&context, got, (const uint8_t *)part);
        complete = may_continue(runner);
    }
    sha256_digest(&context, sizeof ret_digest->bytes, ret_digest->bytes);
    free(part);
    return complete;
}

void api_digest_write_hex(const api_digest *digest, char ret_hex[API_DIGEST_HEX])
{
    api_write_hex(digest->bytes, sizeof digest->bytes, ret_hex);
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
