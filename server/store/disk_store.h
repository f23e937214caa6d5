/* The database on a disk that may become full: room is checked before a set is stored, removing
 * works without room, and the space of removed sets returns to the file system. */
#ifndef DISK_STORE_H
#define DISK_STORE_H

#include "store/database.h"

/* Used by one thread at a time. */
typedef struct disk_store disk_store;

/* As database_open. What an earlier process has not finished removing is removed. */
disk_store *disk_store_open(const char *directory, char *reterr, size_t size);
void disk_store_close(disk_store *self); /* NULL is fine */

/* For reading, and for the reason of a failure. */
database *disk_store_database(disk_store *self);

/* As database_put and database_remove. */
database_outcome disk_store_put(disk_store *self, const api_stored *stored, const char *bytes,
                                int64_t *ret_id);
database_outcome disk_store_remove(disk_store *self, int64_t id);

#endif
