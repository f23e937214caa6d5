/* Hash tables with chains. */
#include "tables/chains.h"

#include <stdlib.h>

static pe_link **find_chain(const pe_chains *chains, uint64_t hash)
{
    return &chains->first[(hash ^ hash >> 32) & (chains->count - 1)];
}

static void insert_link(pe_chains *chains, pe_link *added)
{
    pe_link **chain = find_chain(chains, added->hash);
    added->next = *chain;
    *chain = added;
}

bool pe_chains_grow(pe_chains *chains, size_t count)
{
    pe_chains larger = {calloc(count, sizeof *larger.first), count, chains->members};
    if (!larger.first)
        return false;
    for (size_t i = 0; i < chains->count; i++)
        for (pe_link *next, *link = chains->first[i]; link; link = next) {
            next = link->next;
            insert_link(&larger, link);
        }
    free(chains->first);
    *chains = larger;
    return true;
}

bool pe_chains_add(pe_chains *chains, pe_link *added)
{
    const size_t count = chains->count;
    if (chains->members >= count &&
        !pe_chains_grow(chains, count > 0 ? 2 * count : PE_CHAINS_FIRST) && count == 0)
        return false;
    insert_link(chains, added);
    chains->members++;
    return true;
}

void pe_chains_remove(pe_chains *chains, const pe_link *removed)
{
    pe_link **link = find_chain(chains, removed->hash);
    while (*link != removed)
        link = &(*link)->next;
    *link = removed->next;
    chains->members--;
}

pe_link *pe_chains_find(const pe_chains *chains, uint64_t hash)
{
    return chains->count > 0 ? *find_chain(chains, hash) : NULL;
}
