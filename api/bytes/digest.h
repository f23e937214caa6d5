/* SHA-256 digests and what they are used for. */
#ifndef API_DIGEST_H
#define API_DIGEST_H

#include "api.h"

/* The first `size` bytes, at most 32, of the SHA-256 of a list of pieces. Each piece is
 * preceded by its length, so that different lists hash different bytes. */
void api_sha256_pieces(const api_segment *pieces, size_t count, size_t size,
                       unsigned char *ret_digest);

/* Write bytes as hexadecimal digits, two each, without a NUL. */
void api_write_hex(const unsigned char *bytes, size_t count, char *dst);

#define API_DIGEST_HEX 65 /* the room for the digits of a SHA-256, with a NUL */

/* The SHA-256 of data as hexadecimal digits. */
void api_sha256_hex(const void *data, size_t size, char ret_hex[API_DIGEST_HEX]);

/* Whether two secrets are equal. The time that this takes does not depend on where they differ.
 */
bool api_secrets_match(const char *one, const char *other);

#endif
