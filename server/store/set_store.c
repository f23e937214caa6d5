/* Two locks. `disk_lock` is held while the database is used or the index is changed, which may
 * take long. `index_lock` guards the index and is held briefly; a thread that needs both takes
 * `disk_lock` first. So a reader of the index never waits for the disk, and while a writer
 * holds `disk_lock`, no other thread changes the index. */
#include "store/set_store.h"

#include "observe/log.h"
#include "store/disk_store.h"
#include "store/store_index.h"

#include <assert.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct set_store {
    pthread_mutex_t disk_lock, index_lock;
    disk_store *disk;   /* NULL: all sets are in memory */
    database *database; /* the disk's, or NULL */
    set_store_settings settings;
    store_index index;
    api_store interface;
};

static api_stored stored_of(const store_row *row)
{
    return (api_stored){.name = row->name,
                        .digest = row->digest,
                        .description = row->description,
                        .bytes = row->bytes};
}

/* ---- sets in memory ---- */

/* Keep a set in memory, unless it is larger than the cache; index_lock is held. Without a
 * database every set is kept. */
static void keep(set_store *self, store_row *row, api_set *set)
{
    if (!self->database || api_set_footprint(set) <= self->settings.cached_bytes)
        index_keep(&self->index, row, set);
}

/* Evict sets until the cache is within its limit. Their memory is freed outside the lock. */
static void evict(set_store *self)
{
    for (;;) {
        api_set *evicted = NULL;
        pthread_mutex_lock(&self->index_lock);
        if (self->database && self->index.cached > self->settings.cached_bytes)
            evicted = index_evict(&self->index);
        pthread_mutex_unlock(&self->index_lock);
        if (!evicted)
            return;
        api_set_unref(evicted);
    }
}

/* ---- finding ---- */

static bool look(void *context, const char *name, char ret_digest[PE_DIGEST_SIZE],
                 uint64_t *ret_bytes)
{
    set_store *self = context;
    pthread_mutex_lock(&self->index_lock);
    store_row *row = index_find(&self->index, name);
    if (row) {
        memcpy(ret_digest, row->digest, PE_DIGEST_SIZE);
        *ret_bytes = row->bytes;
    }
    pthread_mutex_unlock(&self->index_lock);
    return row != NULL;
}

static void log_failure(const char *message, const char *name, const char *reason)
{
    log_event(LOG_LEVEL_ERROR, message,
              (const log_field[]){{.name = "set", .text = name},
                                  {.name = "reason", .text = reason},
                                  {.name = NULL}});
}

/* Read a set from the database and compare its digest with the stored one; disk_lock is held.
 */
static api_store_status load(set_store *self, const store_row *row, api_set **ret_set)
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
        log_failure("a stored set is damaged", row->name, "its bytes have another digest");
        api_set_unref(set);
        return API_STORE_FAILED;
    }
    *ret_set = set;
    return API_STORE_DONE;
}

/* Find a set in memory: API_STORE_LATER if it is only in the database. */
static api_store_status find_in_memory(set_store *self, const char *name, api_set **ret_set,
                                       store_row **ret_row)
{
    pthread_mutex_lock(&self->index_lock);
    store_row *row = index_find(&self->index, name);
    api_store_status status = row ? API_STORE_LATER : API_STORE_ABSENT;
    *ret_row = row;
    if (row && row->set) {
        index_keep(&self->index, row, row->set);
        *ret_set = api_set_ref(row->set);
        status = API_STORE_DONE;
    }
    pthread_mutex_unlock(&self->index_lock);
    return status;
}

static api_store_status find(void *context, const char *name, bool quick, api_set **ret_set)
{
    set_store *self = context;
    store_row *row;
    api_store_status status = find_in_memory(self, name, ret_set, &row);
    if (status != API_STORE_LATER || quick)
        return status;
    pthread_mutex_lock(&self->disk_lock); /* from here on rows cannot be removed */
    status = find_in_memory(self, name, ret_set, &row);
    if (status == API_STORE_LATER) {
        status = load(self, row, ret_set);
        pthread_mutex_lock(&self->index_lock);
        if (status == API_STORE_DONE)
            keep(self, row, *ret_set);
        pthread_mutex_unlock(&self->index_lock);
        evict(self);
    }
    pthread_mutex_unlock(&self->disk_lock);
    return status;
}

static void list(void *context, void (*visit)(void *argument, const api_stored *stored),
                 void *argument)
{
    set_store *self = context;
    pthread_mutex_lock(&self->index_lock);
    for (size_t i = 0; i < self->index.count; i++) {
        const store_row *row = self->index.rows[i];
        const api_stored stored = stored_of(row);
        visit(argument, &stored);
    }
    pthread_mutex_unlock(&self->index_lock);
}

static void totals(void *context, uint64_t *ret_sets, uint64_t *ret_bytes)
{
    set_store *self = context;
    pthread_mutex_lock(&self->index_lock);
    *ret_sets = self->index.count;
    *ret_bytes = self->index.bytes;
    pthread_mutex_unlock(&self->index_lock);
}

/* ---- changing; disk_lock is held ---- */

/* Whether a row may be inserted, or replace the row of the same name: the condition and the
 * limits decide. API_STORE_DONE: the index has room for it. */
static api_store_status admit(set_store *self, const store_row *row,
                              const api_condition *condition)
{
    api_store_status status = API_STORE_DONE;
    pthread_mutex_lock(&self->index_lock);
    const store_row *old = index_find(&self->index, row->name);
    if (!condition->holds(condition->context, old ? old->digest : NULL))
        status = API_STORE_REFUSED;
    else if (self->index.count + !old > self->settings.sets)
        status = API_STORE_TOO_MANY_SETS;
    else if (self->index.cost - (old ? old->cost : 0) + row->cost > self->settings.bytes)
        status = API_STORE_TOO_MANY_BYTES;
    else if (!index_make_room(&self->index))
        status = API_STORE_NO_MEMORY;
    pthread_mutex_unlock(&self->index_lock);
    return status;
}

/* The status for the outcome of a write; a failure is logged. */
static api_store_status status_of(set_store *self, database_outcome outcome, const char *name)
{
    static const api_store_status STATUSES[] = {[DATABASE_DONE] = API_STORE_DONE,
                                                [DATABASE_FULL] = API_STORE_DISK_FULL,
                                                [DATABASE_READ_ONLY] = API_STORE_READ_ONLY,
                                                [DATABASE_FAILED] = API_STORE_FAILED};
    if (outcome != DATABASE_DONE)
        log_failure("a set cannot be stored or removed", name,
                    outcome == DATABASE_FULL        ? "the disk is full"
                    : outcome == DATABASE_READ_ONLY ? "the disk is read-only"
                                                    : database_reason(self->database));
    return STATUSES[outcome];
}

static api_store_status put_row(set_store *self, store_row *row, api_set *set,
                                const api_condition *condition, store_row **ret_old)
{
    size_t size;
    const char *bytes = api_set_bytes(set, &size);
    const api_stored stored = stored_of(row);
    api_store_status status = admit(self, row, condition);
    if (status == API_STORE_DONE && self->database)
        status =
            status_of(self, disk_store_put(self->disk, &stored, bytes, &row->id), row->name);
    if (status != API_STORE_DONE)
        return status;
    pthread_mutex_lock(&self->index_lock);
    *ret_old = index_insert(&self->index, row);
    keep(self, row, set);
    pthread_mutex_unlock(&self->index_lock);
    evict(self);
    return API_STORE_DONE;
}

static api_store_status put(void *context, const char *name, api_set *set,
                            const api_condition *condition, bool *ret_replaced)
{
    set_store *self = context;
    size_t size;
    api_set_bytes(set, &size);
    const api_stored stored = {.name = name,
                               .digest = api_set_digest(set),
                               .description = api_set_description(set),
                               .bytes = size};
    store_row *row = index_row_new(&stored, 0), *old = NULL;
    if (!row)
        return API_STORE_NO_MEMORY;
    pthread_mutex_lock(&self->disk_lock);
    api_store_status status = put_row(self, row, set, condition, &old);
    pthread_mutex_unlock(&self->disk_lock);
    *ret_replaced = old != NULL;
    index_row_free(status == API_STORE_DONE ? old : row);
    return status;
}

static api_store_status remove_row(set_store *self, const char *name,
                                   const api_condition *condition, store_row **ret_row)
{
    pthread_mutex_lock(&self->index_lock);
    store_row *row = index_find(&self->index, name);
    bool holds = condition->holds(condition->context, row ? row->digest : NULL);
    pthread_mutex_unlock(&self->index_lock);
    if (!holds || !row)
        return holds ? API_STORE_ABSENT : API_STORE_REFUSED;
    api_store_status status = API_STORE_DONE;
    if (self->database)
        status = status_of(self, disk_store_remove(self->disk, row->id), name);
    if (status != API_STORE_DONE)
        return status;
    pthread_mutex_lock(&self->index_lock);
    index_remove(&self->index, row);
    pthread_mutex_unlock(&self->index_lock);
    *ret_row = row;
    return API_STORE_DONE;
}

static api_store_status remove_set(void *context, const char *name,
                                   const api_condition *condition)
{
    set_store *self = context;
    store_row *row = NULL;
    pthread_mutex_lock(&self->disk_lock);
    api_store_status status = remove_row(self, name, condition, &row);
    pthread_mutex_unlock(&self->disk_lock);
    index_row_free(row);
    return status;
}

/* ---- opening and closing ---- */

/* Add a set of the database to the index. */
static bool add_row(void *context, const database_row *stored)
{
    set_store *self = context;
    store_row *row =
        index_make_room(&self->index) ? index_row_new(&stored->stored, stored->id) : NULL;
    if (row)
        index_insert(&self->index, row);
    return row != NULL;
}

set_store *set_store_open(const set_store_settings *settings, char *reterr, size_t size)
{
    set_store *self = calloc(1, sizeof *self);
    snprintf(reterr, size, "cannot open the store: out of memory");
    if (!self)
        return NULL;
    bool has_database = settings->directory[0] != '\0';
    self->settings = *settings;
    self->interface = (api_store){.kind = has_database ? "sqlite" : "memory",
                                  .context = self,
                                  .list = list,
                                  .look = look,
                                  .find = find,
                                  .put = put,
                                  .remove = remove_set,
                                  .totals = totals};
    pthread_mutex_init(&self->disk_lock, NULL);
    pthread_mutex_init(&self->index_lock, NULL);
    if (!has_database)
        return self;
    self->disk = disk_store_open(settings->directory, reterr, size);
    self->database = self->disk ? disk_store_database(self->disk) : NULL;
    if (self->database && database_list(self->database, add_row, self))
        return self;
    if (self->database)
        snprintf(reterr, size, "data-dir: %s: the sets cannot be read: %s", settings->directory,
                 database_reason(self->database));
    set_store_close(self);
    return NULL;
}

void set_store_close(set_store *self)
{
    if (!self)
        return;
    disk_store_close(self->disk);
    index_done(&self->index);
    pthread_mutex_destroy(&self->index_lock);
    pthread_mutex_destroy(&self->disk_lock);
    free(self);
}

const api_store *set_store_for_api(const set_store *self)
{
    return &self->interface;
}
