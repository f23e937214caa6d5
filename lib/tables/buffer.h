/* The idle memory behind pe_buffer_allocate: released large blocks are kept for reuse. */
#ifndef PE_BUFFER_H
#define PE_BUFFER_H

#include "posenc.h"

/* Limit the bytes of idle blocks, and return what exceeds the limit to the system at once. The
 * initial limit is 0. */
void pe_buffer_limit_idle(uint64_t bytes);

/* The bytes of memory that pe_buffer_allocate takes for `size` bytes. */
size_t pe_buffer_capacity(size_t size);

/* The bytes of idle blocks now. */
uint64_t pe_buffer_idle(void);

#endif
