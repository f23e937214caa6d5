/* Allocation of blocks: large ones in huge pages, reused after their release; small ones by
 * malloc. */
#include "tables/buffer.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/mman.h>

#define HUGE_PAGE PE_BUFFER_RECYCLED
#define ALIGNMENT 64
#define IDLE_MAX  32 /* blocks */

typedef struct idle_block {
    void *block;
    size_t capacity;
} idle_block;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static idle_block idle[IDLE_MAX]; /* oldest first */
static size_t idle_count;
static uint64_t idle_bytes, idle_limit;
static atomic_ullong mapped; /* bytes of all large blocks */

/* Take the smallest idle block that is large enough, and at most a quarter larger than needed.
 * NULL if there is none. */
static void *take_idle(size_t capacity, size_t *ret_capacity)
{
    size_t best = IDLE_MAX;
    pthread_mutex_lock(&lock);
    for (size_t i = 0; i < idle_count; i++)
        if (idle[i].capacity >= capacity && idle[i].capacity <= capacity + capacity / 4 &&
            (best == IDLE_MAX || idle[i].capacity < idle[best].capacity))
            best = i;
    void *block = NULL;
    if (best < IDLE_MAX) {
        block = idle[best].block;
        *ret_capacity = idle[best].capacity;
        idle_bytes -= idle[best].capacity;
        idle_count--;
        for (size_t i = best; i < idle_count; i++)
            idle[i] = idle[i + 1];
    }
    pthread_mutex_unlock(&lock);
    return block;
}

/* Map a block that begins at a multiple of 2 MB, so that all of it can be huge pages. */
static void *map(size_t capacity)
{
    if (capacity > SIZE_MAX / 2)
        return NULL;
    size_t room = capacity + HUGE_PAGE;
    char *start = mmap(NULL, room, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (start == MAP_FAILED)
        return NULL;
    size_t lead = (HUGE_PAGE - (uintptr_t)start % HUGE_PAGE) % HUGE_PAGE;
    if (lead > 0)
        munmap(start, lead);
    munmap(start + lead + capacity, HUGE_PAGE - lead);
    madvise(start + lead, capacity, MADV_HUGEPAGE); /* a hint that may fail */
    atomic_fetch_add(&mapped, capacity);
    return start + lead;
}

static void unmap(void *block, size_t capacity)
{
    munmap(block, capacity);
    atomic_fetch_sub(&mapped, capacity);
}

size_t pe_buffer_capacity(size_t size)
{
    size_t unit = size < HUGE_PAGE ? ALIGNMENT : HUGE_PAGE;
    return (size + unit - 1) / unit * unit;
}

void *pe_buffer_allocate(size_t size, size_t *ret_capacity)
{
    if (size > SIZE_MAX / 4)
        return NULL;
    size_t capacity = pe_buffer_capacity(size);
    if (size < HUGE_PAGE) {
        *ret_capacity = capacity;
        return aligned_alloc(ALIGNMENT, capacity);
    }
    void *block = take_idle(capacity, ret_capacity);
    if (block)
        return block;
    *ret_capacity = capacity;
    return map(capacity);
}

/* Return the oldest idle blocks to the system until the others are within the limit. The caller
 * holds the lock. */
static void trim(uint64_t limit)
{
    size_t dropped = 0;
    while (dropped < idle_count && idle_bytes > limit) {
        idle_bytes -= idle[dropped].capacity;
        unmap(idle[dropped].block, idle[dropped].capacity);
        dropped++;
    }
    idle_count -= dropped;
    for (size_t i = 0; i < idle_count; i++)
        idle[i] = idle[i + dropped];
}

void pe_buffer_release(void *block, size_t capacity)
{
    if (!block)
        return;
    if (capacity < HUGE_PAGE) {
        free(block);
        return;
    }
    pthread_mutex_lock(&lock);
    bool kept = capacity <= idle_limit && idle_count < IDLE_MAX;
    if (kept) {
        trim(idle_limit - capacity);
        idle[idle_count++] = (idle_block){block, capacity};
        idle_bytes += capacity;
    }
    pthread_mutex_unlock(&lock);
    if (!kept)
        unmap(block, capacity);
}

void pe_buffer_limit_idle(uint64_t bytes)
{
    pthread_mutex_lock(&lock);
    idle_limit = bytes;
    trim(bytes);
    pthread_mutex_unlock(&lock);
}

uint64_t pe_buffer_idle(void)
{
    pthread_mutex_lock(&lock);
    uint64_t bytes = idle_bytes;
    pthread_mutex_unlock(&lock);
    return bytes;
}

uint64_t pe_buffer_mapped(void)
{
    return atomic_load(&mapped);
}
