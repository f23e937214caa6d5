/* Where the server keeps sets, behind the interface of api/store.h: all sets in memory,
 * or all in a database and the most recently used ones also in memory. */
#ifndef SET_STORE_H
#define SET_STORE_H

#include "api.h"
#include "settings/settings.h"

typedef struct set_store set_store;

typedef struct set_store_settings {
    const char *directory; /* of the SQLite file; "": none */
    uint64_t sets;         /* limit on their number */
    uint64_t bytes;        /* limit on their sizes together */
    uint64_t cached_bytes; /* limit on the memory of sets that are also in a database */
    unsigned
        readers; /* threads that may wait for a shared database as long as it takes; 0: 1 */
    const char *database_url; /* of PostgreSQL; NULL or "": none. Without both all sets are kept
                               * in memory */
} set_store_settings;

set_store_settings set_store_read_settings(const server_settings *settings);

/* Whether the settings fit together and this build. False: `errors` has a line with the reason,
 * which does not show the URL. */
bool set_store_accepts(const server_settings *settings, FILE *errors);

/* NULL: reterr is one line with the reason. A PostgreSQL database need not be reachable. */
set_store *set_store_open(const set_store_settings *settings, char *reterr, size_t size);
void set_store_close(set_store *self); /* NULL is fine */

/* The interface for the api. It is valid until the store is closed. */
const api_store *set_store_for_api(const set_store *self);

#endif
