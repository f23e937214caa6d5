/* The cache: a hash table of reference-counted entries, a least-recently-used list, and single
 * flight. One mutex guards all of it; no table is computed while it is held. */
#include "locks.h"
#include "tables/buffer.h"
#include "tables/entry.h"
#include "tables/failures.h"
#include "tables/shortcuts.h"

#include <stdatomic.h>
#include <stdlib.h>

struct pe_cache {
    pthread_mutex_t lock;
    pthread_cond_t computed; /* broadcast when a computation has ended */
    pe_chains entries;
    pe_entry *newest, *oldest; /* the list of recent use */
    pe_shortcut *shortcuts[PE_SHORTCUT_SLOTS];
    pe_failures failures;
    uint64_t reserved; /* bytes of the large tables that are being computed */
    pe_pool *pool;
    pe_runner runner;
    pe_cache_stats stats;
};

#define FIRST_CHAINS   256
#define TENSOR_PADDING 64 /* bytes between two tensors of a table, at most */

pe_cache *pe_cache_new(uint64_t budget_bytes)
{
    pe_cache *cache = calloc(1, sizeof *cache);
    if (!cache)
        return NULL;
    const bool has_chains = pe_chains_grow(&cache->entries, FIRST_CHAINS);
    cache->pool = pe_pool_new();
    if (!has_chains || !cache->pool) {
        pe_pool_close(cache->pool);
        free(cache->entries.first);
        free(cache);
        return NULL;
    }
    cache->runner.pool = cache->pool;
    cache->stats.budget = budget_bytes;
    pthread_mutex_init(&cache->lock, NULL);
    pthread_cond_init(&cache->computed, NULL);
    return cache;
}

void pe_cache_set_runner(pe_cache *cache, const pe_runner *runner)
{
    cache->runner = *runner;
    cache->runner.pool = cache->pool;
}

pe_pool *pe_cache_pool(pe_cache *cache)
{
    return cache->pool;
}

/* ---- the hash table; the lock is held ---- */

/* Find an entry that serves the request: one that is there, or else one that is in flight. */
static pe_entry *find_entry(pe_cache *cache, const pe_request *request)
{
    pe_entry *found = NULL;
    pe_link *link = pe_chains_find(&cache->entries, request->key_hash);
    for (; link; link = link->next) {
        pe_entry *entry = (pe_entry *)link;
        if (!pe_entry_serves(entry, request))
            continue;
        found = entry;
        if (entry->state == PE_ENTRY_READY)
            break;
    }
    return found;
}

/* Drop an entry and the cache's reference to it. */
static void remove_entry(pe_cache *cache, pe_entry *entry)
{
    pe_chains_remove(&cache->entries, &entry->link);
    pe_entry_unref(entry);
}

/* ---- the list of recent use, and eviction; the lock is held ---- */

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

static void unlist_entry(pe_cache *cache, pe_entry *entry)
{
    if (entry->newer)
        entry->newer->older = entry->older;
    else
        cache->newest = entry->older;
    if (entry->older)
        entry->older->newer = entry->newer;
    else
        cache->oldest = entry->newer;
}

/* Idle blocks may take what the entries leave of the budget. During eviction the entries may
 * exceed it. */
static void limit_idle_memory(pe_cache *cache)
{
    const pe_cache_stats *stats = &cache->stats;
    pe_pool_limit_idle(cache->pool,
                       stats->budget > stats->bytes ? stats->budget - stats->bytes : 0);
}

static void evict_entry(pe_cache *cache, pe_entry *entry)
{
    unlist_entry(cache, entry);
    pe_shortcuts_remove(cache->shortcuts, entry);
    entry->listed = false;
    cache->stats.bytes -= entry->bytes;
    cache->stats.entries--;
    cache->stats.evictions++;
    limit_idle_memory(
        cache); /* raise the limit first, so that the entry's memory may stay idle */
    remove_entry(cache, entry);
}

/* Evict the least recently used entries until `incoming` bytes fit the budget. */
static void make_room(pe_cache *cache, uint64_t incoming)
{
    while (cache->oldest && cache->stats.bytes + incoming > cache->stats.budget)
        evict_entry(cache, cache->oldest);
}

/* Keep an entry whose table has been computed, unless it is larger than the whole budget. */
static void list_computed_entry(pe_cache *cache, pe_entry *entry)
{
    entry->bytes = sizeof *entry + entry->key_length + pe_table_footprint(entry->table);
    if (entry->bytes > cache->stats.budget) {
        remove_entry(cache, entry);
        return;
    }
    make_room(cache, entry->bytes);
    cache->stats.bytes += entry->bytes;
    cache->stats.entries++;
    list_as_newest(cache, entry);
    entry->listed = true;
    limit_idle_memory(cache);
}

/* ---- single flight; the lock is held ---- */

/* Whether the runner ended a computation since its own caller no longer needs it. */
static bool is_abandoned(const pe_runner *runner, pe_status status)
{
    return status == PE_CANCELLED && runner->is_abandoned &&
           runner->is_abandoned(runner->context);
}

/* The bytes that the block of a large table takes; 0 for one that is small, or over the budget.
 */
static uint64_t count_block_bytes(const pe_cache *cache, const pe_request *request)
{
    const uint64_t bytes = pe_request_bytes(request);
    if (bytes < PE_BUFFER_RECYCLED || bytes >= cache->stats.budget)
        return 0;
    return pe_buffer_capacity((size_t)bytes +
                              request->plan.count * (PE_TABLE_HEADROOM + TENSOR_PADDING));
}

/* Compute the table of a new entry, with the lock released meanwhile, and wake those who wait
 * for it. */
static void compute_entry(pe_cache *cache, const pe_request *request, pe_entry *entry)
{
    pe_error error;
    /* evict for a large table before it is computed, so that it can reuse the evicted memory */
    uint64_t room = count_block_bytes(cache, request);
    cache->reserved += room;
    if (room > 0)
        make_room(cache, cache->reserved);
    pthread_mutex_unlock(&cache->lock);
    pe_status status = pe_table_compute(request, &cache->runner, &entry->table, &error);
    bool abandoned = is_abandoned(&cache->runner, status);
    pthread_mutex_lock(&cache->lock);
    cache->reserved -= room;
    if (status == PE_OK) {
        cache->stats.computed++;
        entry->state = PE_ENTRY_READY;
        list_computed_entry(cache, entry);
    } else {
        pe_entry_fail(entry, &error, abandoned);
        pe_failures_add(&cache->failures, entry);
        remove_entry(cache, entry);
    }
    pthread_cond_broadcast(&cache->computed);
}

/* Mark a listed entry as used just now; returns a new reference. */
static pe_entry *mark_used(pe_cache *cache, pe_entry *entry)
{
    unlist_entry(cache, entry);
    list_as_newest(cache, entry);
    return pe_entry_ref(entry);
}

/* Wait until an entry has been computed. Returns a new reference, also if that has failed; NULL
 * if it was abandoned. */
static pe_entry *await_entry(pe_cache *cache, pe_entry *entry)
{
    cache->stats.coalesced++;
    pe_entry_ref(entry);
    while (entry->state == PE_ENTRY_COMPUTING)
        pthread_cond_wait(&cache->computed, &cache->lock);
    if (entry->state != PE_ENTRY_ABANDONED)
        return entry;
    cache->stats.coalesced--;
    pe_entry_unref(entry);
    return NULL;
}

/* Find an entry that serves the request, wait for it, or compute it. Returns a new reference;
 * NULL if memory ran out. The entry may have failed. */
static pe_entry *acquire_entry(pe_cache *cache, const pe_request *request,
                               pe_outcome *ret_outcome)
{
    pe_entry *entry;
    while ((entry = find_entry(cache, request))) {
        if (entry->state == PE_ENTRY_READY) {
            *ret_outcome = PE_HIT;
            cache->stats.hits++;
            return mark_used(cache, entry);
        }
        *ret_outcome = PE_COALESCED;
        pe_entry *awaited = await_entry(cache, entry);
        if (awaited)
            return awaited;
    }
    entry = pe_entry_new(request);
    if (!entry)
        return NULL;
    *ret_outcome = PE_MISS;
    cache->stats.misses++;
    pe_chains_add(&cache->entries, &entry->link);
    compute_entry(cache, request, entry);
    return entry;
}

/* ---- look-ups ---- */

pe_status pe_cache_get(pe_cache *cache, const pe_request *request, pe_entry **ret_entry,
                       pe_outcome *ret_outcome, pe_error *reterr)
{
    pe_outcome outcome = PE_MISS;
    pe_error_init(reterr);
    pthread_mutex_lock(&cache->lock);
    pe_entry *entry = acquire_entry(cache, request, &outcome);
    if (!entry || (entry->state != PE_ENTRY_READY && !entry->error))
        pe_error_add(reterr, PE_NO_MEMORY, "", "", "memory for the table");
    else if (entry->state != PE_ENTRY_READY)
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

pe_lookup pe_cache_try_get(pe_cache *cache, const pe_request *request, pe_entry **ret_entry)
{
    pe_lookup lookup = PE_ABSENT;
    pthread_mutex_lock(&cache->lock);
    pe_entry *entry = find_entry(cache, request);
    if (entry && entry->state == PE_ENTRY_READY) {
        lookup = PE_FOUND;
        *ret_entry = mark_used(cache, entry);
    } else if (entry) {
        lookup = PE_IN_FLIGHT;
    }
    pthread_mutex_unlock(&cache->lock);
    return lookup;
}

void pe_cache_count_use(pe_cache *cache, bool awaited)
{
    pthread_mutex_lock(&cache->lock);
    if (awaited)
        cache->stats.coalesced++;
    else
        cache->stats.hits++;
    pthread_mutex_unlock(&cache->lock);
}

uint64_t pe_cache_moment(pe_cache *cache)
{
    return atomic_load(&cache->failures.count) + 1;
}

bool pe_cache_find_failure(pe_cache *cache, const pe_request *request, uint64_t since,
                           pe_error *reterr)
{
    if (since == 0 || since == pe_cache_moment(cache))
        return false;
    pthread_mutex_lock(&cache->lock);
    const pe_entry *entry = pe_failures_find(&cache->failures, request, since - 1);
    if (entry)
        *reterr = *entry->error;
    pthread_mutex_unlock(&cache->lock);
    return entry != NULL;
}

void *pe_cache_find_shortcut(pe_cache *cache, const char *text, size_t length,
                             pe_entry **ret_entry)
{
    void *object = NULL;
    pthread_mutex_lock(&cache->lock);
    const pe_shortcut *shortcut = pe_shortcuts_find(cache->shortcuts, text, length);
    if (shortcut) {
        cache->stats.hits++;
        object = shortcut->object;
        *ret_entry = mark_used(cache, shortcut->entry);
    }
    pthread_mutex_unlock(&cache->lock);
    return object;
}

void pe_cache_add_shortcut(pe_cache *cache, pe_entry *entry, void *object, const char *text,
                           size_t length)
{
    pthread_mutex_lock(&cache->lock);
    if (entry->listed && !pe_shortcuts_find(cache->shortcuts, text, length))
        pe_shortcuts_add(cache->shortcuts, entry, object, text, length);
    pthread_mutex_unlock(&cache->lock);
}

void pe_cache_read_stats(pe_cache *cache, pe_cache_stats *ret_stats)
{
    pthread_mutex_lock(&cache->lock);
    *ret_stats = cache->stats;
    ret_stats->idle = pe_pool_idle(cache->pool);
    pthread_mutex_unlock(&cache->lock);
}

/* ---- attachments ---- */

/* Count the bytes that an entry has gained in the budget. That may evict entries, this one too;
 * the caller's reference keeps it alive. */
static void charge_entry(pe_cache *cache, pe_entry *entry, size_t bytes)
{
    pthread_mutex_lock(&cache->lock);
    if (entry->listed && entry->bytes + bytes > cache->stats.budget) {
        /* the entry alone is over the budget now: evict it, not first all the others */
        evict_entry(cache, entry);
    } else if (entry->listed) {
        cache->stats.bytes += bytes;
        entry->bytes += bytes;
        make_room(cache, 0);
        limit_idle_memory(cache);
    }
    pthread_mutex_unlock(&cache->lock);
}

void *pe_entry_attachment(pe_cache *cache, pe_entry *entry, unsigned id, const char *variant,
                          pe_attachment_builder build, void *context)
{
    size_t gained;
    void *object = pe_entry_get_attachment(entry, id, variant, build, context, &gained);
    if (gained)
        charge_entry(cache, entry, gained);
    return object;
}

/* ---- freeing ---- */

void pe_cache_free(pe_cache *cache)
{
    if (!cache)
        return;
    cache->stats.budget = 0; /* so that no evicted memory stays idle */
    while (cache->oldest)
        evict_entry(cache, cache->oldest);
    pe_failures_done(&cache->failures);
    pe_pool_close(cache->pool);
    pthread_cond_destroy(&cache->computed);
    pthread_mutex_destroy(&cache->lock);
    free(cache->entries.first);
    free(cache);
}
