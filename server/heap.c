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
#include <string.h>
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

uint64_t heap_resident(uint64_t *ret_of_files)
{
    char text[96];
    int fd = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
    ssize_t size = fd >= 0 ? read(fd, text, sizeof text - 1) : -1;
    if (fd >= 0)
        close(fd);
    text[size > 0 ? size : 0] = '\0';
    char *at = strchr(text, ' '); /* after the size of all mappings */
    uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
    uint64_t resident = at ? strtoull(at, &at, 10) : 0;
    *ret_of_files = at ? page * strtoull(at, NULL, 10) : 0;
    return page * resident;
}

#if defined __GLIBC__ && __GLIBC_PREREQ(2, 33)
void heap_trim(void)
{
    uint64_t of_files, resident = heap_resident(&of_files);
    struct mallinfo2 heap = mallinfo2();
    uint64_t used = heap.uordblks + heap.hblkhd + pe_buffer_mapped();
    if (resident - of_files > used + FREE_MAX)
        malloc_trim(0);
}
#else
void heap_trim(void)
{
}
#endif
