#include "observe/process_memory.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

void process_read_file(const char *path, char *dst, size_t size)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t length = fd >= 0 ? read(fd, dst, size - 1) : -1;
    if (fd >= 0)
        close(fd);
    dst[length > 0 ? length : 0] = '\0';
}

process_memory process_memory_now(void)
{
    char text[96], *next = text;
    process_memory memory;
    uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
    process_read_file("/proc/self/statm", text, sizeof text);
    memory.mapped = page * strtoull(next, &next, 10);
    memory.resident = page * strtoull(next, &next, 10);
    memory.file_backed = page * strtoull(next, NULL, 10);
    return memory;
}
