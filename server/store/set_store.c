/* `lock` is held while sets are read from the engine, and, unless others share the engine,
 * while it and the rows are changed together. The rows have a lock of their own, so that
 * looking at them never waits for the engine. Rows of a shared engine come from its events
 * alone, which one thread reports in the order of its reading: so they never go back in time.
 */
#include "store/set_store.h"

#include "locks.h"
#include "store/engine.h"
#include "store/set_rows.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define READ_TRIES  30        /* of a set that is replaced again and again while it is read */
#define PATIENCE_NS 100000000 /* for the lock, of threads that others need */

struct set_store {
    pthread_mutex_t lock;
    atomic_uint inside; /* threads that hold the lock to read, or wait for it */
    atomic_ullong turn; /* counts those that have got it */
    atomic_ullong late; /* the turn that has lasted for longer than the patience */
    store_engine engine;
    set_store_settings settings;
    set_rows rows;
    api_store interface;
};

/* ---- finding ---- */

static bool is_reachable(void *context)
{
    set_store *self = context;
    return self->engine.is_up(self->engine.context);
}

static bool look(void *context, const char *name, char ret_digest[PE_DIGEST_SIZE],
                 uint64_t *ret_bytes)
{
    return set_rows_look(&((set_store *)context)->rows, name, ret_digest, ret_bytes);
}

static api_store_status
list(void *context, void (*visit)(void *argument, const api_stored *stored), void *argument)
{
    return set_rows_list(&((set_store *)context)->rows, visit, argument);
}

static void totals(void *context, uint64_t *ret_sets, uint64_t *ret_bytes)
{
    set_rows_totals(&((set_store *)context)->rows, ret_sets, ret_bytes);
}

/* Read a set from the engine and compare its digest with the stored one; the lock is held. */
static api_store_status load_set(set_store *self, const char *name, const row_facts *facts,
                                 api_set **ret_set)
{
    pe_error error;
    size_t size = (size_t)facts->bytes;
    char *bytes = malloc(size);
    if (!bytes)
        return API_STORE_NO_MEMORY;
    api_store_status status =
        self->engine.read(self->engine.context, name, facts->id, bytes, size);
    if (status != API_STORE_DONE) {
        free(bytes);
        return status;
    }
    api_set *set = api_set_read(bytes, size, &error);
    if (!set && error.status == PE_NO_MEMORY)
        return API_STORE_NO_MEMORY;
    if (!set || strcmp(api_set_digest(set), facts->digest) != 0) {
        engine_log_failure("a set is damaged", name, "its bytes have another digest");
        api_set_unref(set);
        return API_STORE_FAILED;
    }
    *ret_set = set;
    return API_STORE_DONE;
}

/* Ask a shared engine for the row of a name, and find the set in memory again. */
static api_store_status find_refreshed(set_store *self, const char *name, api_set **ret_set,
                                       row_facts *ret_facts)
{
    api_store_status status = self->engine.refresh(self->engine.context, name);
    return status == API_STORE_DONE ? set_rows_find(&self->rows, name, ret_set, ret_facts)
                                    : status;
}

/* Take the lock, for at most as long as the patience lasts; only one thread waits in vain for
 * the same turn. */
static bool lock_soon(set_store *self)
{
    unsigned long long turn = atomic_load(&self->turn);
    struct timespec until;
    if (atomic_load(&self->late) == turn)
        return pthread_mutex_trylock(&self->lock) == 0;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += PATIENCE_NS;
    until.tv_sec += until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    if (pthread_mutex_timedlock(&self->lock, &until) == 0)
        return true;
    if (atomic_load(&self->turn) == turn)
        atomic_store(&self->late, turn);
    return false;
}

/* Take the lock to read from the engine. False: a shared engine answers too slowly for threads
 * that others need. */
static bool begin_reading(set_store *self)
{
    bool patient = atomic_fetch_add(&self->inside, 1) < self->settings.readers;
    bool locked = true;
    if (patient || !self->engine.shared)
        pthread_mutex_lock(&self->lock);
    else
        locked = lock_soon(self);
    if (locked)
        atomic_fetch_add(&self->turn, 1);
    else
        atomic_fetch_sub(&self->inside, 1);
    return locked;
}

static void end_reading(set_store *self)
{
    pthread_mutex_unlock(&self->lock);
    atomic_fetch_sub(&self->inside, 1);
}

/* Find a set in memory, else in the engine; the lock is held. */
static api_store_status find_in_engine(set_store *self, const char *name, api_set **ret_set)
{
    row_facts facts = {0};
    api_store_status status = set_rows_find(&self->rows, name, ret_set, &facts);
    if (status == API_STORE_ABSENT && self->engine.shared)
        status = find_refreshed(self, name, ret_set, &facts);
    for (int tries = 0; status == API_STORE_LATER && tries < READ_TRIES; tries++) {
        status = load_set(self, name, &facts, ret_set);
        if (status == API_STORE_DONE)
            set_rows_keep(&self->rows, name, facts.id, *ret_set);
        else if (status == API_STORE_ABSENT) /* it has just been replaced or removed */
            status = find_refreshed(self, name, ret_set, &facts);
    }
    return status == API_STORE_LATER ? API_STORE_UNAVAILABLE : status;
}

static api_store_status find(void *context, const char *name, bool quick, api_set **ret_set)
{
    set_store *self = context;
    row_facts facts;
    api_store_status status = set_rows_find(&self->rows, name, ret_set, &facts);
    if (status == API_STORE_DONE || (status == API_STORE_ABSENT && !self->engine.shared))
        return status;
    if (!is_reachable(self))
        return API_STORE_UNAVAILABLE;
    if (quick)
        return API_STORE_LATER;
    if (!begin_reading(self))
        return API_STORE_UNAVAILABLE;
    status = find_in_engine(self, name, ret_set);
    end_reading(self);
    return status;
}

/* ---- changing ---- */

/* The context of the two judges. */
typedef struct judgement {
    set_store *store;
    const api_condition *condition;
    uint64_t cost; /* of the set that is to be stored */
    bool replaces;
} judgement;

/* Whether a set may be stored: the condition and the limits decide. API_STORE_DONE: there is
 * room for its row. */
static api_store_status judge_put(void *context, const engine_standing *standing)
{
    judgement *self = context;
    set_store *store = self->store;
    self->replaces = standing->digest != NULL;
    if (!self->condition->holds(self->condition->context, standing->digest))
        return API_STORE_REFUSED;
    if (standing->sets + 1 > store->settings.sets)
        return API_STORE_TOO_MANY_SETS;
    if (standing->cost + self->cost > store->settings.bytes)
        return API_STORE_TOO_MANY_BYTES;
    return set_rows_make_room(&store->rows) ? API_STORE_DONE : API_STORE_NO_MEMORY;
}

static api_store_status judge_removal(void *context, const engine_standing *standing)
{
    const judgement *self = context;
    if (!self->condition->holds(self->condition->context, standing->digest))
        return API_STORE_REFUSED;
    return standing->digest ? API_STORE_DONE : API_STORE_ABSENT;
}

/* Begin a change. What is in an engine of our own does not change until end_change. */
static void begin_change(set_store *self, engine_change *change)
{
    if (self->engine.shared)
        return;
    pthread_mutex_lock(&self->lock);
    set_rows_stand(&self->rows, change);
}

static void end_change(set_store *self)
{
    if (!self->engine.shared)
        pthread_mutex_unlock(&self->lock);
}

/* Note that a set has been stored. Returns the row to be freed: this one, or one that it
 * replaces.
 */
static store_row *note_put(set_store *self, store_row *row, api_set *set)
{
    if (!self->engine.shared)
        return set_rows_insert(&self->rows, row, set);
    set_rows_keep(&self->rows, row->name, row->id, set); /* events have inserted its row */
    return row;
}

static api_store_status put(void *context, const char *name, api_set *set,
                            const api_condition *condition, bool *ret_replaced)
{
    set_store *self = context;
    size_t size;
    judgement judged = {.store = self, .condition = condition};
    engine_change change = {
        .bytes = api_set_bytes(set, &size), .context = &judged, .judge = judge_put};
    change.stored = (api_stored){.name = name,
                                 .digest = api_set_digest(set),
                                 .description = api_set_description(set),
                                 .bytes = size};
    store_row *row = index_row_new(&change.stored, 0);
    if (!row)
        return API_STORE_NO_MEMORY;
    judged.cost = row->cost;
    begin_change(self, &change);
    api_store_status status = self->engine.put(self->engine.context, &change, &row->id);
    if (status == API_STORE_DONE)
        row = note_put(self, row, set);
    end_change(self);
    *ret_replaced = judged.replaces;
    index_row_free(row);
    return status;
}

static api_store_status remove_set(void *context, const char *name,
                                   const api_condition *condition)
{
    set_store *self = context;
    judgement judged = {.store = self, .condition = condition};
    engine_change change = {
        .stored = {.name = name}, .context = &judged, .judge = judge_removal};
    store_row *row = NULL;
    begin_change(self, &change);
    api_store_status status = self->engine.remove(self->engine.context, &change);
    if (status == API_STORE_DONE && !self->engine.shared)
        row = set_rows_remove(&self->rows, name);
    end_change(self);
    index_row_free(row);
    return status;
}

/* ---- opening and closing ---- */

static bool is_nonempty(const char *text)
{
    return text && *text;
}

set_store_settings set_store_read_settings(const server_settings *settings)
{
    return (set_store_settings){.directory = settings->data_directory,
                                .sets = settings->stored_sets,
                                .bytes = settings->store_bytes,
                                .cached_bytes = settings->set_cache_bytes,
                                .readers = settings_threads(settings) / 2,
                                .database_url = settings->database_url};
}

static bool accepts_settings(const set_store_settings *settings, char *reterr, size_t size)
{
    if (!is_nonempty(settings->database_url))
        return true;
    if (!is_nonempty(settings->directory))
        return postgres_engine_accepts(settings->database_url, reterr, size);
    snprintf(
        reterr, size,
        "database-url: sets are kept in the database or in data-dir, not in both: leave one "
        "of the two settings out");
    return false;
}

bool set_store_accepts(const server_settings *settings, FILE *errors)
{
    char reason[256];
    const set_store_settings own = set_store_read_settings(settings);
    bool accepted = accepts_settings(&own, reason, sizeof reason);
    if (!accepted)
        fprintf(errors, "posenc-server: %s\n", reason);
    return accepted;
}

static bool open_engine(set_store *self, char *reterr, size_t size)
{
    const set_store_settings *settings = &self->settings;
    const engine_events events = set_rows_events(&self->rows);
    self->rows.is_listed = !is_nonempty(settings->database_url);
    if (!self->rows.is_listed)
        return postgres_engine_open(settings->database_url, &events, &self->engine, reterr,
                                    size);
    if (is_nonempty(settings->directory))
        return sqlite_engine_open(settings->directory, set_rows_add, &self->rows, &self->engine,
                                  reterr, size);
    self->rows.cached_bytes = UINT64_MAX;
    self->engine = memory_engine();
    return true;
}

set_store *set_store_open(const set_store_settings *settings, char *reterr, size_t size)
{
    if (!accepts_settings(settings, reterr, size))
        return NULL;
    set_store *self = calloc(1, sizeof *self);
    snprintf(reterr, size, "cannot open the store: out of memory");
    if (!self)
        return NULL;
    self->settings = *settings;
    self->settings.readers += settings->readers == 0;
    set_rows_init(&self->rows, settings->cached_bytes);
    pthread_mutex_init(&self->lock, NULL);
    if (!open_engine(self, reterr, size)) {
        set_store_close(self);
        return NULL;
    }
    self->interface = (api_store){.kind = self->engine.kind,
                                  .shared = self->engine.shared,
                                  .context = self,
                                  .is_up = is_reachable,
                                  .list = list,
                                  .look = look,
                                  .find = find,
                                  .put = put,
                                  .remove = remove_set,
                                  .totals = totals};
    return self;
}

void set_store_close(set_store *self)
{
    if (!self)
        return;
    if (self->engine.close)
        self->engine.close(self->engine.context);
    set_rows_done(&self->rows);
    pthread_mutex_destroy(&self->lock);
    free(self);
}

const api_store *set_store_for_api(const set_store *self)
{
    return &self->interface;
}
