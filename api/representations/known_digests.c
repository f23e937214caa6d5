/* Known digests. A thread takes a place's content out while it looks at it, so that nobody
 * waits. */
#include "representations/known_digests.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#define PLACES 1024

typedef struct known_digest {
    api_etag etag;
    api_digest digest;
} known_digest;

struct api_known_digests {
    _Atomic(known_digest *) places[PLACES];
};

api_known_digests *api_known_digests_new(void)
{
    return calloc(1, sizeof(api_known_digests));
}

void api_known_digests_free(api_known_digests *known)
{
    for (size_t i = 0; known && i < PLACES; i++)
        free(atomic_load(&known->places[i]));
    free(known);
}

/* The place of a tag, whose digits are evenly distributed. */
static _Atomic(known_digest *) *find_place(api_known_digests *known, const api_etag *etag)
{
    char digits[9] = "";
    memcpy(digits, etag->text + 1, sizeof digits - 1);
    return &known->places[strtoul(digits, NULL, 16) % PLACES];
}

void api_known_digests_add(api_known_digests *known, const api_etag *etag,
                           const api_digest *digest)
{
    known_digest *added = malloc(sizeof *added);
    if (!added)
        return;
    *added = (known_digest){*etag, *digest};
    free(atomic_exchange(find_place(known, etag), added));
}

bool api_known_digests_find(api_known_digests *known, const api_etag *etag,
                            api_digest *ret_digest)
{
    _Atomic(known_digest *) *place = find_place(known, etag);
    known_digest *taken = atomic_exchange(place, NULL);
    const bool found = taken && strcmp(taken->etag.text, etag->text) == 0;
    if (found)
        *ret_digest = taken->digest;
    free(atomic_exchange(place, taken)); /* what was added meanwhile gives way */
    return found;
}
