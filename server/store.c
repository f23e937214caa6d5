/* Two locks. `disk` is held by whoever uses the database or changes the index, and may be held
 * for long; `index` guards the rows, is taken within it and is held for moments alone. So
 * looking never waits for the disk, and what a writer has found true stays true until it is
 * done. */
#include "store.h"

#include "database.h"
#include "log.h"
#include "store_index.h"

#include <assert.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct store {
    pthread_mutex_t disk, index;
    database *database; /* NULL: memory alone */
    store_settings settings;
    store_index rows;
    api_store interface;
};

/* ---- sets in memory ---- */

/* Keep a set with its row, unless it is larger than what may be kept; `index` held. */
static void keep(store *self, store_row *row, api_set *set)
{
    if (!self->database || api_set_footprint(set) <= self->settings.cached_bytes)
        index_keep(&self->rows, row, set);
}

/* Evict down to the limit; the memory is returned without a lock. */
static void evict(store *self)
{
    for (api_set *evicted = NULL;; evicted = NULL) {
        pthread_mutex_lock(&self->index);
        if (self->database && self->rows.cached > self->settings.cached_bytes)
            evicted = index_evict(&self->rows);
        pthread_mutex_unlock(&self->index);
        if (!evicted)
            return;
        api_set_unref(evicted);
    }
}

/* ---- finding ---- */

static bool look(void *context, const char *name, char ret_digest[PE_DIGEST_SIZE],
                 uint64_t *ret_bytes)
{
    store *self = context;
    pthread_mutex_lock(&self->index);
    store_row *row = index_find(&self->rows, name);
    if (row) {
        memcpy(ret_digest, row->digest, PE_DIGEST_SIZE);
        *ret_bytes = row->bytes;
    }
    pthread_mutex_unlock(&self->index);
    return row != NULL;
}

static void log_failure(const char *message, const char *name, const char *reason)
{
    log_event(LOG_ERROR, message,
              (const log_field[]){{"set", name, 0}, {"reason", reason, 0}, {NULL, NULL, 0}});
}

/* Read a set from the database and check that it is what was stored; `disk` held. */
static api_store_status load(store *self, const store_row *row, api_set **ret_set)
{
    pe_error error;
    char *bytes = malloc((size_t)row->bytes);
    if (!bytes)
        return API_STORE_NO_MEMORY;
    if (!database_read(self->database, row->id, bytes, (size_t)row->bytes)) {
        log_failure("a stored set cannot be read", row->name, database_reason(self->database));
        free(bytes);
        return API_STORE_FAILED;
    }
    api_set *set = api_set_read(bytes, (size_t)row->bytes, &error);
    if (!set && error.status == PE_NO_MEMORY)
        return API_STORE_NO_MEMORY;
    if (!set || strcmp(api_set_digest(set), row->digest) != 0) {
        log_failure("a stored set is damaged", row->name, "its digest is another one");
        api_set_unref(set);
        return API_STORE_FAILED;
    }
    *ret_set = set;
    return API_STORE_DONE;
}

/* The set of a name if it is in memory. */
static api_store_status find_in_memory(store *self, const char *name, api_set **ret_set,
                                       store_row **ret_row)
{
    pthread_mutex_lock(&self->index);
    store_row *row = *ret_row = index_find(&self->rows, name);
    api_store_status status = row ? API_STORE_LATER : API_STORE_ABSENT;
    if (row && row->set) {
        index_keep(&self->rows, row, row->set);
        *ret_set = api_set_ref(row->set);
        status = API_STORE_DONE;
    }
    pthread_mutex_unlock(&self->index);
    return status;
}

static api_store_status find(void *context, const char *name, bool quick, api_set **ret_set)
{
    store *self = context;
    store_row *row;
    api_store_status status = find_in_memory(self, name, ret_set, &row);
    if (status != API_STORE_LATER || quick)
        return status;
    pthread_mutex_lock(&self->disk); /* one set is read at a time, and the rows stay */
    status = find_in_memory(self, name, ret_set, &row);
    if (status == API_STORE_LATER) {
        status = load(self, row, ret_set);
        pthread_mutex_lock(&self->index);
        if (status == API_STORE_DONE)
            keep(self, row, *ret_set);
        pthread_mutex_unlock(&self->index);
        evict(self);
    }
    pthread_mutex_unlock(&self->disk);
    return status;
}

static void list(void *context, void (*visit)(void *of, const api_stored *stored), void *of)
{
    store *self = context;
    pthread_mutex_lock(&self->index);
    for (size_t i = 0; i < self->rows.count; i++) {
        const store_row *row = self->rows.rows[i];
        visit(of, &(const api_stored){row->name, row->digest, row->description, row->bytes});
    }
    pthread_mutex_unlock(&self->index);
}

static void totals(void *context, uint64_t *ret_sets, uint64_t *ret_bytes)
{
    store *self = context;
    pthread_mutex_lock(&self->index);
    *ret_sets = self->rows.count;
    *ret_bytes = self->rows.bytes;
    pthread_mutex_unlock(&self->index);
}

/* ---- changing; `disk` held ---- */

/* Whether the row may take the place of what stands, by the condition and the limits; then
 * there is room for it. */
static api_store_status admit(store *self, const store_row *row, const api_condition *condition)
{
    api_store_status status = API_STORE_DONE;
    pthread_mutex_lock(&self->index);
    const store_row *old = index_find(&self->rows, row->name);
    if (!condition->holds(condition->context, old ? old->digest : NULL))
        status = API_STORE_REFUSED;
    else if (self->rows.count + !old > self->settings.sets ||
             self->rows.cost - (old ? old->cost : 0) + row->cost > self->settings.bytes)
        status = API_STORE_FULL;
    else if (!index_make_room(&self->rows))
        status = API_STORE_NO_MEMORY;
    pthread_mutex_unlock(&self->index);
    return status;
}

static api_store_status status_of(store *self, database_outcome outcome, const char *name)
{
    if (outcome == DATABASE_DONE)
        return API_STORE_DONE;
    log_failure("a set cannot be stored or removed", name, database_reason(self->database));
    return outcome == DATABASE_FULL ? API_STORE_FULL : API_STORE_FAILED;
}

static api_store_status put_row(store *self, store_row *row, api_set *set,
                                const api_condition *condition, store_row **ret_old)
{
    size_t size;
    const char *bytes = api_set_bytes(set, &size);
    const api_stored stored = {row->name, row->digest, row->description, row->bytes};
    api_store_status status = admit(self, row, condition);
    if (status == API_STORE_DONE && self->database)
        status =
            status_of(self, database_put(self->database, &stored, bytes, &row->id), row->name);
    if (status != API_STORE_DONE)
        return status;
    pthread_mutex_lock(&self->index);
    *ret_old = index_place(&self->rows, row);
    keep(self, row, set);
    pthread_mutex_unlock(&self->index);
    evict(self);
    return API_STORE_DONE;
}

static api_store_status put(void *context, const char *name, api_set *set,
                            const api_condition *condition, bool *ret_replaced)
{
    store *self = context;
    api_stored stored = {name, api_set_digest(set), api_set_description(set), 0};
    size_t size;
    api_set_bytes(set, &size);
    stored.bytes = size;
    store_row *row = index_row_new(&stored, 0), *old = NULL;
    if (!row)
        return API_STORE_NO_MEMORY;
    pthread_mutex_lock(&self->disk);
    api_store_status status = put_row(self, row, set, condition, &old);
    pthread_mutex_unlock(&self->disk);
    *ret_replaced = old != NULL;
    index_row_free(status == API_STORE_DONE ? old : row);
    return status;
}

static api_store_status remove_row(store *self, const char *name,
                                   const api_condition *condition, store_row **ret_row)
{
    pthread_mutex_lock(&self->index);
    store_row *row = index_find(&self->rows, name);
    bool holds = condition->holds(condition->context, row ? row->digest : NULL);
    pthread_mutex_unlock(&self->index);
    if (!holds || !row)
        return holds ? API_STORE_ABSENT : API_STORE_REFUSED;
    api_store_status status = API_STORE_DONE;
    if (self->database)
        status = status_of(self, database_remove(self->database, row->id), name);
    if (status != API_STORE_DONE)
        return status;
    pthread_mutex_lock(&self->index);
    index_take_out(&self->rows, row);
    pthread_mutex_unlock(&self->index);
    *ret_row = row;
    return API_STORE_DONE;
}

static api_store_status remove_set(void *context, const char *name,
                                   const api_condition *condition)
{
    store *self = context;
    store_row *row = NULL;
    pthread_mutex_lock(&self->disk);
    api_store_status status = remove_row(self, name, condition, &row);
    pthread_mutex_unlock(&self->disk);
    index_row_free(row);
    return status;
}

/* ---- life ---- */

static bool add_row(void *of, const database_row *from)
{
    store *self = of;
    store_row *row =
        index_make_room(&self->rows) ? index_row_new(&from->stored, from->id) : NULL;
    if (row)
        index_place(&self->rows, row);
    return row != NULL;
}

store *store_open(const store_settings *settings, char *ret_error, size_t size)
{
    store *made = calloc(1, sizeof *made);
    snprintf(ret_error, size, "out of memory");
    if (!made)
        return NULL;
    bool kept = settings->directory[0] != '\0';
    made->settings = *settings;
    made->interface = (api_store){
        kept ? "sqlite" : "memory", made, list, look, find, put, remove_set, totals};
    pthread_mutex_init(&made->disk, NULL);
    pthread_mutex_init(&made->index, NULL);
    if (!kept)
        return made;
    made->database = database_open(settings->directory, ret_error, size);
    if (made->database && database_list(made->database, add_row, made))
        return made;
    if (made->database)
        snprintf(ret_error, size, "data-dir: %s: the sets cannot be read: %s",
                 settings->directory, database_reason(made->database));
    store_close(made);
    return NULL;
}

void store_close(store *closed)
{
    if (!closed)
        return;
    database_close(closed->database);
    index_done(&closed->rows);
    pthread_mutex_destroy(&closed->index);
    pthread_mutex_destroy(&closed->disk);
    free(closed);
}

const api_store *store_for_api(const store *of)
{
    return &of->interface;
}
