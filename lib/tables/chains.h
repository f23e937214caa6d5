/* Hash tables with chains, which are doubled when there are as many members as chains. */
#ifndef PE_CHAINS_H
#define PE_CHAINS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What a member begins with. */
typedef struct pe_link {
    struct pe_link *next; /* in its chain */
    uint64_t hash;
} pe_link;

#define PE_CHAINS_FIRST 4 /* chains of a table when it gets its first member */

/* Initially all zero. There are never more than PE_CHAINS_FIRST chains for a member, unless
 * pe_chains_grow was called. */
typedef struct pe_chains {
    pe_link **first;       /* of each chain; from malloc */
    size_t count, members; /* count: a power of two, or 0 */
} pe_chains;

/* Have `count` chains, a power of two. False, and nothing is changed, without memory. */
bool pe_chains_grow(pe_chains *chains, size_t count);

/* Add a member, whose hash is set. False if there is no table and no memory for one; without
 * memory for a larger one the chains just get longer. */
bool pe_chains_add(pe_chains *chains, pe_link *added);
void pe_chains_remove(pe_chains *chains, const pe_link *removed);

/* The first member of the chain of a hash; NULL if it is empty. */
pe_link *pe_chains_find(const pe_chains *chains, uint64_t hash);

#endif
