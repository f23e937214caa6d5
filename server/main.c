/* posenc-server: start, wait for a signal, drain, stop. */
#include "assets.h"
#include "clock.h"
#include "http/http.h"
#include "http/response.h"
#include "net/listen.h"
#include "net/probe.h"
#include "net/systemd.h"
#include "observe/heap.h"
#include "observe/log.h"
#include "observe/memory_limit.h"
#include "observe/metrics.h"
#include "settings/key_file.h"
#include "settings/memory_shares.h"
#include "settings/settings.h"
#include "settings/warm_file.h"
#include "store/set_store.h"
#include "store/shared_schema.h"
#include "work/preparations.h"
#include "work/warm_up.h"

#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define EXIT_USAGE  2
#define LIMITS_ROOM 32
#define REASON_SIZE 1024

typedef struct server_process {
    server_settings settings;
    memory_shares shares;
    api_memory *memory;               /* of requests */
    api_limit published[LIMITS_ROOM]; /* by /v1/info */
    pe_cache *cache;
    server_metrics *metrics;
    preparation_set *preparations;
    server_keys keys;
    set_store *store;
    pe_runner runner;
    api_host host;
    api_service *service;
    worker_set *workers;
    http_server *server;
    warm_file *warm_file; /* or NULL */
    warm_up *warm;        /* or NULL */
    int listen_fd;
    atomic_uint awaited; /* what must happen before the server is ready */
    atomic_bool draining;
    atomic_ullong end; /* by clock_now: from then on nothing is computed */
} server_process;

/* ---- callbacks of the api and the library; their context is the server_process ---- */

static uint64_t now(void *context)
{
    (void)context;
    return clock_now();
}

static api_readiness readiness(void *context)
{
    server_process *process = context;
    if (atomic_load(&process->draining))
        return API_DRAINING;
    return atomic_load(&process->awaited) > 0 ? API_WARMING : API_READY;
}

static void landed(void *context)
{
    workers_completed(((server_process *)context)->workers);
}

static void computed(void *context, uint64_t nanoseconds)
{
    metrics_count_computation(((server_process *)context)->metrics, nanoseconds);
}

static void run_parts(void *context, void (*task)(void *argument, size_t i), void *argument,
                      size_t count)
{
    workers_split(((server_process *)context)->workers, task, argument, count);
}

/* One clock for a request, whatever it computes: that of its job. */
static bool go_on(void *context, const pe_scheme *scheme, double done)
{
    const server_process *process = context;
    const uint64_t now = clock_now();
    if (scheme)
        preparations_note(process->preparations, pe_scheme_describe(scheme)->name, done);
    return now < atomic_load_explicit(&process->end, memory_order_relaxed) &&
           workers_time_used(now) < process->settings.compute_seconds * CLOCK_SECOND &&
           workers_may_go_on(process->workers);
}

/* Whether a computation was cancelled because all of its clients have left. */
static bool is_abandoned(void *context)
{
    return !workers_may_go_on(((server_process *)context)->workers);
}

static char *write_metrics(void *context)
{
    const server_process *process = context;
    return metrics_text(process->metrics, process->host.store, process->memory,
                        workers_waiting(process->workers), process->preparations);
}

/* ---- readiness ---- */

/* One of the things that the server awaits has happened. */
static void note_readiness(server_process *process)
{
    if (atomic_fetch_sub(&process->awaited, 1) == 1)
        systemd_notify("READY=1");
}

static void target_failed(void *context, const char *reason)
{
    if (!atomic_load(&((server_process *)context)->draining)) /* else it was stopped */
        log_event(LOG_LEVEL_ERROR, reason, NULL);
}

static void warm_up_ended(void *context)
{
    server_process *process = context;
    pe_cache_stats stats;
    if (atomic_load(&process->draining))
        return;
    pe_cache_read_stats(process->cache, &stats);
    if (stats.evictions > 0)
        log_event(LOG_LEVEL_WARNING,
                  "warm: the cache has no room for all tables; raise cache-bytes",
                  (const log_field[]){{.name = "evictions", .number = stats.evictions},
                                      {.name = NULL}});
    log_event(LOG_LEVEL_INFO, "warm",
              (const log_field[]){{.name = "targets", .number = process->warm_file->count},
                                  {.name = NULL}});
    note_readiness(process);
}

/* ---- start ---- */

/* Block the signals that wait_and_drain waits for, in this thread and all that it starts.
 * Ignore those that a failed write would raise: the write returns an error instead. */
static void block_signals(sigset_t *ret_signals)
{
    sigemptyset(ret_signals);
    sigaddset(ret_signals, SIGTERM);
    sigaddset(ret_signals, SIGINT);
    pthread_sigmask(SIG_BLOCK, ret_signals, NULL);
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN); /* a write above a limit on file sizes */
}

/* Divide the memory, and log what that has changed. */
static void divide_memory(server_process *process)
{
    process->shares = settings_divide_memory(&process->settings, memory_limit_of_system());
    const memory_shares *shares = &process->shares;
    if (shares->lowered)
        log_event(LOG_LEVEL_INFO,
                  "cache-bytes, max-connections or the memory of stored sets are lowered: "
                  "memory-bytes has no room for them",
                  (const log_field[]){{.name = "memory", .number = shares->total},
                                      {.name = "cache", .number = shares->cache},
                                      {.name = "sets", .number = shares->sets},
                                      {.name = "requests", .number = shares->requests},
                                      {.name = NULL}});
}

/* Read the keys and open the store. False: reterr is one line with the reason. */
static bool open_store(server_process *process, char *reterr, size_t size)
{
    const server_settings *settings = &process->settings;
    const set_store_settings store_settings = set_store_settings_from(settings);
    if (!key_files_read(settings, &process->keys, reterr, size))
        return false;
    process->store = set_store_open(&store_settings, reterr, size);
    return process->store != NULL;
}

static void fill_host(server_process *process)
{
    const server_settings *settings = &process->settings;
    process->host = (api_host){
        .context = process,
        .now = now,
        .readiness = readiness,
        .landed = landed,
        .computed = computed,
        .metrics = write_metrics,
        .runner = &process->runner,
        .json_elements = settings->json_elements,
        .png_pixels = settings->png_pixels,
        .compute_cost = settings->compute_cost,
        .target_bytes = (size_t)settings->target_bytes,
        .body_bytes = settings->body_bytes,
        .upload_bytes = settings->upload_bytes,
        .table_body_bytes = settings->table_body_bytes,
        .memory = process->memory,
        .reply_overhead = HTTP_RESPONSE_BYTES,
        .limits = {settings->elements, settings_table_bytes(settings),
                   (size_t)settings->list_length, NULL, NULL},
        .store = set_store_for_api(process->store),
        .api_key = process->keys.store,
        .local = listen_is_local(process->listen_fd),
        .tables = key_files_opening(settings),
        .tables_key = process->keys.tables,
        .stored_for_all = strcmp(settings->cors, "all") == 0,
        .published = process->published,
        .published_count = settings_limits(settings, process->published, LIMITS_ROOM),
        .assets = visualiser_assets,
        .asset_count = visualiser_asset_count,
    };
}

/* Create the service, which answers requests. NULL, or the reason why that failed. */
static const char *build_service(server_process *process)
{
    const server_settings *settings = &process->settings;
    process->memory = api_memory_new(process->shares.requests);
    if (!process->memory)
        return "cannot start the server: out of memory";
    process->cache = pe_cache_new(settings->cache_bytes);
    process->metrics = process->cache ? metrics_new(process->cache) : NULL;
    process->preparations = preparations_new();
    process->runner = (pe_runner){.context = process,
                                  .pool = process->cache ? pe_cache_pool(process->cache) : NULL,
                                  .run = run_parts,
                                  .go_on = go_on,
                                  .is_abandoned = is_abandoned};
    if (process->cache)
        pe_cache_set_runner(process->cache, &process->runner);
    fill_host(process);
    if (process->metrics && process->preparations)
        process->service = api_service_new(&process->host, process->cache);
    return process->service ? NULL : "cannot start the server: out of memory";
}

/* Read the file of targets and check every one. False: reterr is one line with the reason. */
static bool check_warm_file(server_process *process, char *reterr, size_t size)
{
    if (!process->settings.warm[0])
        return true;
    process->warm_file = warm_file_read(process->settings.warm, reterr, size);
    return process->warm_file &&
           warm_up_check(process->warm_file, process->service, reterr, size);
}

/* Start the threads. NULL, or the reason why that failed. */
static const char *start_threads(server_process *process)
{
    const server_settings *settings = &process->settings;
    unsigned threads = settings_threads(settings);
    process->workers = workers_start(threads > 1 ? threads : 2, settings->compute_queue);
    if (!process->workers)
        return "cannot start the server: memory or threads for the workers are missing";
    atomic_store(&process->awaited, process->warm_file ? 2 : 1);
    const warm_up_calls calls = {process, target_failed, warm_up_ended};
    if (process->warm_file)
        process->warm =
            warm_up_start(process->warm_file, process->service, process->workers, &calls);
    if (process->warm_file && !process->warm)
        return "cannot start the server: out of memory";
    process->server = http_start(settings, process->listen_fd, process->service,
                                 process->metrics, process->workers, process->memory);
    if (!process->server)
        return "cannot start the server: memory, threads or descriptors for connections are "
               "missing";
    return NULL;
}

/* Start to serve. False: the reason has been logged. */
static bool start(server_process *process)
{
    char text[512], reason[REASON_SIZE];
    divide_memory(process);
    if (open_store(process, text, sizeof text))
        process->listen_fd = listen_open(&process->settings, text, sizeof text);
    if (process->listen_fd < 0) {
        log_event(LOG_LEVEL_ERROR, text, NULL);
        return false;
    }
    const char *problem = build_service(process);
    if (!problem && !check_warm_file(process, reason, sizeof reason))
        problem = reason;
    if (!problem)
        problem = start_threads(process);
    if (problem) {
        log_event(LOG_LEVEL_ERROR, problem, NULL);
        return false;
    }
    note_readiness(process);
    printf("posenc %s listening on %s\n", PE_VERSION, text);
    fflush(stdout);
    return true;
}

/* ---- stop ---- */

/* From so many seconds on, nothing is computed any more. */
static void end_computing_in(server_process *process, uint64_t seconds)
{
    atomic_store(&process->end, clock_now() + seconds * CLOCK_SECOND);
}

/* Wait for a signal, then drain; returns for how many seconds answers may still be sent. After
 * SIGTERM /health/ready answers 503, and connections are still accepted for drain-seconds, so
 * that load balancers can react. Then nothing is computed any more, and what has been is sent
 * for drain-seconds, too. SIGINT or a second signal stops at once. */
static unsigned wait_and_drain(server_process *process, const sigset_t *signals)
{
    int signal = 0;
    while (sigwait(signals, &signal) != 0)
        continue;
    atomic_store(&process->draining, true);
    systemd_notify("STOPPING=1");
    http_drain(process->server);
    end_computing_in(process, signal == SIGTERM ? process->settings.drain_seconds : 0);
    if (signal != SIGTERM)
        return 0;
    log_event(
        LOG_LEVEL_INFO, "draining",
        (const log_field[]){{.name = "seconds", .number = process->settings.drain_seconds},
                            {.name = NULL}});
    const struct timespec drain = {.tv_sec = (time_t)process->settings.drain_seconds};
    bool second_signal = sigtimedwait(signals, NULL, &drain) > 0;
    end_computing_in(process, 0);
    return second_signal ? 0 : (unsigned)process->settings.drain_seconds;
}

/* Stop and free everything that has been started. */
static void stop(server_process *process, unsigned seconds)
{
    if (process->server)
        http_refuse(process->server);
    if (process->listen_fd >= 0)
        listen_close(&process->settings, process->listen_fd);
    if (process->server) {
        unsigned cut_off = http_stop(process->server, seconds);
        if (cut_off)
            log_event(
                LOG_LEVEL_WARNING, "stopped before all requests had ended",
                (const log_field[]){{.name = "requests", .number = cut_off}, {.name = NULL}});
        else
            log_event(LOG_LEVEL_INFO, "stopped", NULL);
    }
    workers_free(process->workers);
    warm_up_free(process->warm);
    warm_file_free(process->warm_file);
    api_service_free(process->service);
    metrics_free(process->metrics);
    pe_cache_free(process->cache);
    preparations_free(process->preparations);
    set_store_close(process->store);
    api_memory_free(process->memory);
    key_files_free(&process->keys);
}

static int serve(server_process *process)
{
    sigset_t signals;
    heap_set_up();
    log_use_json(strcmp(process->settings.log_format, "json") == 0);
    block_signals(&signals);
    bool started = start(process);
    stop(process, started ? wait_and_drain(process, &signals) : 0);
    return started ? EXIT_SUCCESS : EXIT_FAILURE;
}

/* An api_store's `find` where the store may be in use by a server. */
static api_store_status leave_store(void *context, const char *name, bool quick,
                                    api_set **ret_set)
{
    (void)context, (void)name, (void)quick, (void)ret_set;
    return API_STORE_FAILED;
}

/* Check what settings_read does not: how settings fit together. */
static bool settings_fit(const server_settings *settings)
{
    bool fit = key_files_fit(settings, stderr);
    return set_store_accepts(settings, stderr) && fit;
}

/* Check the targets of the file of --warm, and print the settings. */
static int check(server_process *process)
{
    char reason[REASON_SIZE];
    const char *problem = NULL;
    divide_memory(process);
    if (process->settings.warm[0]) {
        const set_store_settings no_sets = {.directory = ""};
        process->store = set_store_open(&no_sets, reason, sizeof reason);
        problem = process->store ? build_service(process) : reason;
        api_store store = {0};
        if (!problem &&
            (process->settings.data_directory[0] || process->settings.database_url[0])) {
            store = *process->host.store;
            store.find = leave_store;
            process->host.store = &store;
        }
        if (!problem && !check_warm_file(process, reason, sizeof reason))
            problem = reason;
        stop(process, 0);
    }
    if (problem)
        fprintf(stderr, "posenc-server: %s\n", problem);
    else
        settings_print(&process->settings, stdout);
    return problem ? EXIT_USAGE : EXIT_SUCCESS;
}

int main(int argc, char **argv)
{
    static server_process process = {.listen_fd = -1, .end = UINT64_MAX};
    bool legal = settings_read(&process.settings, argc, argv, environ, stderr);
    if (!legal && process.settings.action != SETTINGS_HELP)
        return EXIT_USAGE;
    switch (process.settings.action) {
    case SETTINGS_HELP:
        settings_print_help(stdout);
        return EXIT_SUCCESS;
    case SETTINGS_VERSION:
        printf("posenc %s (libmicrohttpd %s)\n", PE_VERSION, http_library_version());
        return EXIT_SUCCESS;
    case SETTINGS_CHECK:
        return settings_fit(&process.settings) ? check(&process) : EXIT_USAGE;
    case SETTINGS_PRINT_SCHEMA:
        shared_schema_print(stdout);
        return EXIT_SUCCESS;
    case SETTINGS_HEALTHCHECK:
        return probe_server(&process.settings, stderr) ? EXIT_SUCCESS : EXIT_FAILURE;
    case SETTINGS_SERVE:
        break;
    }
    return settings_fit(&process.settings) ? serve(&process) : EXIT_USAGE;
}
