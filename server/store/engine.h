/* The seam between the store and what keeps its sets: memory alone, an SQLite file, or a
 * PostgreSQL database that several servers share. The store asks an engine by a table of
 * functions. */
#ifndef ENGINE_H
#define ENGINE_H

#include "api.h"

/* What is stored when a change is judged. */
typedef struct engine_standing {
    const char *digest;  /* of the set that has the name; NULL: none has it */
    uint64_t sets, cost; /* of all other sets; the cost is that of index_cost */
} engine_standing;

/* A set to be stored, or removed. */
typedef struct engine_change {
    api_stored stored;     /* of a removal only the name counts */
    const char *bytes;     /* of the set's file */
    engine_standing known; /* by the store's index; empty for a shared engine */
    int64_t known_id;      /* of the set that has the name, by the index */
    void *context;
    /* API_STORE_DONE if the change may be done. Asked at least once, and last while nobody else
     * can change what is stored. */
    api_store_status (*judge)(void *context, const engine_standing *standing);
} engine_change;

/* All functions return API_STORE_DONE, or why the call has failed, and then nothing has
 * changed. After API_STORE_UNAVAILABLE a change may have been done, too. API_STORE_FAILED and
 * API_STORE_DISK_FULL: the engine has logged why. */
typedef struct store_engine {
    const char *kind; /* as api_store's */
    bool shared;      /* other servers change the sets, too: engine_events tell of all changes.
                       * Calls may come from any thread. Not shared: the caller has a lock. */
    void *context;
    /* Read the bytes of a set. API_STORE_ABSENT: the set has been replaced or removed. */
    api_store_status (*read)(void *context, const char *name, int64_t id, char *dst,
                             size_t size);
    /* ret_id: a number that no other set ever has. */
    api_store_status (*put)(void *context, const engine_change *change, int64_t *ret_id);
    api_store_status (*remove)(void *context, const engine_change *change);
    /* Tell by engine_events what the name stands for now. Only of a shared engine. */
    api_store_status (*refresh)(void *context, const char *name);
    bool (*is_up)(void *context);
    void (*close)(void *context);
} store_engine;

/* What a shared engine tells the store, from one thread, in the order in which it was read. */
typedef struct engine_events {
    void *context;
    /* A set is stored under its name; false without memory. */
    bool (*stored)(void *context, const api_stored *stored, int64_t id);
    void (*removed)(void *context, const char *name);
    /* A list of all sets begins, and ends: what it has not named is not stored any more. */
    void (*list_begins)(void *context);
    void (*list_ends)(void *context);
} engine_events;

/* Tell of a set that is stored when a local engine is opened; false without memory. */
typedef bool engine_visit(void *context, const api_stored *stored, int64_t id);

/* An engine that keeps nothing: every set stays in the store's memory. */
store_engine memory_engine(void);

/* Sets in SQLite below a directory. Calls `visit` for every set. False: reterr is one line. */
bool sqlite_engine_open(const char *directory, engine_visit *visit, void *context,
                        store_engine *ret_engine, char *reterr, size_t size);

/* Sets in a PostgreSQL database, which need not be reachable yet: where it is, `events` has
 * told of all sets before the function returns. False: reterr is one line that does not show
 * the URL. In a build without PostgreSQL always false. */
bool postgres_engine_open(const char *url, const engine_events *events,
                          store_engine *ret_engine, char *reterr, size_t size);

/* Whether a URL can be used by this build. False: reterr is one line that does not show it. */
bool postgres_engine_accepts(const char *url, char *reterr, size_t size);

/* Log that a set cannot be read, stored or removed, and why. */
void engine_log_failure(const char *message, const char *set, const char *reason);

#endif
