/* Want-Repr-Digest (RFC 9530, section 4): whether a request asks for the digest of what it
 * gets. */
#ifndef API_WANT_DIGEST_H
#define API_WANT_DIGEST_H

#include "call.h"

/* Whether SHA-256 is asked for: a dictionary such as "sha-512=3, sha-256=10" gives it a
 * preference above 0. What is not well-formed asks for nothing. */
bool api_wants_digest(const api_call *call);

#endif
