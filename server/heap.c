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

#if defined __GLIBC__ && __GLIBC_PREREQ(2, 33)
void heap_trim(void)
{
    const heap_figures figures = heap_figures_now();
    struct mallinfo2 heap = mallinfo2();
    uint64_t used = heap.uordblks + heap.hblkhd + pe_buffer_mapped();
    if (figures.resident - figures.of_files > used + FREE_MAX)
        malloc_trim(0);
}
#else
void heap_trim(void)
{
}
#endif
