/* Where the server keeps stored sets, behind the interface of api/store.h: all sets in memory,
 * or all in a database and the most recently used ones also in memory. */
#ifndef SET_STORE_H
#define SET_STORE_H

#include "api.h"

typedef struct set_store set_store;

typedef struct set_store_settings {
    const char *directory; /* of the database; "": keep all sets in memory */
    uint64_t sets;         /* limit on their number */
    uint64_t bytes;        /* limit on their sizes together */
    uint64_t cached_bytes; /* limit on the memory of sets that are also in the database */
} set_store_settings;

/* NULL: reterr is one line with the reason. */
set_store *set_store_open(const set_store_settings *settings, char *reterr, size_t size);
void set_store_close(set_store *self); /* NULL is fine */

/* The interface for the api. It is valid until the store is closed. */
const api_store *set_store_for_api(const set_store *self);

#endif
