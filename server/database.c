/* SQLite: one connection that locks the file for itself. WAL with synchronous=FULL: a commit
 * returns when the disk has it. */
#include "database.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define LOG_KEPT  ((uint64_t)16 << 20)
#define FILE_NAME "parameters.sqlite"
#define CHUNK     ((size_t)1 << 20) /* bytes of a row of `chunks`: what SQLite copies at a time */

struct database {
    sqlite3 *connection;
    char reason[256]; /* of the last failure */
};

#define PATIENCE       2000       /* milliseconds: a server that was killed ends first */
#define APPLICATION_ID 1886352229 /* "pose": the file is ours */
#define VERSION        1
#define TEXT_OF(x)     #x
#define TEXT(x)        TEXT_OF(x)

static const char SETTINGS[] = "PRAGMA locking_mode = EXCLUSIVE;"
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

static bool run(database *on, const char *sql)
{
    return sqlite3_exec(on->connection, sql, NULL, NULL, NULL) == SQLITE_OK;
}

static sqlite3_stmt *prepare(database *on, const char *sql)
{
    sqlite3_stmt *made = NULL;
    sqlite3_prepare_v2(on->connection, sql, -1, &made, NULL);
    return made;
}

/* Run a statement that returns no rows to its end; it may be NULL. */
static bool finish(sqlite3_stmt *statement)
{
    bool done = statement && sqlite3_step(statement) == SQLITE_DONE;
    return sqlite3_finalize(statement) == SQLITE_OK && done;
}

/* The integer that a statement returns; -1 if it fails. */
static int64_t integer_of(database *on, const char *sql)
{
    sqlite3_stmt *statement = prepare(on, sql);
    bool found = statement && sqlite3_step(statement) == SQLITE_ROW;
    int64_t value = found ? sqlite3_column_int64(statement, 0) : -1;
    sqlite3_finalize(statement);
    return value;
}

/* "" without memory. */
static const char *text_of(sqlite3_stmt *row, int column)
{
    const unsigned char *text = sqlite3_column_text(row, column);
    return text ? (const char *)text : "";
}

/* Why a step of opening has failed. Where SQLite had no memory for a part of a statement that
 * it can do without, it gives no error. */
static const char *failure_of(database *on)
{
    int code = sqlite3_errcode(on->connection);
    bool told = code != SQLITE_OK && code != SQLITE_ROW && code != SQLITE_DONE;
    return told ? sqlite3_errmsg(on->connection) : "out of memory";
}

static bool uses_wal(database *on)
{
    sqlite3_stmt *statement = prepare(on, "PRAGMA journal_mode");
    bool wal = statement && sqlite3_step(statement) == SQLITE_ROW &&
               strcmp(text_of(statement, 0), "wal") == 0;
    sqlite3_finalize(statement);
    return wal;
}

/* Keep why a call has failed; returns false. */
static bool fail(database *on)
{
    snprintf(on->reason, sizeof on->reason, "%s", sqlite3_errmsg(on->connection));
    return false;
}

static bool bind_text(sqlite3_stmt *statement, int at, const char *text)
{
    return sqlite3_bind_text(statement, at, text, -1, SQLITE_STATIC) == SQLITE_OK;
}

/* ---- opening ---- */

/* Have the disk know a directory's entries. */
static bool sync_directory(const char *path)
{
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    bool synced = fd >= 0 && fsync(fd) == 0;
    if (fd >= 0)
        close(fd);
    return synced;
}

static bool make_directory(const char *path)
{
    if (mkdir(path, 0700) != 0)
        return errno == EEXIST;
    char parent[PATH_MAX];
    int length = snprintf(parent, sizeof parent, "%s/..", path);
    return length < (int)sizeof parent && sync_directory(parent);
}

/* Make the file, if it is missing, for our eyes alone; SQLite's others follow its mode. */
static bool make_file(const char *path)
{
    int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    return fd >= 0 && close(fd) == 0;
}

/* Make the tables of a new file, or check that an old one is ours; NULL, or what is wrong. */
static const char *check_schema(database *on)
{
    int64_t application = integer_of(on, "PRAGMA application_id");
    int64_t version = integer_of(on, "PRAGMA user_version");
    if (application < 0 || version < 0)
        return failure_of(on);
    if (application == 0 && version == 0 &&
        integer_of(on, "SELECT count(*) FROM sqlite_schema") == 0)
        return run(on, "BEGIN EXCLUSIVE") && run(on, SCHEMA) && run(on, "COMMIT")
                   ? NULL
                   : failure_of(on);
    if (application != APPLICATION_ID)
        return "the file is not posenc's";
    return version == VERSION ? NULL : "the file was written by another version of posenc";
}

/* Lock and set up the file; NULL, or what is wrong. */
static const char *set_up(database *on)
{
    sqlite3_busy_timeout(on->connection, PATIENCE);
    if (!run(on, SETTINGS) || !run(on, "BEGIN EXCLUSIVE; COMMIT"))
        return sqlite3_errcode(on->connection) == SQLITE_BUSY ? "another server is using it"
                                                              : sqlite3_errmsg(on->connection);
    if (integer_of(on, "PRAGMA synchronous") != 2 || !uses_wal(on))
        return sqlite3_errcode(on->connection) == SQLITE_NOMEM
                   ? failure_of(on)
                   : "SQLite cannot be made to write safely here";
    return check_schema(on);
}

database *database_open(const char *directory, char *ret_error, size_t size)
{
    database *made = calloc(1, sizeof *made);
    char path[PATH_MAX];
    const char *problem = "out of memory";
    int length = snprintf(path, sizeof path, "%s/" FILE_NAME, directory);
    if (length >= (int)sizeof path)
        problem = "the path is too long";
    else if (made && (!make_directory(directory) || !make_file(path)))
        problem = strerror(errno);
    else if (made &&
             sqlite3_open_v2(path, &made->connection,
                             SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, NULL) == SQLITE_OK)
        problem = set_up(made);
    else if (made && made->connection)
        problem = sqlite3_errmsg(made->connection);
    if (!problem)
        return made;
    snprintf(ret_error, size, "data-dir: %s: %s", directory, problem);
    database_close(made);
    return NULL;
}

void database_close(database *opened)
{
    if (opened)
        sqlite3_close(opened->connection);
    free(opened);
}

const char *database_reason(database *of)
{
    return of->reason;
}

/* ---- reading ---- */

bool database_list(database *from, bool (*visit)(void *of, const database_row *row), void *of)
{
    sqlite3_stmt *rows =
        prepare(from, "SELECT id, name, digest, bytes, description FROM sets ORDER BY name");
    int step = SQLITE_ERROR;
    bool going = rows != NULL;
    while (going && (step = sqlite3_step(rows)) == SQLITE_ROW) {
        const database_row row = {
            .id = sqlite3_column_int64(rows, 0),
            .stored = {.name = (const char *)sqlite3_column_text(rows, 1),
                       .digest = (const char *)sqlite3_column_text(rows, 2),
                       .bytes = (uint64_t)sqlite3_column_int64(rows, 3),
                       .description = (const char *)sqlite3_column_text(rows, 4)}};
        going =
            row.stored.name && row.stored.digest && row.stored.description && visit(of, &row);
    }
    sqlite3_finalize(rows);
    return (going && step == SQLITE_DONE) || fail(from);
}

bool database_read(database *from, int64_t id, char *dst, size_t size)
{
    sqlite3_stmt *chunks =
        prepare(from, "SELECT bytes FROM chunks WHERE set_id = ? ORDER BY number");
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
    return (step == SQLITE_DONE && used == size) || fail(from);
}

/* ---- writing ---- */

static bool delete_where(database *on, const char *sql, int64_t id)
{
    sqlite3_stmt *statement = prepare(on, sql);
    if (statement)
        sqlite3_bind_int64(statement, 1, id);
    return finish(statement);
}

static bool delete_set(database *on, int64_t id)
{
    return delete_where(on, "DELETE FROM chunks WHERE set_id = ?", id) &&
           delete_where(on, "DELETE FROM sets WHERE id = ?", id);
}

/* Delete the set of a name, if there is one. */
static bool delete_named(database *on, const char *name)
{
    sqlite3_stmt *find = prepare(on, "SELECT id FROM sets WHERE name = ?");
    if (!find)
        return false;
    bind_text(find, 1, name);
    int step = sqlite3_step(find);
    int64_t id = step == SQLITE_ROW ? sqlite3_column_int64(find, 0) : 0;
    sqlite3_finalize(find);
    return step == SQLITE_DONE || (step == SQLITE_ROW && delete_set(on, id));
}

static bool insert_row(database *on, const api_stored *stored)
{
    sqlite3_stmt *row =
        prepare(on, "INSERT INTO sets (name, digest, bytes, description) VALUES (?, ?, ?, ?)");
    if (!row)
        return false;
    bool bound = bind_text(row, 1, stored->name) && bind_text(row, 2, stored->digest) &&
                 sqlite3_bind_int64(row, 3, (int64_t)stored->bytes) == SQLITE_OK &&
                 bind_text(row, 4, stored->description);
    return finish(row) && bound;
}

static bool insert_chunks(database *on, int64_t id, const char *bytes, size_t size)
{
    sqlite3_stmt *row =
        prepare(on, "INSERT INTO chunks (set_id, number, bytes) VALUES (?, ?, ?)");
    bool done = row != NULL;
    for (size_t at = 0; done && at < size; at += CHUNK) {
        int part = (int)(size - at < CHUNK ? size - at : CHUNK);
        done = sqlite3_bind_int64(row, 1, id) == SQLITE_OK &&
               sqlite3_bind_int64(row, 2, (int64_t)(at / CHUNK)) == SQLITE_OK &&
               sqlite3_bind_blob(row, 3, bytes + at, part, SQLITE_STATIC) == SQLITE_OK &&
               sqlite3_step(row) == SQLITE_DONE && sqlite3_reset(row) == SQLITE_OK;
    }
    return sqlite3_finalize(row) == SQLITE_OK && done;
}

/* Begin a transaction. One that could not be taken back for want of memory is so now. */
static bool begin(database *on)
{
    if (!sqlite3_get_autocommit(on->connection))
        run(on, "ROLLBACK");
    return run(on, "BEGIN IMMEDIATE");
}

/* End a transaction; what has failed is taken back. */
static database_outcome end(database *on, bool done)
{
    if (done && run(on, "COMMIT"))
        return DATABASE_DONE;
    int code = sqlite3_errcode(on->connection), reason = sqlite3_system_errno(on->connection);
    bool full =
        code == SQLITE_FULL ||
        (code == SQLITE_IOERR && (reason == ENOSPC || reason == EDQUOT || reason == EFBIG));
    fail(on);
    run(on, "ROLLBACK"); /* which SQLite may have done by itself */
    return full ? DATABASE_FULL : DATABASE_FAILED;
}

database_outcome database_put(database *into, const api_stored *stored, const char *bytes,
                              int64_t *ret_id)
{
    bool done = begin(into) && delete_named(into, stored->name) && insert_row(into, stored);
    int64_t id = sqlite3_last_insert_rowid(into->connection);
    database_outcome outcome =
        end(into, done && insert_chunks(into, id, bytes, (size_t)stored->bytes));
    if (outcome != DATABASE_DONE)
        return outcome;
    *ret_id = id;
    if (stored->bytes > LOG_KEPT) /* give the space of the log back */
        run(into, "PRAGMA wal_checkpoint(TRUNCATE)");
    return DATABASE_DONE;
}

database_outcome database_remove(database *from, int64_t id)
{
    return end(from, begin(from) && delete_set(from, id));
}
