/* What the store knows of its sets without the database. No locks: the store has them. */
#ifndef STORE_INDEX_H
#define STORE_INDEX_H

#include "api.h"

typedef struct store_row {
    char name[API_STORED_NAME_MAX + 1], digest[PE_DIGEST_SIZE];
    char *description;
    uint64_t bytes, cost; /* cost: what counts towards the store's limit */
    uint64_t used;        /* when, by the index's clock */
    int64_t id;           /* in the database */
    api_set *set;         /* NULL: not in memory */
} store_row;

typedef struct store_index {
    store_row **rows; /* by name */
    size_t count, room;
    uint64_t bytes, cost;   /* of all sets */
    uint64_t cached, clock; /* cached: footprint of the sets in memory */
} store_index;

/* NULL if memory ran out, or the name or digest is none. */
store_row *index_row_new(const api_stored *stored, int64_t id);
void index_row_free(store_row *row); /* NULL is fine */

store_row *index_find(const store_index *self, const char *name); /* NULL if there is none */

/* Have room for one row more; false if memory ran out. */
bool index_make_room(store_index *self);

/* Put a row, which the index takes over, at its place, where there is room; returns the one
 * that stood there, the caller's now, or NULL. */
store_row *index_place(store_index *self, store_row *row);

/* Take a row out, which is the caller's now. */
void index_take_out(store_index *self, store_row *row);

/* Keep a set with its row, where none is kept, and note that it has been used. */
void index_keep(store_index *self, store_row *row, api_set *set);

/* Take the set unused for longest out of memory: the caller's reference now; NULL if there is
 * none. */
api_set *index_evict(store_index *self);

void index_done(store_index *self);

#endif
