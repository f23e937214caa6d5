/* The store's index: what is known of every set without reading the database. It has no lock of
 * its own; the store holds one. */
#ifndef STORE_INDEX_H
#define STORE_INDEX_H

#include "api.h"

typedef struct store_row {
    char name[API_STORED_NAME_MAX + 1], digest[PE_DIGEST_SIZE];
    char *description;
    uint64_t bytes; /* of the set's file */
    uint64_t cost;  /* what counts towards the store's limit: bytes, and this row's memory */
    uint64_t last_used; /* by the index's clock */
    uint64_t listed;    /* the number of the list that named the row last */
    int64_t id;         /* in the database */
    api_set *set;       /* NULL if the set is not in memory */
} store_row;

typedef struct store_index {
    store_row **rows; /* sorted by name */
    size_t count, room;
    uint64_t bytes, cost; /* sums over all rows */
    uint64_t cached;      /* footprint of the sets in memory */
    uint64_t clock;       /* counts uses of sets */
} store_index;

/* What sets cost of whose files and descriptions the bytes are given. */
uint64_t index_cost(uint64_t sets, uint64_t bytes, uint64_t descriptions);

/* NULL if memory ran out, or the name or the digest is too long. */
store_row *index_row_new(const api_stored *stored, int64_t id);
void index_row_free(store_row *row); /* NULL is fine */

/* The row of a name; NULL if there is none. */
store_row *index_find(const store_index *self, const char *name);

/* Make room for one more row. False if memory ran out. */
bool index_make_room(store_index *self);

/* Insert a row, for which there must be room; the index owns it from now on. A row with the
 * same name is replaced and returned, and the caller owns that one; otherwise returns NULL. */
store_row *index_insert(store_index *self, store_row *row);

/* Remove a row from the index. The caller owns it from now on. */
void index_remove(store_index *self, store_row *row);

/* Keep a set in memory with its row, unless the row has one already, and note the use. */
void index_keep(store_index *self, store_row *row, api_set *set);

/* Remove the least recently used set from memory. Returns the index's reference to it, for the
 * caller to drop; NULL if no set is in memory. */
api_set *index_evict(store_index *self);

/* Free all rows. */
void index_done(store_index *self);

#endif
