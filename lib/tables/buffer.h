/* Pools: large blocks that were released and are kept for reuse. */
#ifndef PE_BUFFER_H
#define PE_BUFFER_H

#include "posenc.h"

/* A pool that keeps nothing until it has a limit. NULL if memory ran out. */
pe_pool *pe_pool_new(void);

/* Return the idle blocks to the system. The pool itself lives as long as a block of it is in
 * use. It may be NULL. */
void pe_pool_close(pe_pool *pool);

/* Limit the bytes of idle blocks, and return what exceeds the limit to the system at once. */
void pe_pool_limit_idle(pe_pool *pool, uint64_t bytes);

/* The bytes of idle blocks now. */
uint64_t pe_pool_idle(pe_pool *pool);

/* The bytes of memory that pe_buffer_allocate takes for `size` bytes. */
size_t pe_buffer_capacity(size_t size);

#endif
