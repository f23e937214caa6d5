/* Want-Repr-Digest (RFC 9530, section 4): whether a request asks for the digest of what it
 * gets. */
#ifndef API_WANT_DIGEST_H
#define API_WANT_DIGEST_H

#include <stdbool.h>

/* Whether the field, NULL if absent, asks for SHA-256: a dictionary (RFC 9651, section 3.2) of
 * algorithms and their preferences from 0 to 10, such as "sha-512=3, sha-256=10", gives it one
 * above 0. A field with anything else in it asks for nothing. */
bool api_wants_digest(const char *field);

#endif
