/* The digests of representations that have been computed, by entity tag: equal tags mean equal
 * bytes. So an answer has its digest although its body is computed only as it is read, is not
 * computed at all (HEAD), or is a part. A bounded number is kept, in a table where a new one
 * takes the place of an older one; any thread may ask. */
#ifndef API_KNOWN_DIGESTS_H
#define API_KNOWN_DIGESTS_H

#include "bytes/digest.h"
#include "http/etag.h"

typedef struct api_known_digests api_known_digests;

api_known_digests *api_known_digests_new(void); /* NULL if memory ran out */
void api_known_digests_free(api_known_digests *known);

/* Note a digest; without memory nothing is noted. */
void api_known_digests_add(api_known_digests *known, const api_etag *etag,
                           const api_digest *digest);

/* Find the digest of a representation. False: it is not known, or another thread just looks at
 * its place. */
bool api_known_digests_find(api_known_digests *known, const api_etag *etag,
                            api_digest *ret_digest);

#endif
