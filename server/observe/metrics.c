#include "observe/metrics.h"

#include "observe/histogram.h"
#include "observe/process_figures.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#define STATUS_CLASSES 4 /* 2xx … 5xx */

struct server_metrics {
    pe_cache *cache;
    double started;
    size_t series_count; /* by route, method and status */
    histogram *requests; /* one for each series, those of a route together */
    histogram computations, callbacks, callback_work;
    atomic_ullong body_bytes, connections_total;
    atomic_ullong rejected[REJECTION_COUNT];
    atomic_llong connections;
    atomic_ullong under_way, streams;
};

server_metrics *metrics_new(pe_cache *cache)
{
    server_metrics *metrics = calloc(1, sizeof *metrics);
    if (!metrics)
        return NULL;
    metrics->cache = cache;
    metrics->started = process_start_time();
    metrics->series_count = api_route_count() * STATUS_CLASSES;
    metrics->requests = calloc(metrics->series_count, sizeof *metrics->requests);
    if (!metrics->requests) {
        free(metrics);
        return NULL;
    }
    return metrics;
}

void metrics_free(server_metrics *metrics)
{
    if (metrics)
        free(metrics->requests);
    free(metrics);
}

const char *rejection_name(rejection reason)
{
    static const char *const names[REJECTION_COUNT] = {[REJECTED_NOT] = "none",
#define REJECTION(name, word) [REJECTED_##name] = (word),
                                                       REJECTIONS(REJECTION)
#undef REJECTION
    };
    return names[reason];
}

rejection rejection_by_api(api_refusal refusal)
{
    static const rejection rejections[] = {[API_REFUSAL_NONE] = REJECTED_NOT,
#define REFUSAL(name, word) [API_REFUSAL_##name] = REJECTED_##name,
                                           API_REFUSALS(REFUSAL)
#undef REFUSAL
    };
    return rejections[refusal];
}

void metrics_count_request(server_metrics *metrics, size_t route, unsigned status,
                           uint64_t nanoseconds)
{
    const size_t series = route * STATUS_CLASSES + (status / 100 - 2) % STATUS_CLASSES;
    histogram_add(&metrics->requests[series], HISTOGRAM_WORK, nanoseconds);
}

void metrics_count_rejected(server_metrics *metrics, rejection reason)
{
    if (reason != REJECTED_NOT)
        atomic_fetch_add_explicit(&metrics->rejected[reason], 1, memory_order_relaxed);
}

void metrics_count_computation(server_metrics *metrics, uint64_t nanoseconds)
{
    histogram_add(&metrics->computations, HISTOGRAM_WORK, nanoseconds);
}

void metrics_count_callback(server_metrics *metrics, uint64_t nanoseconds)
{
    histogram_add(&metrics->callbacks, HISTOGRAM_STAYS, nanoseconds);
}

void metrics_count_callback_work(server_metrics *metrics, uint64_t nanoseconds)
{
    histogram_add(&metrics->callback_work, HISTOGRAM_STAYS, nanoseconds);
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

/* Change a counter and return its new value. */
static uint64_t adjust_gauge(atomic_ullong *counter, int change)
{
    unsigned long long added = (unsigned long long)change; /* -1 wraps around */
    return atomic_fetch_add(counter, added) + added;
}

uint64_t metrics_count_under_way(server_metrics *metrics, int change)
{
    return adjust_gauge(&metrics->under_way, change);
}

uint64_t metrics_count_stream(server_metrics *metrics, int change)
{
    return adjust_gauge(&metrics->streams, change);
}

static void write_head(api_text *out, const char *name, const char *type, const char *help)
{
    api_text_add(out, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, type);
}

/* route="…",method="…",status="2xx" */
static const char *write_labels(size_t series, char dst[128])
{
    const api_route_name name = api_route_name_get(series / STATUS_CLASSES);
    snprintf(dst, 128, "route=\"%s\",method=\"%s\",status=\"%zuxx\"", name.pattern, name.method,
             series % STATUS_CLASSES + 2);
    return dst;
}

/* Durations first, since the first answer of a route may come between the two: so whatever has
 * a duration has a total. */
static void write_requests(server_metrics *metrics, api_text *out)
{
    char labels[128];
    write_head(out, "posenc_request_duration_seconds", "histogram",
               "Time from the end of a request's head to the begin of its response, by route, "
               "method and status.");
    for (size_t i = 0; i < metrics->series_count; i++)
        if (histogram_count(&metrics->requests[i]) > 0)
            histogram_write(&metrics->requests[i], HISTOGRAM_WORK,
                            "posenc_request_duration_seconds", write_labels(i, labels), out);
    write_head(out, "posenc_requests_total", "counter",
               "Requests answered, by route (a pattern, never a path), method (GET includes "
               "HEAD) and status (2xx to 5xx).");
    for (size_t i = 0; i < metrics->series_count; i++) {
        const unsigned long long count = histogram_count(&metrics->requests[i]);
        if (count > 0)
            api_text_add(out, "posenc_requests_total{%s} %llu\n", write_labels(i, labels),
                         count);
    }
}

static void write_durations(api_text *out, const char *name, const char *help,
                            histogram *durations, const histogram_bound *bounds)
{
    write_head(out, name, "histogram", help);
    histogram_write(durations, bounds, name, "", out);
}

static void write_work(server_metrics *metrics, api_text *out)
{
    write_durations(out, "posenc_compute_duration_seconds", "Time to compute a table.",
                    &metrics->computations, HISTOGRAM_WORK);
    write_durations(out, "posenc_callback_duration_seconds",
                    "Time that an event thread spent at once on a part of a request or stream; "
                    "above 0.005 others wait.",
                    &metrics->callbacks, HISTOGRAM_STAYS);
    write_durations(out, "posenc_callback_cpu_seconds",
                    "Processor time that an event thread spent at once on a request with a "
                    "body, or on a part of a stream.",
                    &metrics->callback_work, HISTOGRAM_STAYS);
}

static unsigned long long load_rejection_count(server_metrics *metrics, rejection reason)
{
    return atomic_load_explicit(&metrics->rejected[reason], memory_order_relaxed);
}

static void write_rejected(server_metrics *metrics, api_text *out)
{
#define REJECTION(name, word) " " word
    write_head(out, "posenc_rejected_total", "counter",
               "Requests and connections turned away, by reason:" REJECTIONS(REJECTION) ".");
#undef REJECTION
    for (rejection reason = REJECTED_NOT + 1; reason < REJECTION_COUNT; reason++) {
        const unsigned long long count = load_rejection_count(metrics, reason);
        if (count > 0)
            api_text_add(out, "posenc_rejected_total{reason=\"%s\"} %llu\n",
                         rejection_name(reason), count);
    }
}

typedef struct metric_row {
    const char *name, *type, *help;
    unsigned long long value;
} metric_row;

static void write_rows(const metric_row *rows, size_t count, api_text *out)
{
    for (size_t i = 0; i < count; i++) {
        write_head(out, rows[i].name, rows[i].type, rows[i].help);
        api_text_add(out, "%s %llu\n", rows[i].name, rows[i].value);
    }
}

static void write_cache(pe_cache *cache, api_text *out)
{
    pe_cache_stats stats;
    pe_cache_read_stats(cache, &stats);
    const metric_row rows[] = {
        {"posenc_computed_total", "counter", "Tables computed.", stats.computed},
        {"posenc_cache_hits_total", "counter", "Requests whose table was cached.", stats.hits},
        {"posenc_cache_misses_total", "counter", "Requests whose table had to be computed.",
         stats.misses},
        {"posenc_cache_coalesced_total", "counter",
         "Requests that waited for another request's computation.", stats.coalesced},
        {"posenc_cache_evictions_total", "counter", "Cache entries evicted.", stats.evictions},
        {"posenc_cache_bytes", "gauge", "Bytes of the cached entries.", stats.bytes},
        {"posenc_cache_idle_bytes", "gauge",
         "Bytes of free memory that the cache keeps for new tables.", stats.idle},
        {"posenc_cache_budget_bytes", "gauge",
         "Upper bound on the sum of posenc_cache_bytes and posenc_cache_idle_bytes.",
         stats.budget},
        {"posenc_cache_entries", "gauge", "Cached entries.", stats.entries},
    };
    write_rows(rows, sizeof rows / sizeof *rows, out);
}

static void write_store(const api_store *store, api_text *out)
{
    uint64_t sets, bytes;
    store->totals(store->context, &sets, &bytes);
    const metric_row rows[] = {
        {"posenc_store_sets", "gauge", "Sets of trained tensors.", sets},
        {"posenc_store_bytes", "gauge", "Bytes of the sets.", bytes},
        {"posenc_store_up", "gauge", "1 while what keeps the sets can be reached, else 0.",
         store->is_up(store->context)},
    };
    write_rows(rows, sizeof rows / sizeof *rows, out);
}

static void write_traffic(server_metrics *metrics, size_t waiting, api_text *out)
{
    const metric_row rows[] = {
        {"posenc_response_body_bytes_total", "counter", "Bytes of response bodies.",
         atomic_load(&metrics->body_bytes)},
        {"posenc_connections_total", "counter", "Connections accepted.",
         atomic_load(&metrics->connections_total)},
        {"posenc_connections", "gauge", "Connections open.",
         (unsigned long long)atomic_load(&metrics->connections)},
        {"posenc_connections_refused_total", "counter", "Connections refused at the limit.",
         load_rejection_count(metrics, REJECTED_CONNECTION_LIMIT)},
        {"posenc_connections_late_total", "counter",
         "Connections closed for missing a deadline.",
         load_rejection_count(metrics, REJECTED_HEADER_DEADLINE) +
             load_rejection_count(metrics, REJECTED_BODY_DEADLINE) +
             load_rejection_count(metrics, REJECTED_SLOW_READER)},
        {"posenc_requests_under_way", "gauge", "Requests that have begun and not yet ended.",
         atomic_load(&metrics->under_way)},
        {"posenc_streams", "gauge", "Tables that are computed while clients read them.",
         atomic_load(&metrics->streams)},
        {"posenc_jobs_waiting", "gauge",
         "Requests that wait for a worker or for another request's result.", waiting},
    };
    write_rows(rows, sizeof rows / sizeof *rows, out);
}

static void write_memory(api_memory *memory, api_text *out)
{
    const metric_row rows[] = {
        {"posenc_memory_reserved_bytes", "gauge",
         "Bytes that requests have reserved, besides the cache.", api_memory_reserved(memory)},
        {"posenc_memory_limit_bytes", "gauge", "Upper bound on posenc_memory_reserved_bytes.",
         api_memory_limit(memory)},
    };
    write_rows(rows, sizeof rows / sizeof *rows, out);
}

char *metrics_text(server_metrics *metrics, const api_store *store, api_memory *memory,
                   size_t waiting, preparation_set *preparations)
{
    api_text text = {0};
    write_head(&text, "posenc_build_info", "gauge", "The version of posenc, as a label.");
    api_text_add(&text, "posenc_build_info{version=\"%s\"} 1\n", PE_VERSION);
    write_cache(metrics->cache, &text);
    write_store(store, &text);
    write_memory(memory, &text);
    write_traffic(metrics, waiting, &text);
    preparations_write(preparations, &text);
    write_rejected(metrics, &text);
    write_requests(metrics, &text);
    write_work(metrics, &text);
    process_figures_write(metrics->started, &text);
    return api_text_take(&text);
}
