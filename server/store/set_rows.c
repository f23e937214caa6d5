#include "store/set_rows.h"

#include <string.h>

void set_rows_init(set_rows *self, uint64_t cached_bytes)
{
    *self = (set_rows){.cached_bytes = cached_bytes};
    pthread_mutex_init(&self->lock, NULL);
}

void set_rows_done(set_rows *self)
{
    index_done(&self->index);
    pthread_mutex_destroy(&self->lock);
}

/* ---- looking ---- */

bool set_rows_look(set_rows *self, const char *name, char ret_digest[PE_DIGEST_SIZE],
                   uint64_t *ret_bytes)
{
    pthread_mutex_lock(&self->lock);
    store_row *row = index_find(&self->index, name);
    if (row) {
        memcpy(ret_digest, row->digest, PE_DIGEST_SIZE);
        *ret_bytes = row->bytes;
    }
    pthread_mutex_unlock(&self->lock);
    return row != NULL;
}

api_store_status set_rows_list(set_rows *self,
                               void (*visit)(void *argument, const api_stored *stored),
                               void *argument)
{
    pthread_mutex_lock(&self->lock);
    bool is_listed = self->is_listed;
    for (size_t i = 0; is_listed && i < self->index.count; i++) {
        const store_row *row = self->index.rows[i];
        const api_stored stored = {.name = row->name,
                                   .digest = row->digest,
                                   .description = row->description,
                                   .bytes = row->bytes};
        visit(argument, &stored);
    }
    pthread_mutex_unlock(&self->lock);
    return is_listed ? API_STORE_DONE : API_STORE_UNAVAILABLE;
}

void set_rows_totals(set_rows *self, uint64_t *ret_sets, uint64_t *ret_bytes)
{
    pthread_mutex_lock(&self->lock);
    *ret_sets = self->index.count;
    *ret_bytes = self->index.bytes;
    pthread_mutex_unlock(&self->lock);
}

api_store_status set_rows_find(set_rows *self, const char *name, api_set **ret_set,
                               row_facts *ret_facts)
{
    pthread_mutex_lock(&self->lock);
    store_row *row = index_find(&self->index, name);
    api_store_status status = row ? API_STORE_LATER : API_STORE_ABSENT;
    if (row && row->set) {
        index_keep(&self->index, row, row->set);
        *ret_set = api_set_ref(row->set);
        status = API_STORE_DONE;
    } else if (row) {
        ret_facts->id = row->id;
        ret_facts->bytes = row->bytes;
        memcpy(ret_facts->digest, row->digest, PE_DIGEST_SIZE);
    }
    pthread_mutex_unlock(&self->lock);
    return status;
}

/* ---- sets in memory ---- */

/* Keep a set in memory, unless it is larger than the limit; the lock is held. */
static void keep_set(set_rows *self, store_row *row, api_set *set)
{
    if (api_set_footprint(set) <= self->cached_bytes)
        index_keep(&self->index, row, set);
}

/* Evict sets until those in memory are within the limit. Their memory is freed outside the
 * lock.
 */
static void evict_sets(set_rows *self)
{
    for (;;) {
        api_set *evicted = NULL;
        pthread_mutex_lock(&self->lock);
        if (self->index.cached > self->cached_bytes)
            evicted = index_evict(&self->index);
        pthread_mutex_unlock(&self->lock);
        if (!evicted)
            return;
        api_set_unref(evicted);
    }
}

void set_rows_keep(set_rows *self, const char *name, int64_t id, api_set *set)
{
    pthread_mutex_lock(&self->lock);
    store_row *row = index_find(&self->index, name);
    if (row && row->id == id)
        keep_set(self, row, set);
    pthread_mutex_unlock(&self->lock);
    evict_sets(self);
}

/* ---- changing ---- */

void set_rows_stand(set_rows *self, engine_change *change)
{
    pthread_mutex_lock(&self->lock);
    const store_row *row = index_find(&self->index, change->stored.name);
    change->known = (engine_standing){.digest = row ? row->digest : NULL,
                                      .sets = self->index.count - (row != NULL),
                                      .cost = self->index.cost - (row ? row->cost : 0)};
    change->known_id = row ? row->id : 0;
    pthread_mutex_unlock(&self->lock);
}

bool set_rows_make_room(set_rows *self)
{
    pthread_mutex_lock(&self->lock);
    bool has_room = index_make_room(&self->index);
    pthread_mutex_unlock(&self->lock);
    return has_room;
}

store_row *set_rows_insert(set_rows *self, store_row *row, api_set *set)
{
    pthread_mutex_lock(&self->lock);
    store_row *old = index_insert(&self->index, row);
    keep_set(self, row, set);
    pthread_mutex_unlock(&self->lock);
    evict_sets(self);
    return old;
}

store_row *set_rows_remove(set_rows *self, const char *name)
{
    pthread_mutex_lock(&self->lock);
    store_row *row = index_find(&self->index, name);
    if (row)
        index_remove(&self->index, row);
    pthread_mutex_unlock(&self->lock);
    return row;
}

bool set_rows_add(void *rows, const api_stored *stored, int64_t id)
{
    set_rows *self = rows;
    store_row *row = index_make_room(&self->index) ? index_row_new(stored, id) : NULL;
    if (row)
        index_insert(&self->index, row);
    return row != NULL;
}

/* ---- events of a shared engine ---- */

/* A row of the same set stays, with the set in memory. */
static bool note_stored(void *context, const api_stored *stored, int64_t id)
{
    set_rows *self = context;
    store_row *row = index_row_new(stored, id), *unused = row;
    bool noted = false;
    pthread_mutex_lock(&self->lock);
    store_row *same = index_find(&self->index, stored->name);
    if (same && same->id == id) {
        same->listed = self->list;
        noted = true;
    } else if (row && index_make_room(&self->index)) {
        row->listed = self->list;
        unused = index_insert(&self->index, row);
        noted = true;
    }
    pthread_mutex_unlock(&self->lock);
    index_row_free(unused);
    return noted;
}

static void note_removed(void *context, const char *name)
{
    index_row_free(set_rows_remove(context, name));
}

static void begin_list(void *context)
{
    set_rows *self = context;
    pthread_mutex_lock(&self->lock);
    self->list++;
    pthread_mutex_unlock(&self->lock);
}

/* Take a row that the last list has not named out of the index; NULL if there is none. */
static store_row *take_unlisted_row(set_rows *self)
{
    for (size_t i = 0; i < self->index.count; i++) {
        store_row *row = self->index.rows[i];
        if (row->listed != self->list) {
            index_remove(&self->index, row);
            return row;
        }
    }
    return NULL;
}

static void end_list(void *context)
{
    set_rows *self = context;
    store_row *row;
    do {
        pthread_mutex_lock(&self->lock);
        row = take_unlisted_row(self);
        self->is_listed = true;
        pthread_mutex_unlock(&self->lock);
        index_row_free(row);
    } while (row);
}

engine_events set_rows_events(set_rows *self)
{
    return (engine_events){.context = self,
                           .stored = note_stored,
                           .removed = note_removed,
                           .list_begins = begin_list,
                           .list_ends = end_list};
}
