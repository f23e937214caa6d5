/* Dividing the memory of the server: api/guides/run-for-many.md has the arithmetic. */
#ifndef MEMORY_SHARES_H
#define MEMORY_SHARES_H

#include "settings/settings.h"

/* What was lowered to fit; 0: nothing. */
typedef struct memory_shares {
    uint64_t total;       /* memory-bytes, or what the system has */
    uint64_t own;         /* program, threads, connections, memory that malloc keeps */
    uint64_t requests;    /* what all requests together may hold */
    uint64_t cache, sets; /* cache-bytes; what sets take in memory */
    bool lowered;         /* cache-bytes, max-connections or the memory of sets */
} memory_shares;

/* Divide the memory, and lower what the settings ask for where it does not fit. `system`: what
 * the process may take if memory-bytes is 0. */
memory_shares settings_divide_memory(server_settings *settings, uint64_t system);

#endif
