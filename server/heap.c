/* glibc's malloc. What is freed is wanted again soon, and fresh pages are slow, so it stays;
 * but tables that leave the cache leave holes between those that stay, and one arena's holes
 * are of no use to threads of another. So there is one arena (small blocks lie in each thread's
 * own cache, beside it), and what is free of it and resident is bounded. */
#include "heap.h"

#include "posenc.h"

#include <fcntl.h>
#include <malloc.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

#define FREE_MAX ((uint64_t)8 << 20)

void heap_set_up(void)
{
#ifdef __GLIBC__
    mallopt(M_ARENA_MAX, 1);
    mallopt(M_MMAP_THRESHOLD, 4 << 20);
    mallopt(M_TRIM_THRESHOLD, 32 << 20);
#endif
}

void heap_read_file(const char *path, char *dst, size_t size)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t length = fd >= 0 ? read(fd, dst, size - 1) : -1;
    if (fd >= 0)
        close(fd);
    dst[length > 0 ? length : 0] = '\0';
}

heap_figures heap_figures_now(void)
{
    char text[96], *at = text;
    heap_figures figures;
    uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
    heap_read_file("/proc/self/statm", text, sizeof text);
    figures.mapped = page * strtoull(at, &at, 10);
    figures.resident = page * strtoull(at, &at, 10);
    figures.of_files = page * strtoull(at, NULL, 10);
    return figures;
}

#ifdef __GLIBC_PREREQ
#define HAS_MALLINFO2 __GLIBC_PREREQ(2, 33)
#else
#define HAS_MALLINFO2 0
#endif

#if HAS_MALLINFO2
/* Resident, and in nobody's use. */
static uint64_t idle_bytes(void)
{
    const heap_figures figures = heap_figures_now();
    const struct mallinfo2 heap = mallinfo2();
    uint64_t used = heap.uordblks + heap.hblkhd + pe_buffer_mapped();
    uint64_t resident = figures.resident - figures.of_files;
    return resident > used ? resident - used : 0;
}

/* What a trim leaves it leaves for good: the next one waits until as much has come anew. */
void heap_trim(void)
{
    static uint64_t left; /* after the last trim; one thread's */
    uint64_t idle = idle_bytes();
    if (idle < left)
        left = idle;
    if (idle > left + FREE_MAX) {
        malloc_trim(0);
        left = idle_bytes();
    }
}
#else
void heap_trim(void)
{
}
#endif
