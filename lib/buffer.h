/* Memory of tables. Fresh pages of 4 KB fill at about 1 GB/s, slower than tables are computed;
 * so large blocks lie in huge pages, and blocks that become idle are kept for the next table.
 */
#ifndef PE_BUFFER_H
#define PE_BUFFER_H

#include <stddef.h>
#include <stdint.h>

#define PE_BUFFER_RECYCLED ((size_t)2 << 20) /* blocks from this size on are recycled */

/* A block of at least `size` bytes, 64-byte aligned, contents undefined; ret_capacity is what
 * it takes. NULL if memory ran out. Any thread. */
void *pe_buffer_allocate(size_t size, size_t *ret_capacity);

/* Give a block back; it is kept idle if the limit allows. NULL is fine. */
void pe_buffer_release(void *block, size_t capacity);

/* Keep at most so many idle bytes from now on: what is over is returned to the system at once.
 * The limit is 0 at start. */
void pe_buffer_limit_idle(uint64_t bytes);

/* The bytes idle now. */
uint64_t pe_buffer_idle(void);

#endif
