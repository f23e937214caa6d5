/* Cache entries: their life, and what is attached to them. */
#include "entry.h"

#include <stdlib.h>
#include <string.h>

typedef struct pe_kept {
    struct pe_kept *next;
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

void pe_entry_unref(pe_entry *entry)
{
    if (!entry || atomic_fetch_sub_explicit(&entry->references, 1, memory_order_acq_rel) > 1)
        return;
    for (pe_kept *next, *kept = entry->attachments; kept; kept = next) {
        next = kept->next;
        kept->attachment.destroy(kept->attachment.object);
        free(kept);
    }
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

static size_t kept_size(const char *variant)
{
    return sizeof(pe_kept) + strlen(variant) + 1;
}

static pe_kept *build_attachment(pe_entry *entry, unsigned id, const char *variant,
                                 pe_attachment_builder build, void *context)
{
    pe_kept *kept = calloc(1, kept_size(variant));
    if (!kept || !build(entry->table, context, &kept->attachment)) {
        free(kept);
        return NULL;
    }
    kept->id = id;
    memcpy(kept->variant, variant, strlen(variant) + 1);
    kept->next = entry->attachments;
    entry->attachments = kept;
    return kept;
}

void *pe_entry_find_attachment(pe_entry *entry, unsigned id, const char *variant,
                               pe_attachment_builder build, void *context, size_t *ret_gained)
{
    *ret_gained = 0;
    pthread_mutex_lock(&entry->attachments_lock);
    pe_kept *kept = entry->attachments;
    while (kept && (kept->id != id || strcmp(kept->variant, variant) != 0))
        kept = kept->next;
    if (!kept && build) {
        kept = build_attachment(entry, id, variant, build, context);
        *ret_gained = kept ? kept->attachment.bytes + kept_size(variant) : 0;
    }
    void *object = kept ? kept->attachment.object : NULL;
    pthread_mutex_unlock(&entry->attachments_lock);
    return object;
}
