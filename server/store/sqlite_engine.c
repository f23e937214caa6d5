/* The engine on SQLite: the database of one server alone. Its caller has the only lock. */
#include "store/disk_store.h"
#include "store/engine.h"

#include <stdio.h>

/* The status for the outcome of a write; a failure is logged. */
static api_store_status find_status(disk_store *disk, database_outcome outcome,
                                    const char *name)
{
    static const api_store_status STATUSES[] = {[DATABASE_DONE] = API_STORE_DONE,
                                                [DATABASE_FULL] = API_STORE_DISK_FULL,
                                                [DATABASE_READ_ONLY] = API_STORE_READ_ONLY,
                                                [DATABASE_FAILED] = API_STORE_FAILED};
    if (outcome != DATABASE_DONE)
        engine_log_failure("a set cannot be stored or removed", name,
                           outcome == DATABASE_FULL ? "the disk is full"
                           : outcome == DATABASE_READ_ONLY
                               ? "the disk is read-only"
                               : database_reason(disk_store_database(disk)));
    return STATUSES[outcome];
}

static api_store_status read_set(void *context, const char *name, int64_t id, char *dst,
                                 size_t size)
{
    database *file = disk_store_database(context);
    if (database_read(file, id, dst, size))
        return API_STORE_DONE;
    engine_log_failure("a set cannot be read", name, database_reason(file));
    return API_STORE_FAILED;
}

static api_store_status put(void *context, const engine_change *change, int64_t *ret_id)
{
    api_store_status status = change->judge(change->context, &change->known);
    if (status != API_STORE_DONE)
        return status;
    return find_status(context, disk_store_put(context, &change->stored, change->bytes, ret_id),
                       change->stored.name);
}

static api_store_status remove_set(void *context, const engine_change *change)
{
    api_store_status status = change->judge(change->context, &change->known);
    if (status != API_STORE_DONE)
        return status;
    return find_status(context, disk_store_remove(context, change->known_id),
                       change->stored.name);
}

static bool is_reachable(void *context)
{
    (void)context;
    return true;
}

static void close_disk(void *context)
{
    disk_store_close(context);
}

/* ---- opening ---- */

typedef struct visitor {
    engine_visit *visit;
    void *context;
} visitor;

static bool visit_row(void *context, const database_row *row)
{
    const visitor *self = context;
    return self->visit(self->context, &row->stored, row->id);
}

bool sqlite_engine_open(const char *directory, engine_visit *visit, void *context,
                        store_engine *ret_engine, char *reterr, size_t size)
{
    visitor rows = {visit, context};
    disk_store *disk = disk_store_open(directory, reterr, size);
    if (!disk)
        return false;
    if (!database_list(disk_store_database(disk), visit_row, &rows)) {
        snprintf(reterr, size, "data-dir: %s: the sets cannot be read: %s", directory,
                 database_reason(disk_store_database(disk)));
        disk_store_close(disk);
        return false;
    }
    *ret_engine = (store_engine){.kind = "sqlite",
                                 .context = disk,
                                 .read = read_set,
                                 .put = put,
                                 .remove = remove_set,
                                 .is_up = is_reachable,
                                 .close = close_disk};
    return true;
}
