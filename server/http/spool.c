#include "http/spool.h"

#include "observe/log.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Create the file and remove its name. */
static bool create_file(http_spool *spool, const char *directory)
{
    char path[4096];
    int length = snprintf(path, sizeof path, "%s/posenc-body-XXXXXX", directory);
    if (length < 0 || (size_t)length >= sizeof path) {
        errno = ENAMETOOLONG;
        return false;
    }
    spool->fd = mkostemp(path, O_CLOEXEC);
    return spool->fd >= 0 && unlink(path) == 0;
}

static bool write_fully(http_spool *spool, const char *data, size_t size)
{
    for (size_t done = 0; done < size;) {
        ssize_t written =
            pwrite(spool->fd, data + done, size - done, (off_t)(spool->size + done));
        if (written < 0 && errno == EINTR)
            continue;
        if (written <= 0)
            return false;
        done += (size_t)written;
    }
    spool->size += size;
    return true;
}

bool http_spool_write(http_spool *spool, const char *directory, const void *data, size_t size)
{
    if ((spool->fd >= 0 || create_file(spool, directory)) && write_fully(spool, data, size))
        return true;
    const log_field fields[] = {{.name = "directory", .text = directory},
                                {.name = "reason", .text = strerror(errno)},
                                {0}};
    log_event(LOG_LEVEL_ERROR, "a long body cannot be kept in spool-dir", fields);
    return false;
}

bool http_spool_read(const http_spool *spool, uint64_t offset, void *dst, size_t size)
{
    for (size_t done = 0; done < size;) {
        ssize_t got = pread(spool->fd, (char *)dst + done, size - done, (off_t)(offset + done));
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return false;
        done += (size_t)got;
    }
    return true;
}

void http_spool_close(http_spool *spool)
{
    if (spool->fd >= 0)
        close(spool->fd);
    spool->fd = -1;
}
