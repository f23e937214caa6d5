/* Counting, and the exposition format. */
#include "metrics.h"

#include "heap.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define STATUS_CLASSES 6 /* 1xx … 5xx by their first digit */

struct server_metrics {
    pe_cache *cache;
    time_t started;
    size_t route_count;
    const char *const *routes;
    atomic_ullong (*requests)[STATUS_CLASSES];
    atomic_ullong body_bytes, connections_total, refused, late;
    atomic_llong connections;
    atomic_ullong under_way, streams;
};

server_metrics *metrics_new(pe_cache *cache)
{
    server_metrics *made = calloc(1, sizeof *made);
    if (!made)
        return NULL;
    made->cache = cache;
    made->started = time(NULL);
    made->route_count = api_route_labels(&made->routes);
    made->requests = calloc(made->route_count, sizeof *made->requests);
    if (!made->requests) {
        free(made);
        return NULL;
    }
    return made;
}

void metrics_free(server_metrics *metrics)
{
    if (metrics)
        free(metrics->requests);
    free(metrics);
}

void metrics_count_request(server_metrics *metrics, const char *route, unsigned status)
{
    for (size_t i = 0; i < metrics->route_count; i++)
        if (metrics->routes[i] == route)
            atomic_fetch_add_explicit(&metrics->requests[i][status / 100 % STATUS_CLASSES], 1,
                                      memory_order_relaxed);
}

void metrics_count_bytes(server_metrics *metrics, uint64_t bytes)
{
    atomic_fetch_add_explicit(&metrics->body_bytes, bytes, memory_order_relaxed);
}

void metrics_count_connection(server_metrics *metrics, int change)
{
    atomic_fetch_add_explicit(&metrics->connections, change, memory_order_relaxed);
    if (change > 0)
        atomic_fetch_add_explicit(&metrics->connections_total, 1, memory_order_relaxed);
}

static uint64_t count(atomic_ullong *counter, int change)
{
    unsigned long long by = (unsigned long long)change; /* wraps around for -1 */
    return atomic_fetch_add(counter, by) + by;
}

uint64_t metrics_count_under_way(server_metrics *metrics, int change)
{
    return count(&metrics->under_way, change);
}

uint64_t metrics_count_stream(server_metrics *metrics, int change)
{
    return count(&metrics->streams, change);
}

void metrics_count_refused(server_metrics *metrics)
{
    atomic_fetch_add_explicit(&metrics->refused, 1, memory_order_relaxed);
}

void metrics_count_late(server_metrics *metrics)
{
    atomic_fetch_add_explicit(&metrics->late, 1, memory_order_relaxed);
}

static void write_head(api_text *out, const char *name, const char *type, const char *help)
{
    api_text_add(out, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, type);
}

static void write_requests(server_metrics *metrics, api_text *out)
{
    write_head(out, "posenc_requests_total", "counter",
               "Requests answered, by route and status.");
    for (size_t i = 0; i < metrics->route_count; i++)
        for (unsigned class = 2; class < STATUS_CLASSES; class ++)
            api_text_add(out, "posenc_requests_total{route=\"%s\",status=\"%uxx\"} %llu\n",
                         metrics->routes[i], class, atomic_load(&metrics->requests[i][class]));
}

char *metrics_text(server_metrics *metrics, const api_store *store, size_t waiting,
                   preparation_set *preparations)
{
    pe_cache_stats cache;
    uint64_t sets, set_bytes, of_files;
    pe_cache_read_stats(metrics->cache, &cache);
    store->totals(store->context, &sets, &set_bytes);
    const struct {
        const char *name, *type, *help;
        unsigned long long value;
    } rows[] = {
        {"posenc_computed_total", "counter", "Tables computed.", cache.computed},
        {"posenc_cache_hits_total", "counter", "Requests that found their table.", cache.hits},
        {"posenc_cache_misses_total", "counter", "Requests that had it computed.",
         cache.misses},
        {"posenc_cache_coalesced_total", "counter",
         "Requests that awaited a computation under way.", cache.coalesced},
        {"posenc_cache_evictions_total", "counter", "Entries evicted.", cache.evictions},
        {"posenc_cache_bytes", "gauge", "Memory of the cached entries.", cache.bytes},
        {"posenc_cache_idle_bytes", "gauge", "Memory kept for the next table.", cache.idle},
        {"posenc_cache_budget_bytes", "gauge",
         "What posenc_cache_bytes and posenc_cache_idle_bytes never pass together.",
         cache.budget},
        {"posenc_cache_entries", "gauge", "Cached entries.", cache.entries},
        {"posenc_store_sets", "gauge", "Stored sets of trained tensors.", sets},
        {"posenc_store_bytes", "gauge", "Bytes of the stored sets.", set_bytes},
        {"posenc_response_body_bytes_total", "counter", "Bytes of the bodies answered with.",
         atomic_load(&metrics->body_bytes)},
        {"posenc_connections_total", "counter", "Connections accepted.",
         atomic_load(&metrics->connections_total)},
        {"posenc_connections", "gauge", "Connections open.",
         (unsigned long long)atomic_load(&metrics->connections)},
        {"posenc_connections_refused_total", "counter", "Connections turned away at the limit.",
         atomic_load(&metrics->refused)},
        {"posenc_connections_late_total", "counter",
         "Connections closed for missing a deadline.", atomic_load(&metrics->late)},
        {"posenc_requests_under_way", "gauge", "Requests begun and not yet answered.",
         atomic_load(&metrics->under_way)},
        {"posenc_streams", "gauge", "Tables that are computed as clients read them.",
         atomic_load(&metrics->streams)},
        {"posenc_jobs_waiting", "gauge", "Requests that wait for a worker or its result.",
         waiting},
        {"process_resident_memory_bytes", "gauge", "Resident memory size in bytes.",
         heap_resident(&of_files)},
        {"process_start_time_seconds", "gauge", "Start time since the epoch in seconds.",
         (unsigned long long)metrics->started},
    };
    api_text text = {0};
    write_head(&text, "posenc_build_info", "gauge", "The version, as a label.");
    api_text_add(&text, "posenc_build_info{version=\"%s\"} 1\n", PE_VERSION);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        write_head(&text, rows[i].name, rows[i].type, rows[i].help);
        api_text_add(&text, "%s %llu\n", rows[i].name, rows[i].value);
    }
    preparations_write(preparations, &text);
    write_requests(metrics, &text);
    return api_text_take(&text);
}
