/* One SQLite connection that locks the file exclusively. With WAL and synchronous=FULL a commit
 * returns when the data is on the disk.
 *
 * secure_delete=FAST: Debian's SQLite would write zeros over all that is deleted, and would
 * need as much room in the WAL. */
#include "store/database.h"

#include "store/disk.h"

#include <errno.h>
#include <limits.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FILE_NAME "parameters.sqlite"
#define WAL_MAX   ((uint64_t)16 << 20) /* bytes: storing a larger set empties the WAL */
#define CHUNK     ((size_t)1 << 20) /* bytes in a row of `chunks`; SQLite copies whole rows */

struct database {
    sqlite3 *connection;
    char reason[256]; /* of the last failure */
};

#define LOCK_WAIT      2000       /* milliseconds; a stopping server may hold the lock */
#define APPLICATION_ID 1886352229 /* "pose" marks the file as ours */
#define VERSION        1
#define TEXT_OF(x)     #x
#define TEXT(x)        TEXT_OF(x)

static const char LOCKING[] = "PRAGMA locking_mode = EXCLUSIVE;";
static const char SHRINKING[] = "PRAGMA auto_vacuum = INCREMENTAL;"; /* writes to the file */
static const char SETTINGS[] = "PRAGMA secure_delete = FAST;"
                               "PRAGMA journal_mode = WAL;"
                               "PRAGMA synchronous = FULL;"
                               "PRAGMA journal_size_limit = 16777216;";

static const char SCHEMA[] =
    "CREATE TABLE sets (id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL UNIQUE,"
    " digest TEXT NOT NULL, bytes INTEGER NOT NULL, description TEXT NOT NULL) STRICT;"
    "CREATE TABLE chunks (set_id INTEGER NOT NULL, number INTEGER NOT NULL,"
    " bytes BLOB NOT NULL, PRIMARY KEY (set_id, number)) STRICT;"
    "PRAGMA application_id = " TEXT(APPLICATION_ID) ";"
                                                    "PRAGMA user_version = " TEXT(VERSION) ";";

/* ---- statements ---- */

static bool run_sql(database *self, const char *sql)
{
    return sqlite3_exec(self->connection, sql, NULL, NULL, NULL) == SQLITE_OK;
}

static sqlite3_stmt *prepare_statement(database *self, const char *sql)
{
    sqlite3_stmt *statement = NULL;
    sqlite3_prepare_v2(self->connection, sql, -1, &statement, NULL);
    return statement;
}

/* Run a statement that returns no rows, and finalize it. False if that fails or it is NULL. */
static bool finish_statement(sqlite3_stmt *statement)
{
    bool done = statement && sqlite3_step(statement) == SQLITE_DONE;
    return sqlite3_finalize(statement) == SQLITE_OK && done;
}

/* The integer that a query returns; -1 if the query fails. */
static int64_t query_integer(database *self, const char *sql)
{
    sqlite3_stmt *statement = prepare_statement(self, sql);
    bool has_row = statement && sqlite3_step(statement) == SQLITE_ROW;
    int64_t value = has_row ? sqlite3_column_int64(statement, 0) : -1;
    sqlite3_finalize(statement);
    return value;
}

/* A column's text; "" if memory ran out. */
static const char *read_text(sqlite3_stmt *row, int column)
{
    const unsigned char *text = sqlite3_column_text(row, column);
    return text ? (const char *)text : "";
}

/* Why a step of opening has failed. If SQLite ran out of memory for an optional part of a
 * statement, it reports no error. */
static const char *explain_failure(database *self)
{
    int code = sqlite3_errcode(self->connection);
    bool is_error = code != SQLITE_OK && code != SQLITE_ROW && code != SQLITE_DONE;
    return is_error ? sqlite3_errmsg(self->connection) : "out of memory";
}

static bool uses_wal(database *self)
{
    sqlite3_stmt *statement = prepare_statement(self, "PRAGMA journal_mode");
    bool wal = statement && sqlite3_step(statement) == SQLITE_ROW &&
               strcmp(read_text(statement, 0), "wal") == 0;
    sqlite3_finalize(statement);
    return wal;
}

/* Save the reason why a call has failed; returns false. */
static bool note_failure(database *self)
{
    snprintf(self->reason, sizeof self->reason, "%s", sqlite3_errmsg(self->connection));
    return false;
}

static bool bind_text(sqlite3_stmt *statement, int index, const char *text)
{
    return sqlite3_bind_text(statement, index, text, -1, SQLITE_STATIC) == SQLITE_OK;
}

/* ---- transactions ---- */

/* Begin a transaction. First roll back one that is still open because its own rollback ran out
 * of memory. */
static bool begin_transaction(database *self)
{
    if (!sqlite3_get_autocommit(self->connection))
        run_sql(self, "ROLLBACK");
    errno = 0; /* see outcome_of_error */
    return run_sql(self, "BEGIN IMMEDIATE");
}

/* What SQLite's last error means for the caller. `system` is errno after the failure:
 * sqlite3_system_errno does not know it where a COMMIT has failed. */
static database_outcome outcome_of_error(database *self, int system)
{
    int code = sqlite3_errcode(self->connection);
    int reason = code == SQLITE_IOERR || code == SQLITE_CANTOPEN ? system : 0;
    if (code == SQLITE_FULL || reason == ENOSPC || reason == EDQUOT || reason == EFBIG)
        return DATABASE_FULL;
    if (code == SQLITE_READONLY || reason == EROFS || reason == EACCES || reason == EPERM)
        return DATABASE_READ_ONLY;
    return DATABASE_FAILED;
}

/* Commit a transaction if all its steps are done; otherwise, or if that fails, roll it back. */
static database_outcome end_transaction(database *self, bool done)
{
    if (done && run_sql(self, "COMMIT"))
        return DATABASE_DONE;
    database_outcome outcome = outcome_of_error(self, errno);
    note_failure(self);
    run_sql(self, "ROLLBACK"); /* fails if SQLite has already rolled back; that is fine */
    return outcome;
}

/* ---- opening ---- */

/* Create the tables of a new file, or check that an existing file is ours. NULL, or the reason
 * why that failed. */
static const char *check_schema(database *self)
{
    int64_t application = query_integer(self, "PRAGMA application_id");
    int64_t version = query_integer(self, "PRAGMA user_version");
    if (application < 0 || version < 0)
        return explain_failure(self);
    if (application == 0 && version == 0 &&
        query_integer(self, "SELECT count(*) FROM sqlite_schema") == 0)
        return run_sql(self, "BEGIN EXCLUSIVE") && run_sql(self, SCHEMA) &&
                       run_sql(self, "COMMIT")
                   ? NULL
                   : explain_failure(self);
    if (application != APPLICATION_ID)
        return "the file is not posenc's";
    return version == VERSION ? NULL : "the file was written by another version of posenc";
}

/* Lock the file and choose its settings. NULL, or the reason why that failed. */
static const char *prepare_tables(database *self)
{
    sqlite3_busy_timeout(self->connection, LOCK_WAIT);
    run_sql(self, LOCKING);
    if (query_integer(self, "PRAGMA page_count") == 0)
        run_sql(self, SHRINKING);
    if (!run_sql(self, SETTINGS) || !run_sql(self, "BEGIN EXCLUSIVE; COMMIT"))
        return sqlite3_errcode(self->connection) == SQLITE_BUSY
                   ? "another server is using it"
                   : sqlite3_errmsg(self->connection);
    if (query_integer(self, "PRAGMA synchronous") != 2 || !uses_wal(self))
        return sqlite3_errcode(self->connection) == SQLITE_NOMEM
                   ? explain_failure(self)
                   : "SQLite refuses WAL or synchronous=FULL for this directory";
    return check_schema(self);
}

database *database_open(const char *directory, char *reterr, size_t size)
{
    database *self = calloc(1, sizeof *self);
    char path[PATH_MAX];
    const char *problem = "out of memory";
    int length = snprintf(path, sizeof path, "%s/" FILE_NAME, directory);
    if (length >= (int)sizeof path)
        problem = "the path is too long";
    else if (self && (!disk_make_directory(directory) || !disk_make_file(path)))
        problem = strerror(errno);
    else if (self &&
             sqlite3_open_v2(path, &self->connection,
                             SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, NULL) == SQLITE_OK)
        problem = prepare_tables(self);
    else if (self && self->connection)
        problem = sqlite3_errmsg(self->connection);
    if (!problem)
        return self;
    snprintf(reterr, size, "data-dir: %s: %s", directory, problem);
    database_close(self);
    return NULL;
}

void database_close(database *self)
{
    if (self)
        sqlite3_close(self->connection);
    free(self);
}

const char *database_reason(database *self)
{
    return self->reason;
}

/* ---- reading ---- */

bool database_list(database *self, bool (*visit)(void *context, const database_row *row),
                   void *context)
{
    sqlite3_stmt *rows = prepare_statement(
        self, "SELECT id, name, digest, bytes, description FROM sets ORDER BY name");
    int step = SQLITE_ERROR;
    bool proceed = rows != NULL;
    while (proceed && (step = sqlite3_step(rows)) == SQLITE_ROW) {
        const database_row row = {
            .id = sqlite3_column_int64(rows, 0),
            .stored = {.name = (const char *)sqlite3_column_text(rows, 1),
                       .digest = (const char *)sqlite3_column_text(rows, 2),
                       .bytes = (uint64_t)sqlite3_column_int64(rows, 3),
                       .description = (const char *)sqlite3_column_text(rows, 4)}};
        proceed = row.stored.name && row.stored.digest && row.stored.description &&
                  visit(context, &row);
    }
    sqlite3_finalize(rows);
    return (proceed && step == SQLITE_DONE) || note_failure(self);
}

bool database_read(database *self, int64_t id, char *dst, size_t size)
{
    sqlite3_stmt *chunks =
        prepare_statement(self, "SELECT bytes FROM chunks WHERE set_id = ? ORDER BY number");
    size_t used = 0;
    int step = SQLITE_ERROR;
    if (chunks && sqlite3_bind_int64(chunks, 1, id) == SQLITE_OK)
        while ((step = sqlite3_step(chunks)) == SQLITE_ROW) {
            const void *bytes = sqlite3_column_blob(chunks, 0);
            size_t part = (size_t)sqlite3_column_bytes(chunks, 0);
            if (!bytes || part > size - used)
                break;
            memcpy(dst + used, bytes, part);
            used += part;
        }
    sqlite3_finalize(chunks);
    return (step == SQLITE_DONE && used == size) || note_failure(self);
}

/* ---- writing ---- */

static bool delete_set(database *self, int64_t id)
{
    sqlite3_stmt *statement = prepare_statement(self, "DELETE FROM sets WHERE id = ?");
    if (statement)
        sqlite3_bind_int64(statement, 1, id);
    return finish_statement(statement);
}

/* Delete the set with a name, if there is one, and its chunks, whose pages the set that
 * replaces it can use. */
static bool delete_named(database *self, const char *name)
{
    static const char *const statements[] = {
        "DELETE FROM chunks WHERE set_id = (SELECT id FROM sets WHERE name = ?)",
        "DELETE FROM sets WHERE name = ?"};
    bool done = true;
    for (size_t i = 0; done && i < 2; i++) {
        sqlite3_stmt *statement = prepare_statement(self, statements[i]);
        if (statement)
            bind_text(statement, 1, name);
        done = finish_statement(statement);
    }
    return done;
}

static bool insert_row(database *self, const api_stored *stored)
{
    sqlite3_stmt *row = prepare_statement(
        self, "INSERT INTO sets (name, digest, bytes, description) VALUES (?, ?, ?, ?)");
    if (!row)
        return false;
    bool bound = bind_text(row, 1, stored->name) && bind_text(row, 2, stored->digest) &&
                 sqlite3_bind_int64(row, 3, (int64_t)stored->bytes) == SQLITE_OK &&
                 bind_text(row, 4, stored->description);
    return finish_statement(row) && bound;
}

static bool insert_chunks(database *self, int64_t id, const char *bytes, size_t size)
{
    sqlite3_stmt *row =
        prepare_statement(self, "INSERT INTO chunks (set_id, number, bytes) VALUES (?, ?, ?)");
    bool done = row != NULL;
    for (size_t offset = 0; done && offset < size; offset += CHUNK) {
        int part = (int)(size - offset < CHUNK ? size - offset : CHUNK);
        done = sqlite3_bind_int64(row, 1, id) == SQLITE_OK &&
               sqlite3_bind_int64(row, 2, (int64_t)(offset / CHUNK)) == SQLITE_OK &&
               sqlite3_bind_blob(row, 3, bytes + offset, part, SQLITE_STATIC) == SQLITE_OK &&
               sqlite3_step(row) == SQLITE_DONE && sqlite3_reset(row) == SQLITE_OK;
    }
    return sqlite3_finalize(row) == SQLITE_OK && done;
}

database_outcome database_put(database *self, const api_stored *stored, const char *bytes,
                              int64_t *ret_id)
{
    bool done =
        begin_transaction(self) && delete_named(self, stored->name) && insert_row(self, stored);
    int64_t id = sqlite3_last_insert_rowid(self->connection);
    database_outcome outcome =
        end_transaction(self, done && insert_chunks(self, id, bytes, (size_t)stored->bytes));
    if (outcome != DATABASE_DONE)
        return outcome;
    *ret_id = id;
    if (stored->bytes > WAL_MAX) /* return the log's disk space */
        database_empty_log(self);
    return DATABASE_DONE;
}

database_outcome database_remove(database *self, int64_t id)
{
    return end_transaction(self, begin_transaction(self) && delete_set(self, id));
}

/* ---- disk space ---- */

void database_empty_log(database *self)
{
    run_sql(self, "PRAGMA wal_checkpoint(TRUNCATE)");
}

database_outcome database_sweep(database *self, bool *ret_more)
{
    static const char some[] = "DELETE FROM chunks WHERE rowid IN (SELECT rowid FROM chunks"
                               " WHERE set_id NOT IN (SELECT id FROM sets) LIMIT 64)";
    database_outcome outcome =
        end_transaction(self, begin_transaction(self) && run_sql(self, some));
    *ret_more = outcome == DATABASE_DONE && sqlite3_changes(self->connection) > 0;
    database_empty_log(self);
    return outcome;
}

database_outcome database_shrink(database *self, bool small_step, bool *ret_more)
{
    int64_t before = query_integer(self, "PRAGMA freelist_count"), after = before;
    database_outcome outcome = DATABASE_DONE;
    if (before > 0) {
        outcome = end_transaction(
            self, begin_transaction(self) &&
                      run_sql(self, small_step ? "PRAGMA incremental_vacuum(64)"
                                               : "PRAGMA incremental_vacuum(4096)"));
        database_empty_log(self);
        after = query_integer(self, "PRAGMA freelist_count");
    }
    *ret_more = outcome == DATABASE_DONE && after > 0 && after < before;
    return outcome;
}

uint64_t database_reusable(database *self)
{
    int64_t page = query_integer(self, "PRAGMA page_size"),
            unused = query_integer(self, "PRAGMA freelist_count");
    return page < 0 || unused < 0 ? 0 : (uint64_t)(page * unused);
}
