/* The memory behind pe_buffer_allocate: large blocks that become idle are kept for the next. */
#ifndef PE_BUFFER_H
#define PE_BUFFER_H

#include "posenc.h"

/* Keep at most so many idle bytes from now on: what is over is returned to the system at once.
 * The limit is 0 at start. */
void pe_buffer_limit_idle(uint64_t bytes);

/* The bytes idle now. */
uint64_t pe_buffer_idle(void);

#endif
