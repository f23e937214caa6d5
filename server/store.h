/* The store of trained sets: an index in memory; the sets in memory alone, or in a database
 * with the last used ones in memory. */
#ifndef STORE_H
#define STORE_H

#include "api.h"

typedef struct store store;

typedef struct store_settings {
    const char *directory; /* "" keeps the sets in memory alone */
    uint64_t sets;         /* how many there may be */
    uint64_t bytes;        /* of all together */
    uint64_t cached_bytes; /* of those from the database that stay in memory */
} store_settings;

/* NULL: one line of the reason is in ret_error. */
store *store_open(const store_settings *settings, char *ret_error, size_t size);
void store_close(store *closed); /* NULL is fine */

/* The store as the api uses it; it lives as long as the store. */
const api_store *store_for_api(const store *of);

#endif
