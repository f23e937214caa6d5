/* Stored sets in an SQLite file: its rows and the files' bytes. What a call has written is on
 * the disk when it returns; a call that fails, or does not return, has changed nothing. */
#ifndef DATABASE_H
#define DATABASE_H

#include "api.h"

/* One thread at a time. */
typedef struct database database;

typedef struct database_row {
    int64_t id; /* never used again, also when the set is replaced or removed */
    api_stored stored;
} database_row;

typedef enum database_outcome {
    DATABASE_DONE,
    DATABASE_FULL, /* the disk is full, or a limit of the system is reached */
    DATABASE_FAILED,
} database_outcome;

/* Open the file in a directory, which is made if it is missing (its parent must be there), and
 * lock it. NULL: one line of the reason is in ret_error. */
database *database_open(const char *directory, char *ret_error, size_t size);
void database_close(database *opened); /* NULL is fine */

/* Call `visit` for every row by name; false if reading fails or `visit` returns false. */
bool database_list(database *from, bool (*visit)(void *of, const database_row *row), void *of);

/* Store a set in the place of the one of that name, if there is one. */
database_outcome database_put(database *into, const api_stored *stored, const char *bytes,
                              int64_t *ret_id);
database_outcome database_remove(database *from, int64_t id);

/* Read a set's bytes; false if they cannot be read, or are not `size`. */
bool database_read(database *from, int64_t id, char *dst, size_t size);

/* Why the last call failed. */
const char *database_reason(database *of);

#endif
