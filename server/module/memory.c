/* Mapped memory for lib/tables/buffer.c where the system maps none. A mapping begins at a
 * multiple of 2 MiB, as the library asks, holds anything, and can be cut at its end or unmapped
 * whole. WebAssembly's memory never shrinks: JavaScript replaces an instance that has become
 * large. */
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>

#define ALIGNMENT    ((size_t)2 << 20)
#define MAPPINGS_MAX 1024

typedef struct mapping {
    char *start; /* NULL: a free place */
    size_t size;
} mapping;
static mapping mappings[MAPPINGS_MAX];

/* The mapping that holds an address; NULL: a free place. */
static mapping *find_mapping(const char *address)
{
    for (size_t i = 0; i < MAPPINGS_MAX; i++) {
        mapping *found = &mappings[i];
        if (address ? found->start && address >= found->start &&
                          address < found->start + found->size
                    : !found->start)
            return found;
    }
    return NULL;
}

void *mmap(void *address, size_t size, int protection, int flags, int file, off_t offset)
{
    (void)address, (void)protection, (void)flags, (void)file, (void)offset;
    mapping *place = find_mapping(NULL);
    char *start = place ? aligned_alloc(ALIGNMENT, size) : NULL;
    if (!start) {
        errno = ENOMEM;
        return MAP_FAILED;
    }
    *place = (mapping){start, size};
    return start;
}

int munmap(void *address, size_t size)
{
    mapping *found = find_mapping(address);
    char *start = address;
    if (!found || start + size != found->start + found->size) {
        errno = EINVAL;
        return -1;
    }
    found->size -= size;
    if (found->size == 0) {
        free(found->start);
        found->start = NULL;
        return 0;
    }
    uintptr_t before = (uintptr_t)found->start;
    found->start = realloc(found->start, found->size);
    if ((uintptr_t)found->start != before)
        __builtin_trap(); /* an allocator that moves what is cut */
    return 0;
}

int madvise(void *address, size_t size, int advice)
{
    (void)address, (void)size, (void)advice;
    return 0;
}
