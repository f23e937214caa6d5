/* SHA-256 digests and what they are used for. */
#ifndef API_DIGEST_H
#define API_DIGEST_H

#include "api.h"

/* The first `size` bytes, at most 32, of the SHA-256 of a list of pieces. Each piece is
 * preceded by its length, so that different lists hash different bytes. */
void api_sha256_pieces(const api_segment *pieces, size_t count, size_t size,
                       unsigned char *ret_digest);

/* A SHA-256 digest. */
typedef struct api_digest {
    unsigned char bytes[32];
} api_digest;

#define API_DIGEST_HEX 65 /* the room for its hexadecimal digits, with a NUL */

/* What computing a digest costs for a byte, in multiply-adds. */
#define API_DIGEST_PRICE 2

/* The digest of segments, one after the other. False: the runner, which may be NULL, ended it.
 */
bool api_digest_segments(const api_segment *segments, size_t count, const pe_runner *runner,
                         api_digest *ret_digest);

/* The digest of what `read` gives, from offset 0 on until it gives nothing, as a source of a
 * body does. False: the runner ended it, or memory ran out. ret_size is how much that was. */
bool api_digest_source(size_t (*read)(void *state, uint64_t offset, char *dst, size_t room),
                       void *state, const pe_runner *runner, api_digest *ret_digest,
                       uint64_t *ret_size);

void api_digest_write_hex(const api_digest *digest, char ret_hex[API_DIGEST_HEX]);

/* Write bytes as hexadecimal digits, two each, without a NUL. */
void api_write_hex(const unsigned char *bytes, size_t count, char *dst);

/* The SHA-256 of data as 64 hexadecimal digits and a NUL. */
void api_sha256_hex(const void *data, size_t size, char ret_hex[65]);

/* Whether two secrets are equal. The time that this takes does not depend on where they differ.
 */
bool api_secrets_match(const char *one, const char *other);

#endif
