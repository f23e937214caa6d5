/* The index under a lock of its own, with the sets that are in memory. Every function holds the
 * lock for moments, and may be called from any thread. */
#ifndef SET_ROWS_H
#define SET_ROWS_H

#include "locks.h"
#include "store/engine.h"
#include "store/store_index.h"

typedef struct set_rows {
    pthread_mutex_t lock;
    store_index index;
    uint64_t cached_bytes; /* limit on the memory of sets; UINT64_MAX: every set is kept */
    uint64_t list;         /* the number of the shared engine's list that is or was read last */
    bool is_listed;        /* all rows have been read once */
} set_rows;

/* What reading a set needs of its row, which may go at any time. */
typedef struct row_facts {
    int64_t id;
    uint64_t bytes;
    char digest[PE_DIGEST_SIZE];
} row_facts;

void set_rows_init(set_rows *self, uint64_t cached_bytes);
void set_rows_done(set_rows *self);

/* As the functions of api_store. */
bool set_rows_look(set_rows *self, const char *name, char ret_digest[PE_DIGEST_SIZE],
                   uint64_t *ret_bytes);
api_store_status set_rows_list(set_rows *self,
                               void (*visit)(void *argument, const api_stored *stored),
                               void *argument);
void set_rows_totals(set_rows *self, uint64_t *ret_sets, uint64_t *ret_bytes);

/* Find a set in memory. API_STORE_LATER: there is only a row; ret_facts says what is in it. */
api_store_status set_rows_find(set_rows *self, const char *name, api_set **ret_set,
                               row_facts *ret_facts);

/* Keep a set in memory, if its row is still there and the limit allows it. */
void set_rows_keep(set_rows *self, const char *name, int64_t id, api_set *set);

/* What a change of a name would change. The digest is the row's own. */
void set_rows_stand(set_rows *self, engine_change *change);

/* Make room for one more row. False if memory ran out. */
bool set_rows_make_room(set_rows *self);

/* Insert a row, for which there must be room, with its set. Returns the row that it replaces,
 * NULL if there is none, which the caller owns then. */
store_row *set_rows_insert(set_rows *self, store_row *row, api_set *set);

/* Remove a name's row, and return it to the caller; NULL if there is none. */
store_row *set_rows_remove(set_rows *self, const char *name);

/* What a shared engine tells; the context of these events is the set_rows. */
engine_events set_rows_events(set_rows *self);

/* An engine_visit: add the row of a set of a local engine, before there are other threads. */
bool set_rows_add(void *rows, const api_stored *stored, int64_t id);

#endif
