/* The inside of a cache entry. */
#ifndef PE_ENTRY_H
#define PE_ENTRY_H

#include "request.h"

#include <pthread.h>
#include <stdatomic.h>

typedef enum pe_entry_state {
    PE_ENTRY_COMPUTING,
    PE_ENTRY_READY,
    PE_ENTRY_FAILED
} pe_entry_state;

struct pe_entry {
    atomic_uint
        references; /* the cache's own, while the entry is in the table, and the callers' */
    char *key;
    size_t key_length;
    uint64_t hash;
    /* guarded by the cache's mutex */
    pe_entry_state state;
    pe_error *error; /* of a failed entry; NULL if memory ran out */
    uint64_t bytes;  /* counted in the budget, while listed */
    bool listed;
    pe_entry *chain;         /* next in the bucket */
    pe_entry *newer, *older; /* in the list of use */
    struct pe_name *names;   /* shortcuts that lead here; none unless listed */
    /* set before it is ready, then constant */
    pe_table *table;
    /* guarded by the entry's own mutex */
    pthread_mutex_t attachments_lock;
    struct pe_kept **attachments; /* chains by hash; NULL before the first one */
    size_t chains, kept;          /* chains: a power of two */
};

/* An entry for the request's key, being computed, with two references: the cache's and the
 * caller's. NULL if memory ran out. */
pe_entry *pe_entry_new(const pe_request *request);
pe_entry *pe_entry_ref(pe_entry *entry);

/* As pe_entry_variant, without the cache: ret_gained is the memory that building it took. */
void *pe_entry_find_attachment(pe_entry *entry, unsigned id, const char *variant,
                               pe_attachment_builder build, void *context, size_t *ret_gained);

#endif
