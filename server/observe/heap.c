/* glibc's malloc. Freed memory is kept, because it is soon needed again and new pages are slow.
 * But tables that are evicted leave holes between those that stay, and threads cannot use the
 * holes of another arena. So there is one arena (each thread also has its own cache of small
 * blocks), and the resident free memory is bounded. */
#include "observe/heap.h"

#include "observe/process_memory.h"
#include "posenc.h"

#include <malloc.h>

#define FREE_MAX ((uint64_t)8 << 20) /* bytes that may become free before the next trim */

void heap_configure(void)
{
#ifdef __GLIBC__
    mallopt(M_ARENA_MAX, 1);
    mallopt(M_MMAP_THRESHOLD, 4 << 20);
    mallopt(M_TRIM_THRESHOLD, 32 << 20);
#endif
}

#ifdef __GLIBC_PREREQ
#define HAS_MALLINFO2 __GLIBC_PREREQ(2, 33)
#else
#define HAS_MALLINFO2 0
#endif

#if HAS_MALLINFO2
/* Bytes that are resident and not in use. */
static uint64_t idle_bytes(void)
{
    const process_memory memory = process_memory_now();
    const struct mallinfo2 heap = mallinfo2();
    uint64_t used = heap.uordblks + heap.hblkhd + pe_buffer_mapped();
    uint64_t resident = memory.resident - memory.file_backed;
    return resident > used ? resident - used : 0;
}

/* Memory that remains after a trim cannot be returned by another one, so the next trim waits
 * until FREE_MAX more is idle. */
void heap_trim(void)
{
    static uint64_t remaining; /* idle bytes after the last trim; used by one thread */
    uint64_t idle = idle_bytes();
    if (idle < remaining)
        remaining = idle;
    if (idle > remaining + FREE_MAX) {
        malloc_trim(0);
        remaining = idle_bytes();
    }
}
#else
void heap_trim(void)
{
}
#endif
