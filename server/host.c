/* The callbacks of the api and the library; their context is the server_host. */
#include "host.h"

#include "assets.h"
#include "clock.h"
#include "http/response.h"
#include "observe/metrics.h"
#include "settings/key_file.h"
#include "settings/settings.h"
#include "work/preparations.h"
#include "work/workers.h"

#include <string.h>

static uint64_t now(void *context)
{
    (void)context;
    return clock_now();
}

static api_readiness readiness(void *context)
{
    server_host *host = context;
    return atomic_load(&host->draining) ? API_DRAINING : API_READY;
}

static void landed(void *context)
{
    workers_completed(((server_host *)context)->workers);
}

static void computed(void *context, uint64_t nanoseconds)
{
    metrics_count_computation(((server_host *)context)->metrics, nanoseconds);
}

static void run_parts(void *context, void (*task)(void *argument, size_t i), void *argument,
                      size_t count)
{
    workers_split(((server_host *)context)->workers, task, argument, count);
}

/* One clock for a request, whatever it computes: that of its job. */
static bool may_continue(void *context, const pe_scheme *scheme, double done)
{
    const server_host *host = context;
    const uint64_t now = clock_now();
    if (scheme)
        preparations_note(host->preparations, pe_scheme_describe(scheme)->name, done);
    return now < atomic_load_explicit(&host->end, memory_order_relaxed) &&
           workers_time_used(now) < host->settings->compute_seconds * CLOCK_SECOND &&
           workers_may_continue(host->workers);
}

/* Whether a computation was cancelled because all of its clients have left. */
static bool is_abandoned(void *context)
{
    return !workers_may_continue(((server_host *)context)->workers);
}

static char *write_metrics(void *context)
{
    const server_host *host = context;
    return metrics_text(host->metrics, host->api.store, host->memory,
                        workers_waiting(host->workers), host->preparations);
}

/* ---- the service ---- */

static void fill_host(server_host *host)
{
    const server_settings *settings = host->settings;
    host->api = (api_host){
        .context = host,
        .now = now,
        .readiness = readiness,
        .landed = landed,
        .computed = computed,
        .metrics = write_metrics,
        .runner = &host->runner,
        .memory = host->memory,
        .reply_overhead = HTTP_RESPONSE_BYTES,
        .store = host->store,
        .api_key = host->keys->store,
        .local = host->local,
        .any_host = host->any_host,
        .tables = key_files_opening(settings),
        .tables_key = host->keys->tables,
        .stored_for_all = strcmp(settings->cors, "all") == 0,
        .published = host->published,
        .published_count = settings_limits(settings, NULL, host->published, HOST_LIMITS),
        .assets = visualiser_assets,
        .asset_count = visualiser_asset_count,
        .frame_ancestors = settings->frame_ancestors[0] ? settings->frame_ancestors : NULL,
        .source_url = settings->source_url[0] ? settings->source_url : NULL,
    };
    settings_fill_host(settings, &host->api);
}

const char *host_build_service(server_host *host)
{
    const server_settings *settings = host->settings;
    host->memory = api_memory_new(host->request_bytes);
    if (!host->memory)
        return "cannot start the server: out of memory";
    host->cache = pe_cache_new(settings->cache_bytes);
    host->metrics = host->cache ? metrics_new(host->cache) : NULL;
    host->preparations = preparations_new();
    host->runner = (pe_runner){.context = host,
                               .pool = host->cache ? pe_cache_pool(host->cache) : NULL,
                               .run = run_parts,
                               .go_on = may_continue,
                               .is_abandoned = is_abandoned};
    if (host->cache)
        pe_cache_set_runner(host->cache, &host->runner);
    fill_host(host);
    if (host->metrics && host->preparations)
        host->service = api_service_new(&host->api, host->cache);
    return host->service ? NULL : "cannot start the server: out of memory";
}

void host_end_computing(server_host *host, uint64_t seconds)
{
    atomic_store(&host->end, clock_now() + seconds * CLOCK_SECOND);
}

void host_done(server_host *host)
{
    api_service_free(host->service);
    metrics_free(host->metrics);
    pe_cache_free(host->cache);
    preparations_free(host->preparations);
}
