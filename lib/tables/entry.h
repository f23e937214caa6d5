/* The inside of a cache entry: a table, its key, and the attachments built from it. */
#ifndef PE_ENTRY_H
#define PE_ENTRY_H

#include "locks.h"
#include "requests/request.h"
#include "tables/chains.h"

#include <stdatomic.h>

typedef enum pe_entry_state {
    PE_ENTRY_COMPUTING,
    PE_ENTRY_READY,
    PE_ENTRY_FAILED,
    PE_ENTRY_ABANDONED /* its caller ended it: whoever else needs it computes anew */
} pe_entry_state;

struct pe_entry {
    pe_link link; /* of the cache's hash table, whose mutex guards it; its hash is constant */
    atomic_uint references; /* the callers', and the cache's while the entry is in its table */
    char *key;
    size_t key_length;
    unsigned tensors; /* that its table has, a bit for each */
    /* guarded by the cache's mutex */
    pe_entry_state state;
    pe_error *error;               /* why it failed; NULL if memory ran out */
    uint64_t bytes;                /* counted in the cache's budget while `listed` */
    bool listed;                   /* in the list of recent use, so kept until it is evicted */
    pe_entry *newer, *older;       /* neighbours in the list of recent use */
    struct pe_shortcut *shortcuts; /* all that lead to this entry; none unless `listed` */
    /* set before the state is PE_ENTRY_READY, then constant */
    pe_table *table;
    /* guarded by attachments_lock, which is not held while an attachment is built */
    pthread_mutex_t attachments_lock;
    pthread_cond_t built; /* broadcast when building an attachment has ended */
    pe_chains attachments;
};

/* Create an entry for the request's key and chosen tensors, in the state PE_ENTRY_COMPUTING,
 * with two references: the cache's and the caller's. NULL if memory ran out. */
pe_entry *pe_entry_new(const pe_request *request);
pe_entry *pe_entry_ref(pe_entry *entry);

/* Set the state after a failure, and keep a copy of the error if there is memory. */
void pe_entry_fail(pe_entry *entry, const pe_error *error, bool abandoned);

/* Whether the entry has the request's key and all of its chosen tensors. */
bool pe_entry_serves(const pe_entry *entry, const pe_request *request);

/* pe_entry_attachment without the cache. Sets *ret_gained to the memory that building the
 * attachment took, 0 if it was there already. */
void *pe_entry_get_attachment(pe_entry *entry, unsigned id, const char *variant,
                              pe_attachment_builder build, void *context, size_t *ret_gained);

#endif
