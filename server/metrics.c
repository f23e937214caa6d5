/* Counting, and the exposition format. */
#include "metrics.h"

#include "histogram.h"
#include "process_figures.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#define STATUS_CLASSES 4 /* 2xx … 5xx */

struct server_metrics {
    pe_cache *cache;
    double started;
    size_t route_count;
    histogram (*requests)[STATUS_CLASSES]; /* for each route */
    histogram computations;
    atomic_ullong body_bytes, connections_total;
    atomic_ullong rejected[REJECTIONS];
    atomic_llong connections;
    atomic_ullong under_way, streams;
};

server_metrics *metrics_new(pe_cache *cache)
{
    server_metrics *made = calloc(1, sizeof *made);
    if (!made)
        return NULL;
    made->cache = cache;
    made->started = process_start_time();
    made->route_count = api_route_count();
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

const char *rejection_name(rejection why)
{
    static const char *const names[REJECTED_BY_API] = {
        [REJECTED_NOT] = "none",
        [REJECTED_FRAMING] = "framing",
        [REJECTED_HEADER_DEADLINE] = "header_deadline",
        [REJECTED_BODY_DEADLINE] = "body_deadline",
        [REJECTED_SLOW_READER] = "slow_reader",
        [REJECTED_CONNECTION_LIMIT] = "connection_limit",
        [REJECTED_REQUEST_LIMIT] = "request_limit",
        [REJECTED_STREAM_LIMIT] = "stream_limit",
        [REJECTED_QUEUE_FULL] = "queue_full",
        [REJECTED_UPLOAD_MEMORY] = "upload_memory",
        [REJECTED_DRAINING] = "draining",
    };
    return why < REJECTED_BY_API ? names[why]
                                 : api_refusal_name((api_refusal)(why - REJECTED_BY_API));
}

void metrics_count_request(server_metrics *metrics, size_t route, unsigned status,
                           uint64_t nanoseconds)
{
    histogram_add(&metrics->requests[route][(status / 100 - 2) % STATUS_CLASSES], nanoseconds);
}

void metrics_count_rejected(server_metrics *metrics, rejection why)
{
    if (why != REJECTED_NOT && why != REJECTED_BY_API)
        atomic_fetch_add_explicit(&metrics->rejected[why], 1, memory_order_relaxed);
}

void metrics_count_computation(server_metrics *metrics, uint64_t nanoseconds)
{
    histogram_add(&metrics->computations, nanoseconds);
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

static void write_head(api_text *out, const char *name, const char *type, const char *help)
{
    api_text_add(out, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, type);
}

/* `route="…",method="…",status="2xx"` */
static const char *labels_of(size_t route, unsigned class, char dst[128])
{
    const api_route_name name = api_route_name_at(route);
    snprintf(dst, 128, "route=\"%s\",method=\"%s\",status=\"%uxx\"", name.pattern, name.method,
             class + 2);
    return dst;
}

static void write_requests(server_metrics *metrics, api_text *out)
{
    char labels[128];
    write_head(out, "posenc_requests_total", "counter",
               "Requests answered, by route, method (GET: and HEAD) and status.");
    for (size_t i = 0; i < metrics->route_count; i++)
        for (unsigned class = 0; class < STATUS_CLASSES; class ++)
            api_text_add(out, "posenc_requests_total{%s} %llu\n", labels_of(i, class, labels),
                         (unsigned long long)histogram_count(&metrics->requests[i][class]));
    write_head(out, "posenc_request_duration_seconds", "histogram",
               "Time from the end of a request's head until its answer begins.");
    for (size_t i = 0; i < metrics->route_count; i++)
        for (unsigned class = 0; class < STATUS_CLASSES; class ++)
            histogram_write(&metrics->requests[i][class], "posenc_request_duration_seconds",
                            labels_of(i, class, labels), out);
    write_head(out, "posenc_compute_duration_seconds", "histogram",
               "Time that it took to compute a table.");
    histogram_write(&metrics->computations, "posenc_compute_duration_seconds", "", out);
}

static unsigned long long rejected(server_metrics *metrics, rejection why)
{
    return atomic_load_explicit(&metrics->rejected[why], memory_order_relaxed);
}

static void write_rejected(server_metrics *metrics, api_text *out)
{
    write_head(out, "posenc_rejected_total", "counter",
               "Requests and connections turned away, by reason.");
    for (rejection why = REJECTED_NOT + 1; why < (rejection)REJECTIONS; why++)
        if (why != REJECTED_BY_API)
            api_text_add(out, "posenc_rejected_total{reason=\"%s\"} %llu\n",
                         rejection_name(why), rejected(metrics, why));
}

char *metrics_text(server_metrics *metrics, const api_store *store, size_t waiting,
                   preparation_set *preparations)
{
    pe_cache_stats cache;
    uint64_t sets, set_bytes;
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
         rejected(metrics, REJECTED_CONNECTION_LIMIT)},
        {"posenc_connections_late_total", "counter",
         "Connections closed for missing a deadline.",
         rejected(metrics, REJECTED_HEADER_DEADLINE) +
             rejected(metrics, REJECTED_BODY_DEADLINE) +
             rejected(metrics, REJECTED_SLOW_READER)},
        {"posenc_requests_under_way", "gauge", "Requests begun and not yet answered.",
         atomic_load(&metrics->under_way)},
        {"posenc_streams", "gauge", "Tables that are computed as clients read them.",
         atomic_load(&metrics->streams)},
        {"posenc_jobs_waiting", "gauge", "Requests that wait for a worker or its result.",
         waiting},
    };
    api_text text = {0};
    write_head(&text, "posenc_build_info", "gauge", "The version, as a label.");
    api_text_add(&text, "posenc_build_info{version=\"%s\"} 1\n", PE_VERSION);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        write_head(&text, rows[i].name, rows[i].type, rows[i].help);
        api_text_add(&text, "%s %llu\n", rows[i].name, rows[i].value);
    }
    preparations_write(preparations, &text);
    write_rejected(metrics, &text);
    write_requests(metrics, &text);
    process_figures_write(metrics->started, &text);
    return api_text_take(&text);
}
