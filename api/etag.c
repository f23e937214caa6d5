/* Entity tags: hashing and matching. */
#include "etag.h"

#include <nettle/memops.h>
#include <nettle/sha2.h>
#include <string.h>

static void write_hex(const uint8_t *bytes, size_t count, char *dst)
{
    for (size_t i = 0; i < count; i++) {
        *dst++ = "0123456789abcdef"[bytes[i] >> 4];
        *dst++ = "0123456789abcdef"[bytes[i] & 15];
    }
}

void api_etag_of(api_etag *ret_etag, const api_segment *pieces, size_t count)
{
    struct sha256_ctx context;
    uint8_t digest[16];
    sha256_init(&context);
    for (size_t i = 0; i < count; i++) {
        uint64_t size = pieces[i].size; /* so that no two lists of pieces run together alike */
        sha256_update(&context, sizeof size, (const uint8_t *)&size);
        sha256_update(&context, pieces[i].size, pieces[i].data);
    }
    sha256_digest(&context, sizeof digest, digest);
    ret_etag->text[0] = '"';
    write_hex(digest, sizeof digest, ret_etag->text + 1);
    ret_etag->text[33] = '"';
    ret_etag->text[34] = '\0';
}

bool api_tag_is_listed(const char *tag, const char *list, bool strong)
{
    const char *at = list + strspn(list, " \t");
    size_t length = strlen(tag);
    if (at[0] == '*' && at[1 + strspn(at + 1, " \t")] == '\0')
        return true;
    for (; (at = strchr(at, '"')); at++) {
        const char *end = strchr(at + 1, '"');
        if (!end)
            return false;
        bool weak = at - list >= 2 && memcmp(at - 2, "W/", 2) == 0;
        if ((size_t)(end - at) + 1 == length && memcmp(at, tag, length) == 0 &&
            !(strong && weak))
            return true;
        at = end;
    }
    return false;
}

bool api_etag_matches(const api_etag *etag, const char *if_none_match)
{
    return api_tag_is_listed(etag->text, if_none_match, false);
}

void api_sha256_hex(const void *data, size_t size, char ret_hex[65])
{
    struct sha256_ctx context;
    uint8_t digest[SHA256_DIGEST_SIZE];
    sha256_init(&context);
    sha256_update(&context, size, data);
    sha256_digest(&context, sizeof digest, digest);
    write_hex(digest, sizeof digest, ret_hex);
    ret_hex[64] = '\0';
}

bool api_secrets_match(const char *one, const char *other)
{
    struct sha256_ctx context;
    uint8_t digests[2][SHA256_DIGEST_SIZE];
    for (unsigned i = 0; i < 2; i++) { /* of one length, whatever the lengths are */
        const char *text = i ? other : one;
        sha256_init(&context);
        sha256_update(&context, strlen(text), (const uint8_t *)text);
        sha256_digest(&context, SHA256_DIGEST_SIZE, digests[i]);
    }
    return memeql_sec(digests[0], digests[1], SHA256_DIGEST_SIZE);
}
