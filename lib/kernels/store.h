/* Storing what was made in a buffer that stays in the L1 cache: past the caches if the whole
 * table is large. */
#ifndef PE_STORE_H
#define PE_STORE_H

#include "kernels/kernel.h"

#include <string.h>

/* The kernel whose nontemporal copy writes a table of so many bytes; NULL if memcpy does. */
static inline const pe_kernel *pe_streaming_kernel(uint64_t bytes)
{
    return bytes >= PE_NONTEMPORAL_MIN ? pe_kernel_get() : NULL;
}

static inline void pe_store(const pe_kernel *nontemporal, void *dst, const void *src,
                            size_t size)
{
    if (nontemporal)
        nontemporal->stream(dst, src, size);
    else
        memcpy(dst, src, size);
}

/* Call it after the last store. */
static inline void pe_store_end(const pe_kernel *nontemporal)
{
    if (nontemporal)
        nontemporal->fence();
}

#endif
