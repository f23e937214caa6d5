/* Removing a set removes its row. What remains, bytes without a set and unused space in the
 * file, is removed afterwards in small steps. If the disk is full, they find room in the
 * reserve, which is taken again afterwards. */
#include "store/disk_store.h"

#include "store/disk.h"

#include <stdio.h>
#include <stdlib.h>

#define TIGHT ((uint64_t)64 << 20)  /* bytes: with less room on the disk, steps are small */
#define SLACK ((uint64_t)256 << 10) /* bytes that storing a set takes beside its own */

struct disk_store {
    database *database;
    disk_reserve reserve;
    char directory[PATH_MAX];
};

static bool is_tight(const disk_store *self)
{
    return disk_free(self->directory) < TIGHT;
}

static database_outcome shrink_database(disk_store *self)
{
    database_outcome outcome = DATABASE_DONE;
    for (bool more = true; more;)
        outcome = database_shrink(self->database, is_tight(self), &more);
    return outcome;
}

static database_outcome try_to_remove_pieces(disk_store *self)
{
    database_outcome outcome = DATABASE_DONE;
    for (bool more = true; more;)
        outcome = database_sweep(self->database, &more);
    return outcome == DATABASE_DONE ? shrink_database(self) : outcome;
}

/* Remove what remains of removed sets. What cannot be removed now is removed next time. */
static void remove_pieces(disk_store *self)
{
    if (try_to_remove_pieces(self) == DATABASE_FULL && disk_reserve_free(&self->reserve))
        try_to_remove_pieces(self);
    disk_reserve_take(&self->reserve);
}

/* Whether the disk has room for a set beside the reserve: in the log, and in the file when the
 * log is emptied. */
static bool has_room(disk_store *self, uint64_t bytes)
{
    uint64_t all = bytes + bytes / 64;
    bool grows = database_reusable(self->database) < all;
    return disk_reserve_take(&self->reserve) &&
           disk_free(self->directory) >= (grows ? 2 * all : all) + SLACK;
}

disk_store *disk_store_open(const char *directory, char *reterr, size_t size)
{
    disk_store *self = calloc(1, sizeof *self);
    snprintf(reterr, size, "data-dir: %s: out of memory", directory);
    if (!self)
        return NULL;
    if (!disk_reserve_init(&self->reserve, directory)) {
        snprintf(reterr, size, "data-dir: %s: the path is too long", directory);
        free(self);
        return NULL;
    }
    snprintf(self->directory, sizeof self->directory, "%s", directory);
    self->database = database_open(directory, reterr, size);
    if (!self->database) {
        disk_store_close(self);
        return NULL;
    }
    remove_pieces(self);
    return self;
}

void disk_store_close(disk_store *self)
{
    if (!self)
        return;
    database_close(self->database);
    disk_reserve_done(&self->reserve);
    free(self);
}

database *disk_store_database(disk_store *self)
{
    return self->database;
}

database_outcome disk_store_put(disk_store *self, const api_stored *stored, const char *bytes,
                                int64_t *ret_id)
{
    database_outcome outcome = DATABASE_FULL;
    if (has_room(self, stored->bytes))
        outcome = database_put(self->database, stored, bytes, ret_id);
    if (outcome == DATABASE_FULL || is_tight(self))
        database_empty_log(self->database);
    if (outcome == DATABASE_DONE)
        shrink_database(self); /* a larger set may have been replaced */
    return outcome;
}

database_outcome disk_store_remove(disk_store *self, int64_t id)
{
    database_outcome outcome = database_remove(self->database, id);
    if (outcome == DATABASE_FULL && disk_reserve_free(&self->reserve))
        outcome = database_remove(self->database, id);
    if (outcome == DATABASE_DONE)
        remove_pieces(self);
    else
        disk_reserve_take(&self->reserve);
    return outcome;
}
