/* The cache: a hash table of reference-counted entries, a least-recently-used list, and single
 * flight. One mutex guards both structures; it is never held while something is computed. */
#include "buffer.h"
#include "entry.h"
#include "names.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

struct pe_cache {
    pthread_mutex_t lock;
    pthread_cond_t landed; /* some computation has ended */
    pe_entry **buckets;
    size_t bucket_count; /* a power of two */
    size_t in_table;
    pe_entry *newest, *oldest;
    pe_name *names[PE_NAME_SLOTS];
    uint64_t reserved;       /* what the computations under way will bring, about */
    const pe_runner *runner; /* NULL: none */
    pe_cache_stats stats;
};

#define FIRST_BUCKETS 256

pe_cache *pe_cache_new(uint64_t budget_bytes)
{
    pe_cache *cache = calloc(1, sizeof *cache);
    if (!cache)
        return NULL;
    cache->buckets = calloc(FIRST_BUCKETS, sizeof *cache->buckets);
    if (!cache->buckets) {
        free(cache);
        return NULL;
    }
    cache->bucket_count = FIRST_BUCKETS;
    cache->stats.budget = budget_bytes;
    pthread_mutex_init(&cache->lock, NULL);
    pthread_cond_init(&cache->landed, NULL);
    return cache;
}

/* ---- the table and the list; all with the lock held ---- */

static pe_entry **bucket_of(pe_cache *cache, uint64_t hash)
{
    return &cache->buckets[(hash ^ hash >> 32) & (cache->bucket_count - 1)];
}

static pe_entry *find(pe_cache *cache, const pe_request *request)
{
    pe_entry *entry = *bucket_of(cache, request->key_hash);
    while (entry &&
           (entry->hash != request->key_hash || entry->key_length != request->key_length ||
            memcmp(entry->key, request->key, request->key_length) != 0))
        entry = entry->chain;
    return entry;
}

static void put_in_bucket(pe_cache *cache, pe_entry *entry)
{
    pe_entry **bucket = bucket_of(cache, entry->hash);
    entry->chain = *bucket;
    *bucket = entry;
}

/* Double the buckets; without memory the chains just get longer. */
static void grow(pe_cache *cache)
{
    size_t old_count = cache->bucket_count;
    pe_entry **old = cache->buckets;
    pe_entry **buckets = calloc(2 * old_count, sizeof *buckets);
    if (!buckets)
        return;
    cache->buckets = buckets;
    cache->bucket_count = 2 * old_count;
    for (size_t i = 0; i < old_count; i++)
        for (pe_entry *next, *entry = old[i]; entry; entry = next) {
            next = entry->chain;
            put_in_bucket(cache, entry);
        }
    free(old);
}

static void insert(pe_cache *cache, pe_entry *entry)
{
    if (cache->in_table >= cache->bucket_count)
        grow(cache);
    put_in_bucket(cache, entry);
    cache->in_table++;
}

/* Take an entry out of the table and drop the table's reference to it. */
static void take_out(pe_cache *cache, pe_entry *entry)
{
    pe_entry **at = bucket_of(cache, entry->hash);
    while (*at != entry)
        at = &(*at)->chain;
    *at = entry->chain;
    cache->in_table--;
    pe_entry_unref(entry);
}

static void list_as_newest(pe_cache *cache, pe_entry *entry)
{
    entry->newer = NULL;
    entry->older = cache->newest;
    if (cache->newest)
        cache->newest->newer = entry;
    else
        cache->oldest = entry;
    cache->newest = entry;
}

static void unlist(pe_cache *cache, pe_entry *entry)
{
    *(entry->newer ? &entry->newer->older : &cache->newest) = entry->older;
    *(entry->older ? &entry->older->newer : &cache->oldest) = entry->newer;
}

/* Memory that is idle for the next table counts as well: it gets what entries leave. */
static void share_rest(pe_cache *cache)
{
    const pe_cache_stats *stats = &cache->stats; /* over the budget while entries are dropped */
    pe_buffer_limit_idle(stats->budget > stats->bytes ? stats->budget - stats->bytes : 0);
}

/* Evict one entry. */
static void drop(pe_cache *cache, pe_entry *entry)
{
    unlist(cache, entry);
    pe_names_forget(cache->names, entry);
    entry->listed = false;
    cache->stats.bytes -= entry->bytes;
    cache->stats.entries--;
    cache->stats.evictions++;
    share_rest(cache); /* first, so that its memory can become idle instead of going back */
    take_out(cache, entry);
}

static void evict_to_budget(pe_cache *cache, uint64_t incoming)
{
    while (cache->oldest && cache->stats.bytes + incoming > cache->stats.budget)
        drop(cache, cache->oldest);
}

/* A computation has ended well: keep the entry if the budget can hold it at all. */
static void keep(pe_cache *cache, pe_entry *entry)
{
    entry->bytes = sizeof *entry + entry->key_length + pe_table_footprint(entry->table);
    if (entry->bytes > cache->stats.budget) {
        take_out(cache, entry);
        return;
    }
    evict_to_budget(cache, entry->bytes);
    cache->stats.bytes += entry->bytes;
    cache->stats.entries++;
    list_as_newest(cache, entry);
    entry->listed = true;
    share_rest(cache);
}

/* ---- single flight ---- */

/* Compute a new entry's table with the lock released, and land it. */
static void compute(pe_cache *cache, const pe_request *request, pe_entry *entry)
{
    pe_error error;
    /* make room for a large table beforehand, so that it can have the memory of the evicted
     * ones */
    bool large = request->bytes >= PE_BUFFER_RECYCLED && request->bytes < cache->stats.budget;
    uint64_t room = large ? request->bytes : 0;
    cache->reserved += room;
    if (large)
        evict_to_budget(cache, cache->reserved);
    pthread_mutex_unlock(&cache->lock);
    pe_status status = pe_table_compute(request, cache->runner, &entry->table, &error);
    pthread_mutex_lock(&cache->lock);
    cache->reserved -= room;
    if (status == PE_OK) {
        cache->stats.computed++;
        entry->state = PE_ENTRY_READY;
        keep(cache, entry);
    } else {
        entry->state = PE_ENTRY_FAILED;
        entry->error = malloc(sizeof error);
        if (entry->error)
            *entry->error = error;
        take_out(cache, entry);
    }
    pthread_cond_broadcast(&cache->landed);
}

/* A reference to an entry that was found ready, as the one used last. */
static pe_entry *use(pe_cache *cache, pe_entry *entry)
{
    unlist(cache, entry);
    list_as_newest(cache, entry);
    return pe_entry_ref(entry);
}

/* The entry of the key, found, awaited or computed, with a reference; NULL without memory. */
static pe_entry *acquire(pe_cache *cache, const pe_request *request, pe_outcome *ret_outcome)
{
    pe_entry *entry = find(cache, request);
    if (entry && entry->state == PE_ENTRY_READY) {
        *ret_outcome = PE_HIT;
        cache->stats.hits++;
        return use(cache, entry);
    }
    if (entry) {
        *ret_outcome = PE_COALESCED;
        cache->stats.coalesced++;
        pe_entry_ref(entry);
        while (entry->state == PE_ENTRY_COMPUTING)
            pthread_cond_wait(&cache->landed, &cache->lock);
        return entry;
    }
    entry = pe_entry_new(request);
    if (!entry)
        return NULL;
    *ret_outcome = PE_MISS;
    cache->stats.misses++;
    insert(cache, entry);
    compute(cache, request, entry);
    return entry;
}

pe_status pe_cache_get(pe_cache *cache, const pe_request *request, pe_entry **ret_entry,
                       pe_outcome *ret_outcome, pe_error *reterr)
{
    pe_outcome outcome = PE_MISS;
    pe_error_init(reterr);
    pthread_mutex_lock(&cache->lock);
    pe_entry *entry = acquire(cache, request, &outcome);
    if (!entry || (entry->state == PE_ENTRY_FAILED && !entry->error))
        pe_error_add(reterr, PE_NO_MEMORY, "", "", "memory for the table");
    else if (entry->state == PE_ENTRY_FAILED)
        *reterr = *entry->error;
    pthread_mutex_unlock(&cache->lock);
    if (reterr->status != PE_OK) {
        pe_entry_unref(entry);
        return reterr->status;
    }
    *ret_entry = entry;
    *ret_outcome = outcome;
    return PE_OK;
}

pe_look pe_cache_look(pe_cache *cache, const pe_request *request, bool awaited,
                      pe_entry **ret_entry)
{
    pe_look look = PE_ABSENT;
    pthread_mutex_lock(&cache->lock);
    pe_entry *entry = find(cache, request);
    if (entry && entry->state == PE_ENTRY_READY) {
        look = PE_FOUND;
        *(awaited ? &cache->stats.coalesced : &cache->stats.hits) += 1;
        *ret_entry = use(cache, entry);
    } else if (entry) {
        look = PE_UNDER_WAY;
    }
    pthread_mutex_unlock(&cache->lock);
    return look;
}

void *pe_cache_look_name(pe_cache *cache, const char *text, size_t length, pe_entry **ret_entry)
{
    pthread_mutex_lock(&cache->lock);
    const pe_name *name = pe_names_find(cache->names, text, length);
    void *object = name ? name->object : NULL;
    if (name) {
        cache->stats.hits++;
        *ret_entry = use(cache, name->entry);
    }
    pthread_mutex_unlock(&cache->lock);
    return object;
}

void pe_cache_name(pe_cache *cache, pe_entry *entry, void *object, const char *text,
                   size_t length)
{
    pthread_mutex_lock(&cache->lock);
    if (entry->listed && !pe_names_find(cache->names, text, length))
        pe_names_add(cache->names, entry, object, text, length);
    pthread_mutex_unlock(&cache->lock);
}

/* ---- attachments ---- */

/* Count what an entry has gained. It may be evicted by that itself; its holder keeps it alive.
 * One that has come to take more than the budget is. */
static void charge(pe_cache *cache, pe_entry *entry, size_t bytes)
{
    pthread_mutex_lock(&cache->lock);
    if (entry->listed && entry->bytes + bytes > cache->stats.budget) {
        drop(cache, entry); /* rather than all others, and then this one */
    } else if (entry->listed) {
        cache->stats.bytes += bytes;
        entry->bytes += bytes;
        evict_to_budget(cache, 0);
        share_rest(cache);
    }
    pthread_mutex_unlock(&cache->lock);
}

void *pe_entry_attachment(pe_cache *cache, pe_entry *entry, unsigned id,
                          pe_attachment_builder build, void *context)
{
    return pe_entry_variant(cache, entry, id, "", build, context);
}

void *pe_entry_variant(pe_cache *cache, pe_entry *entry, unsigned id, const char *variant,
                       pe_attachment_builder build, void *context)
{
    size_t gained = 0;
    void *object = pe_entry_find_attachment(entry, id, variant, build, context, &gained);
    if (gained)
        charge(cache, entry, gained);
    return object;
}

/* ---- the end ---- */

void pe_cache_read_stats(pe_cache *cache, pe_cache_stats *ret_stats)
{
    pthread_mutex_lock(&cache->lock);
    *ret_stats = cache->stats;
    ret_stats->idle = pe_buffer_idle();
    pthread_mutex_unlock(&cache->lock);
}

void pe_cache_use(pe_cache *cache, const pe_runner *runner)
{
    cache->runner = runner;
}

void pe_cache_free(pe_cache *cache)
{
    if (!cache)
        return;
    cache->stats.budget = 0;
    evict_to_budget(cache, 1);
    pe_buffer_limit_idle(0);
    pthread_cond_destroy(&cache->landed);
    pthread_mutex_destroy(&cache->lock);
    free(cache->buckets);
    free(cache);
}
