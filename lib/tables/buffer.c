/* Allocation of blocks: large ones in huge pages, reused after their release; small ones by
 * malloc. */
#include "tables/buffer.h"

#include "locks.h"

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

struct pe_pool {
    atomic_size_t references; /* its cache's, and one of each large block in use */
    pthread_mutex_t lock;
    idle_block idle[IDLE_MAX]; /* oldest first */
    size_t idle_count;
    uint64_t idle_bytes, idle_limit;
};

/* Bytes of all large blocks: a figure of the process, as malloc's own. */
static atomic_ullong mapped;

/* Take the smallest idle block that is large enough, and at most a quarter larger than needed.
 * NULL if there is none. */
static void *take_idle(pe_pool *pool, size_t capacity, size_t *ret_capacity)
{
    idle_block *idle = pool->idle;
    size_t best = IDLE_MAX;
    pthread_mutex_lock(&pool->lock);
    for (size_t i = 0; i < pool->idle_count; i++)
        if (idle[i].capacity >= capacity && idle[i].capacity <= capacity + capacity / 4 &&
            (best == IDLE_MAX || idle[i].capacity < idle[best].capacity))
            best = i;
    void *block = NULL;
    if (best < IDLE_MAX) {
        block = idle[best].block;
        *ret_capacity = idle[best].capacity;
        pool->idle_bytes -= idle[best].capacity;
        pool->idle_count--;
        for (size_t i = best; i < pool->idle_count; i++)
            idle[i] = idle[i + 1];
    }
    pthread_mutex_unlock(&pool->lock);
    return block;
}

/* Map a block that begins at a multiple of 2 MB, so that all of it can be huge pages. */
static void *map_block(size_t capacity)
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

static void unmap_block(void *block, size_t capacity)
{
    munmap(block, capacity);
    atomic_fetch_sub(&mapped, capacity);
}

size_t pe_buffer_capacity(size_t size)
{
    size_t unit = size < HUGE_PAGE ? ALIGNMENT : HUGE_PAGE;
    return (size + unit - 1) / unit * unit;
}

static void unref_pool(pe_pool *pool)
{
    if (atomic_fetch_sub_explicit(&pool->references, 1, memory_order_acq_rel) > 1)
        return;
    pthread_mutex_destroy(&pool->lock);
    free(pool);
}

void *pe_buffer_allocate(pe_pool *pool, size_t size, size_t *ret_capacity)
{
    if (size > SIZE_MAX / 4)
        return NULL;
    size_t capacity = pe_buffer_capacity(size);
    *ret_capacity = capacity;
    if (capacity < HUGE_PAGE) /* what pe_buffer_release decides by */
        return aligned_alloc(ALIGNMENT, capacity);
    void *block = pool ? take_idle(pool, capacity, ret_capacity) : NULL;
    block = block ? block : map_block(capacity);
    if (block && pool)
        atomic_fetch_add_explicit(&pool->references, 1, memory_order_relaxed);
    return block;
}

/* Return the oldest idle blocks to the system until the others are within the limit. The caller
 * holds the lock. */
static void trim_idle_blocks(pe_pool *pool, uint64_t limit)
{
    idle_block *idle = pool->idle;
    size_t dropped = 0;
    while (dropped < pool->idle_count && pool->idle_bytes > limit) {
        pool->idle_bytes -= idle[dropped].capacity;
        unmap_block(idle[dropped].block, idle[dropped].capacity);
        dropped++;
    }
    pool->idle_count -= dropped;
    for (size_t i = 0; i < pool->idle_count; i++)
        idle[i] = idle[i + dropped];
}

/* Keep a block if the limit allows it. */
static bool keep_idle(pe_pool *pool, void *block, size_t capacity)
{
    pthread_mutex_lock(&pool->lock);
    bool kept = capacity <= pool->idle_limit && pool->idle_count < IDLE_MAX;
    if (kept) {
        trim_idle_blocks(pool, pool->idle_limit - capacity);
        pool->idle[pool->idle_count++] = (idle_block){block, capacity};
        pool->idle_bytes += capacity;
    }
    pthread_mutex_unlock(&pool->lock);
    return kept;
}

void pe_buffer_release(pe_pool *pool, void *block, size_t capacity)
{
    if (!block)
        return;
    if (capacity < HUGE_PAGE) {
        free(block);
        return;
    }
    if (!pool || !keep_idle(pool, block, capacity))
        unmap_block(block, capacity);
    if (pool)
        unref_pool(pool);
}

pe_pool *pe_pool_new(void)
{
    pe_pool *pool = calloc(1, sizeof *pool);
    if (!pool)
        return NULL;
    atomic_init(&pool->references, 1);
    pthread_mutex_init(&pool->lock, NULL);
    return pool;
}

void pe_pool_close(pe_pool *pool)
{
    if (!pool)
        return;
    pe_pool_limit_idle(pool, 0);
    unref_pool(pool);
}

void pe_pool_limit_idle(pe_pool *pool, uint64_t bytes)
{
    pthread_mutex_lock(&pool->lock);
    pool->idle_limit = bytes;
    trim_idle_blocks(pool, bytes);
    pthread_mutex_unlock(&pool->lock);
}

uint64_t pe_pool_idle(pe_pool *pool)
{
    pthread_mutex_lock(&pool->lock);
    uint64_t bytes = pool->idle_bytes;
    pthread_mutex_unlock(&pool->lock);
    return bytes;
}

uint64_t pe_buffer_mapped(void)
{
    return atomic_load(&mapped);
}
