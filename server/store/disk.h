/* The directory that holds the database, and the room on its disk. */
#ifndef DISK_H
#define DISK_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

/* Create the directory, unless it exists, and write its name to the disk. False: errno. */
bool disk_make_directory(const char *path);

/* Create the file, unless it exists, readable only by our user. False: errno. */
bool disk_make_file(const char *path);

/* Bytes that may still be written to the disk of a path; UINT64_MAX if that is not known. */
uint64_t disk_free(const char *path);

/* A file that occupies space, so that sets can be deleted when the disk is full: deleting
 * writes to SQLite's log first. */
typedef struct disk_reserve {
    int fd; /* -1: not open */
    bool held;
    char path[PATH_MAX];
} disk_reserve;

/* Name the file; it is not created yet. False if the path is too long. */
bool disk_reserve_init(disk_reserve *reserve, const char *directory);
void disk_reserve_done(disk_reserve *reserve); /* the file stays */

/* Occupy the space. False if the disk is full. On a file system that cannot reserve space the
 * file occupies nothing. */
bool disk_reserve_take(disk_reserve *reserve);

/* Give up the space. False if the reserve does not hold any. */
bool disk_reserve_free(disk_reserve *reserve);

#endif
