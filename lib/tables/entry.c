/* Cache entries: reference counting, and the hash table of their attachments. */
#include "tables/entry.h"

#include "tables/shortcuts.h"

#include <stdlib.h>
#include <string.h>

typedef struct pe_attachment_node {
    pe_link link;
    unsigned id;
    bool building; /* the attachment is not there yet; the builder's thread ends this */
    pe_attachment attachment;
    char variant[];
} pe_attachment_node;

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
    entry->link.hash = request->key_hash;
    entry->tensors = request->chosen;
    entry->state = PE_ENTRY_COMPUTING;
    atomic_init(&entry->references, 2); /* the cache's and the caller's */
    pthread_mutex_init(&entry->attachments_lock, NULL);
    pthread_cond_init(&entry->built, NULL);
    return entry;
}

void pe_entry_fail(pe_entry *entry, const pe_error *error, bool abandoned)
{
    entry->state = abandoned ? PE_ENTRY_ABANDONED : PE_ENTRY_FAILED;
    entry->error = malloc(sizeof *error);
    if (entry->error)
        *entry->error = *error;
}

bool pe_entry_serves(const pe_entry *entry, const pe_request *request)
{
    return entry->link.hash == request->key_hash && (request->chosen & ~entry->tensors) == 0 &&
           entry->key_length == request->key_length &&
           memcmp(entry->key, request->key, request->key_length) == 0;
}

pe_entry *pe_entry_ref(pe_entry *entry)
{
    atomic_fetch_add_explicit(&entry->references, 1, memory_order_relaxed);
    return entry;
}

static void free_chain(pe_link *first)
{
    for (pe_link *next, *link = first; link; link = next) {
        pe_attachment_node *node = (pe_attachment_node *)link;
        next = link->next;
        node->attachment.destroy(node->attachment.object);
        free(node);
    }
}

void pe_entry_unref(pe_entry *entry)
{
    if (!entry || atomic_fetch_sub_explicit(&entry->references, 1, memory_order_acq_rel) > 1)
        return;
    for (size_t i = 0; i < entry->attachments.count; i++)
        free_chain(entry->attachments.first[i]);
    free(entry->attachments.first);
    pthread_cond_destroy(&entry->built);
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

/* ---- the hash table of attachments; all with attachments_lock held ---- */

static size_t node_size(const char *variant)
{
    return sizeof(pe_attachment_node) + strlen(variant) + 1;
}

static uint64_t compute_hash(unsigned id, const char *variant)
{
    return pe_hash_text(variant, strlen(variant)) ^ id * UINT64_C(0x9e3779b97f4a7c15);
}

static pe_attachment_node *find_node(const pe_entry *entry, unsigned id, const char *variant)
{
    const uint64_t hash = compute_hash(id, variant);
    pe_link *link = pe_chains_find(&entry->attachments, hash);
    for (; link; link = link->next) {
        pe_attachment_node *node = (pe_attachment_node *)link;
        if (link->hash == hash && node->id == id && strcmp(node->variant, variant) == 0)
            return node;
    }
    return NULL;
}

/* Add a node whose attachment is still to be built. NULL without memory. */
static pe_attachment_node *add_node(pe_entry *entry, unsigned id, const char *variant)
{
    pe_attachment_node *node = calloc(1, node_size(variant));
    if (!node)
        return NULL;
    node->id = id;
    node->link.hash = compute_hash(id, variant);
    node->building = true;
    memcpy(node->variant, variant, strlen(variant) + 1);
    if (pe_chains_add(&entry->attachments, &node->link))
        return node;
    free(node);
    return NULL;
}

/* ---- single flight; attachments_lock is held at entry and exit ---- */

/* Build an attachment, with the lock released meanwhile, so that other attachments do not wait.
 * Wakes those who wait for this one. NULL if that failed. */
static pe_attachment_node *build_node(pe_entry *entry, unsigned id, const char *variant,
                                      pe_attachment_builder build, void *context)
{
    pe_attachment_node *node = add_node(entry, id, variant);
    if (!node)
        return NULL;
    pthread_mutex_unlock(&entry->attachments_lock);
    bool complete = build(entry->table, context, &node->attachment);
    pthread_mutex_lock(&entry->attachments_lock);
    node->building = false;
    if (!complete) {
        pe_chains_remove(&entry->attachments, &node->link);
        free(node);
        node = NULL;
    }
    pthread_cond_broadcast(&entry->built);
    return node;
}

/* Wait until no thread builds the attachment. NULL if building failed. */
static pe_attachment_node *await_node(pe_entry *entry, unsigned id, const char *variant)
{
    pe_attachment_node *node = find_node(entry, id, variant);
    while (node && node->building) {
        pthread_cond_wait(&entry->built, &entry->attachments_lock);
        node = find_node(entry, id, variant); /* it is gone if building failed */
    }
    return node;
}

void *pe_entry_get_attachment(pe_entry *entry, unsigned id, const char *variant,
                              pe_attachment_builder build, void *context, size_t *ret_gained)
{
    *ret_gained = 0;
    pthread_mutex_lock(&entry->attachments_lock);
    pe_attachment_node *node = find_node(entry, id, variant);
    if (node && build) {
        node = await_node(entry, id, variant);
    } else if (build) {
        node = build_node(entry, id, variant, build, context);
        if (node) /* the attachment, its node, and its part of the hash table */
            *ret_gained = node->attachment.bytes + node_size(variant) +
                          PE_CHAINS_FIRST * sizeof *entry->attachments.first;
    }
    void *object = node && !node->building ? node->attachment.object : NULL;
    pthread_mutex_unlock(&entry->attachments_lock);
    return object;
}
