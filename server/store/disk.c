/* Directories, files and space on a disk. The file of the reserve stays open once it exists, so
 * that its space can be given up and taken again even if opening it is no longer permitted. */
#include "store/disk.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#define RESERVE ((off_t)1 << 20) /* bytes: more than any step of a deletion writes */

/* Write a directory's entries to the disk. */
static bool sync_directory(const char *path)
{
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    bool synced = fd >= 0 && fsync(fd) == 0;
    if (fd >= 0)
        close(fd);
    return synced;
}

bool disk_make_directory(const char *path)
{
    if (mkdir(path, 0700) != 0)
        return errno == EEXIST;
    char parent[PATH_MAX];
    int length = snprintf(parent, sizeof parent, "%s/..", path);
    return length < (int)sizeof parent && sync_directory(parent);
}

bool disk_make_file(const char *path)
{
    int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    return fd >= 0 && close(fd) == 0;
}

uint64_t disk_free(const char *path)
{
    struct statvfs disk;
    return statvfs(path, &disk) == 0 ? (uint64_t)disk.f_bavail * disk.f_frsize : UINT64_MAX;
}

bool disk_reserve_init(disk_reserve *reserve, const char *directory)
{
    reserve->fd = -1;
    reserve->held = false;
    int length = snprintf(reserve->path, sizeof reserve->path, "%s/reserve", directory);
    return length < (int)sizeof reserve->path;
}

void disk_reserve_done(disk_reserve *reserve)
{
    if (reserve->fd >= 0)
        close(reserve->fd);
}

bool disk_reserve_take(disk_reserve *reserve)
{
    if (reserve->held)
        return true;
    if (reserve->fd < 0)
        reserve->fd = open(reserve->path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    int error = reserve->fd < 0 ? errno : posix_fallocate(reserve->fd, 0, RESERVE);
    reserve->held = error == 0;
    return error != ENOSPC && error != EDQUOT && error != EFBIG;
}

bool disk_reserve_free(disk_reserve *reserve)
{
    bool given_up = reserve->held && ftruncate(reserve->fd, 0) == 0;
    reserve->held = reserve->held && !given_up;
    return given_up;
}
