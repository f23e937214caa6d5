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

/* The digest of segments, one after the other. */
void api_digest_segments(const api_segment *segments, size_t count, api_digest *ret_digest);

/* The digest of all that a new body gives. The body is taken over; a stream is read to its end,
 * however long that takes, as far as the runner lets it. False: it was NULL, memory ran out, or
 * it ended early, since the runner said so or it broke off; reterr says which. */
bool api_digest_body(api_body *body, const pe_runner *runner, api_digest *ret_digest,
                     pe_error *reterr);

void api_digest_write_hex(const api_digest *digest, char ret_hex[API_DIGEST_HEX]);
void api_digest_read_hex(const char *hex, api_digest *ret_digest); /* of what was written so */

/* Write bytes as hexadecimal digits, two each, without a NUL. */
void api_write_hex(const unsigned char *bytes, size_t count, char *dst);

/* The SHA-256 of data as 64 hexadecimal digits and a NUL. */
void api_sha256_hex(const void *data, size_t size, char ret_hex[65]);

/* Whether two secrets are equal. The time that this takes does not depend on where they differ.
 */
bool api_secrets_match(const char *one, const char *other);

#endif
