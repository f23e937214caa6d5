#include "observe/memory_limit.h"

#include "observe/process_memory.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PATH_SIZE 1024

static uint64_t min_bytes(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* The number in a file; UINT64_MAX if there is none, as in one that says "max". */
static uint64_t read_limit(const char *path)
{
    char text[32];
    process_read_file(path, text, sizeof text);
    return isdigit((unsigned char)text[0]) ? strtoull(text, NULL, 10) : UINT64_MAX;
}

uint64_t memory_limit_of_group(const char *root, const char *path, const char *file,
                               uint64_t limit)
{
    char folder[PATH_SIZE], whole[2 * PATH_SIZE];
    snprintf(folder, sizeof folder, "%s", path);
    for (char *slash; (slash = strrchr(folder, '/')); *slash = '\0') {
        snprintf(whole, sizeof whole, "%s%s/%s", root, folder, file);
        limit = min_bytes(limit, read_limit(whole));
    }
    snprintf(whole, sizeof whole, "%s/%s", root, file);
    return min_bytes(limit, read_limit(whole));
}

/* The limits of one line of /proc/self/cgroup: "0::PATH" or "NUMBER:CONTROLLERS:PATH". */
static uint64_t limit_of_line(const char *line, uint64_t limit)
{
    const char *controllers = strchr(line, ':');
    const char *path = controllers ? strchr(controllers + 1, ':') : NULL;
    if (!path)
        return limit;
    if (path == controllers + 1)
        return memory_limit_of_group("/sys/fs/cgroup", path + 1, "memory.max", limit);
    char names[PATH_SIZE];
    snprintf(names, sizeof names, ",%.*s,", (int)(path - controllers - 1), controllers + 1);
    if (!strstr(names, ",memory,"))
        return limit;
    return memory_limit_of_group("/sys/fs/cgroup/memory", path + 1, "memory.limit_in_bytes",
                                 limit);
}

uint64_t memory_limit_of_system(void)
{
    char groups[4096];
    long pages = sysconf(_SC_PHYS_PAGES), size = sysconf(_SC_PAGESIZE);
    uint64_t limit = pages > 0 && size > 0 ? (uint64_t)pages * (uint64_t)size : UINT64_MAX;
    process_read_file("/proc/self/cgroup", groups, sizeof groups);
    char *rest = groups;
    for (char *line; (line = strsep(&rest, "\n"));)
        limit = limit_of_line(line, limit);
    return limit;
}
