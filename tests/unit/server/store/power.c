/* A VFS between SQLite and its own VFS. A record for each file holds the content that the last
 * sync has written to the disk. */
#include "power.h"

#include "unit.h"

#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define RECORDS_MAX 8
#define SECTOR      512

typedef struct content {
    char *bytes;
    size_t size;
} content;

typedef struct record {
    char path[512];
    bool exists; /* a sync has written its name to the disk */
    content synced;
} record;

typedef struct power_file {
    sqlite3_file base; /* first: SQLite casts it */
    record *record;
    sqlite3_file *real; /* stored after this struct */
} power_file;

static struct {
    size_t writes_left; /* until the power fails */
    bool failed;
    uint64_t random;
    record records[RECORDS_MAX];
    size_t count;
    sqlite3_vfs *real;
} power;

/* ---- contents ---- */

static content read_content(const char *path)
{
    content read = {NULL, 0};
    FILE *file = fopen(path, "r");
    if (!file)
        return read;
    fseek(file, 0, SEEK_END);
    read.size = (size_t)ftell(file);
    rewind(file);
    read.bytes = malloc(read.size + 1);
    unit_assert(fread(read.bytes, 1, read.size, file) == read.size);
    fclose(file);
    return read;
}

static record *record_of(const char *path)
{
    for (size_t i = 0; i < power.count; i++)
        if (strcmp(power.records[i].path, path) == 0)
            return &power.records[i];
    unit_assert(power.count < RECORDS_MAX);
    record *added = &power.records[power.count++];
    memset(added, 0, sizeof *added);
    snprintf(added->path, sizeof added->path, "%s", path);
    return added;
}

/* Write a file as the power failure leaves it: each sector as of the last sync, or as it was
 * written since then, and the size likewise. */
static void tear(const record *file_record)
{
    content now = read_content(file_record->path);
    const content *synced = &file_record->synced;
    unlink(file_record->path);
    if (file_record->exists) {
        bool has_new_size = unit_random(&power.random) & 1;
        size_t size = has_new_size ? now.size : synced->size;
        FILE *file = fopen(file_record->path, "w");
        for (size_t offset = 0; offset < size; offset += SECTOR) {
            bool is_new = offset >= synced->size || (unit_random(&power.random) & 1);
            const content *from = is_new && offset < now.size ? &now : synced;
            char sector[SECTOR] = {0};
            size_t part = size - offset < SECTOR ? size - offset : SECTOR;
            if (offset < from->size)
                memcpy(sector, from->bytes + offset,
                       from->size - offset < part ? from->size - offset : part);
            unit_assert(fwrite(sector, 1, part, file) == part);
        }
        fclose(file);
    }
    free(now.bytes);
}

/* ---- file methods ---- */

static sqlite3_file *real_of(sqlite3_file *file)
{
    return ((power_file *)file)->real;
}

static int close_file(sqlite3_file *file)
{
    return real_of(file)->pMethods->xClose(real_of(file));
}

static int read_file(sqlite3_file *file, void *dst, int size, sqlite3_int64 at)
{
    return real_of(file)->pMethods->xRead(real_of(file), dst, size, at);
}

/* Count a write; whether the power is off. */
static bool fails_now(void)
{
    if (power.writes_left == 0)
        power.failed = true;
    else
        power.writes_left--;
    return power.failed;
}

static int write_file(sqlite3_file *file, const void *bytes, int size, sqlite3_int64 at)
{
    if (fails_now())
        return SQLITE_IOERR_WRITE;
    return real_of(file)->pMethods->xWrite(real_of(file), bytes, size, at);
}

static int truncate_file(sqlite3_file *file, sqlite3_int64 size)
{
    if (power.failed)
        return SQLITE_IOERR_TRUNCATE;
    return real_of(file)->pMethods->xTruncate(real_of(file), size);
}

static int sync_file(sqlite3_file *file, int flags)
{
    (void)flags;
    record *synced = ((power_file *)file)->record;
    if (power.failed)
        return SQLITE_IOERR_FSYNC;
    free(synced->synced.bytes);
    synced->synced = read_content(synced->path);
    synced->exists = true;
    return SQLITE_OK;
}

static int size_of_file(sqlite3_file *file, sqlite3_int64 *ret_size)
{
    return real_of(file)->pMethods->xFileSize(real_of(file), ret_size);
}

static int lock_file(sqlite3_file *file, int level)
{
    return real_of(file)->pMethods->xLock(real_of(file), level);
}

static int unlock_file(sqlite3_file *file, int level)
{
    return real_of(file)->pMethods->xUnlock(real_of(file), level);
}

static int check_lock(sqlite3_file *file, int *ret_held)
{
    return real_of(file)->pMethods->xCheckReservedLock(real_of(file), ret_held);
}

static int control_file(sqlite3_file *file, int operation, void *argument)
{
    return real_of(file)->pMethods->xFileControl(real_of(file), operation, argument);
}

static int sector_size(sqlite3_file *file)
{
    (void)file;
    return SECTOR;
}

static int characteristics(sqlite3_file *file)
{
    (void)file;
    return SQLITE_IOCAP_POWERSAFE_OVERWRITE; /* SQLite assumes this of every disk */
}

static const sqlite3_io_methods METHODS = {
    .iVersion = 1, /* without shared memory: a store that locks its file needs none */
    .xClose = close_file,
    .xRead = read_file,
    .xWrite = write_file,
    .xTruncate = truncate_file,
    .xSync = sync_file,
    .xFileSize = size_of_file,
    .xLock = lock_file,
    .xUnlock = unlock_file,
    .xCheckReservedLock = check_lock,
    .xFileControl = control_file,
    .xSectorSize = sector_size,
    .xDeviceCharacteristics = characteristics,
};

/* ---- the VFS ---- */

static int open_file(sqlite3_vfs *vfs, const char *path, sqlite3_file *file, int flags,
                     int *ret_flags)
{
    (void)vfs;
    power_file *opened = (power_file *)file;
    opened->real = (sqlite3_file *)(opened + 1);
    int status = power.real->xOpen(power.real, path, opened->real, flags, ret_flags);
    opened->base.pMethods = opened->real->pMethods ? &METHODS : NULL;
    opened->record = path ? record_of(path) : NULL;
    return status;
}

static int delete_file(sqlite3_vfs *vfs, const char *path, int sync)
{
    (void)vfs;
    if (power.failed)
        return SQLITE_IOERR_DELETE;
    record_of(path)->exists = false;
    return power.real->xDelete(power.real, path, sync);
}

static sqlite3_vfs layer;

void power_begin(size_t after)
{
    power.real = sqlite3_vfs_find("unix");
    power.writes_left = after;
    power.failed = false;
    power.random = after;
    power.count = 0;
    layer = *power.real; /* the functions that are not replaced do not write */
    layer.pNext = NULL;
    layer.zName = "power";
    layer.szOsFile = (int)sizeof(power_file) + power.real->szOsFile;
    layer.xOpen = open_file;
    layer.xDelete = delete_file;
    unit_assert(sqlite3_vfs_register(&layer, 1) == SQLITE_OK);
}

bool power_has_failed(void)
{
    return power.failed;
}

void power_end(void)
{
    sqlite3_vfs_unregister(&layer);
    sqlite3_vfs_register(power.real, 1);
    for (size_t i = 0; i < power.count; i++) {
        if (power.failed)
            tear(&power.records[i]);
        free(power.records[i].synced.bytes);
    }
}
