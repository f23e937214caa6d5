/* Cache entries: their life, and what is attached to them. */
#include "entry.h"

#include "names.h"

#include <stdlib.h>
#include <string.h>

#define CHAINS_FIRST 4 /* and the most chains there are for each attachment */

typedef struct pe_kept {
    struct pe_kept *next;
    uint64_t hash;
    unsigned id;
    pe_attachment attachment;
    char variant[];
} pe_kept;

pe_entry *pe_entry_new(const pe_request *request)
{
    pe_entry *entry = calloc(1, sizeof *entry);
    if (!entry)
        return NULL;
    entry->key = malloc(request->key_length);
    if (!entry->key) {
        free(entry);
        return NULL;
    }
    memcpy(entry->key, request->key, request->key_length);
    entry->key_length = request->key_length;
    entry->hash = request->key_hash;
    entry->state = PE_ENTRY_COMPUTING;
    atomic_init(&entry->references, 2); /* the table's and the caller's */
    pthread_mutex_init(&entry->attachments_lock, NULL);
    return entry;
}

pe_entry *pe_entry_ref(pe_entry *entry)
{
    atomic_fetch_add_explicit(&entry->references, 1, memory_order_relaxed);
    return entry;
}

static void free_chain(pe_kept *first)
{
    for (pe_kept *next, *kept = first; kept; kept = next) {
        next = kept->next;
        kept->attachment.destroy(kept->attachment.object);
        free(kept);
    }
}

void pe_entry_unref(pe_entry *entry)
{
    if (!entry || atomic_fetch_sub_explicit(&entry->references, 1, memory_order_acq_rel) > 1)
        return;
    for (size_t i = 0; i < entry->chains; i++)
        free_chain(entry->attachments[i]);
    free(entry->attachments);
    pthread_mutex_destroy(&entry->attachments_lock);
    pe_table_unref(entry->table);
    free(entry->error);
    free(entry->key);
    free(entry);
}

pe_table *pe_entry_table(pe_entry *entry)
{
    return entry->table;
}

static size_t node_size(const char *variant)
{
    return sizeof(pe_kept) + strlen(variant) + 1;
}

static uint64_t hash_of(unsigned id, const char *variant)
{
    return pe_name_hash(variant, strlen(variant)) ^ id * UINT64_C(0x9e3779b97f4a7c15);
}

static void add_to_chain(pe_kept **chains, size_t count, pe_kept *kept)
{
    pe_kept **chain = &chains[(kept->hash >> 32) & (count - 1)];
    kept->next = *chain;
    *chain = kept;
}

/* Make room for one more: a variant's options are the client's, who may think of many. False
 * only if there is no chain at all; long ones still serve. Its memory is counted in that of
 * what hangs there. */
static bool widen(pe_entry *entry)
{
    if (entry->kept < entry->chains)
        return true;
    size_t count = entry->chains ? 2 * entry->chains : CHAINS_FIRST;
    pe_kept **wider = calloc(count, sizeof(pe_kept *));
    if (!wider)
        return entry->chains > 0;
    for (size_t i = 0; i < entry->chains; i++)
        for (pe_kept *next, *kept = entry->attachments[i]; kept; kept = next) {
            next = kept->next;
            add_to_chain(wider, count, kept);
        }
    free(entry->attachments);
    entry->attachments = wider;
    entry->chains = count;
    return true;
}

static pe_kept *find_kept(const pe_entry *entry, uint64_t hash, unsigned id,
                          const char *variant)
{
    pe_kept *kept =
        entry->chains ? entry->attachments[(hash >> 32) & (entry->chains - 1)] : NULL;
    while (kept &&
           (kept->hash != hash || kept->id != id || strcmp(kept->variant, variant) != 0))
        kept = kept->next;
    return kept;
}

static pe_kept *build_attachment(pe_entry *entry, unsigned id, const char *variant,
                                 pe_attachment_builder build, void *context)
{
    pe_kept *kept = calloc(1, node_size(variant));
    if (!kept || !build(entry->table, context, &kept->attachment)) {
        free(kept);
        return NULL;
    }
    kept->id = id;
    kept->hash = hash_of(id, variant);
    memcpy(kept->variant, variant, strlen(variant) + 1);
    add_to_chain(entry->attachments, entry->chains, kept);
    entry->kept++;
    return kept;
}

void *pe_entry_find_attachment(pe_entry *entry, unsigned id, const char *variant,
                               pe_attachment_builder build, void *context, size_t *ret_gained)
{
    *ret_gained = 0;
    pthread_mutex_lock(&entry->attachments_lock);
    pe_kept *kept = find_kept(entry, hash_of(id, variant), id, variant);
    if (!kept && build && widen(entry)) {
        kept = build_attachment(entry, id, variant, build, context);
        *ret_gained = kept ? kept->attachment.bytes + node_size(variant) +
                                 CHAINS_FIRST * sizeof(pe_kept *)
                           : 0;
    }
    void *object = kept ? kept->attachment.object : NULL;
    pthread_mutex_unlock(&entry->attachments_lock);
    return object;
}
