/* Sets in an SQLite file: a row for each set, and the bytes of its file. When a call
 * that writes returns successfully, the data is on the disk. A call that fails, or is
 * interrupted by the end of the process, changes nothing. */
#ifndef DATABASE_H
#define DATABASE_H

#include "api.h"

/* Used by one thread at a time. */
typedef struct database database;

typedef struct database_row {
    int64_t id; /* never used for another set, even after this one is replaced or removed */
    api_stored stored;
} database_row;

typedef enum database_outcome {
    DATABASE_DONE,
    DATABASE_FULL,      /* the disk is full, or a limit of the system is reached */
    DATABASE_READ_ONLY, /* the disk cannot be written any more */
    DATABASE_FAILED,
} database_outcome;

/* Open and lock the file in a directory. A missing directory is created, but not its parent.
 * NULL: reterr is one line with the reason. */
database *database_open(const char *directory, char *reterr, size_t size);
void database_close(database *self); /* NULL is fine */

/* Call `visit` for every row, sorted by name. False if reading fails or `visit` returns false.
 */
bool database_list(database *self, bool (*visit)(void *context, const database_row *row),
                   void *context);

/* Insert a set, or replace the one with the same name. */
database_outcome database_put(database *self, const api_stored *stored, const char *bytes,
                              int64_t *ret_id);

/* Remove a set's row. Its bytes stay until they are swept. */
database_outcome database_remove(database *self, int64_t id);

/* ---- disk space; the steps are small, so that a full disk has room for their log ---- */

/* Remove some of the bytes that belong to no set. ret_more: there may be others. */
database_outcome database_sweep(database *self, bool *ret_more);

/* Return unused space to the file system: up to 256 KiB in a small step, else 16 MiB. */
database_outcome database_shrink(database *self, bool small_step, bool *ret_more);

/* Write the log's content to the file and free the log's disk space. If that fails, the content
 * stays in the log. */
void database_empty_log(database *self);

/* Bytes of the file that sets may still take. */
uint64_t database_reusable(database *self);

/* ---- other ---- */

/* Read the bytes of a set. False if reading fails or there are not exactly `size` bytes. */
bool database_read(database *self, int64_t id, char *dst, size_t size);

/* The reason why the last call failed. */
const char *database_reason(database *self);

#endif
