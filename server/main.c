/* posenc-server: start, wait, drain, stop. */
#include "assets.h"
#include "heap.h"
#include "http.h"
#include "key_file.h"
#include "listen.h"
#include "log.h"
#include "metrics.h"
#include "preparations.h"
#include "settings.h"
#include "store.h"
#include "systemd.h"

#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define EXIT_USAGE  2
#define LIMITS_ROOM 32

typedef struct server_process {
    server_settings settings;
    api_limit published[LIMITS_ROOM];
    pe_cache *cache;
    server_metrics *metrics;
    preparation_set *preparations;
    char *api_key; /* or NULL */
    store *store;
    pe_runner runner;
    api_host host;
    api_service *service;
    worker_set *workers;
    http_server *server;
    int listen_fd;
    atomic_bool draining;
} server_process;

static uint64_t now(void *context)
{
    struct timespec time;
    (void)context;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * 1000000000U + (uint64_t)time.tv_nsec;
}

static bool is_ready(void *context)
{
    return !atomic_load(&((server_process *)context)->draining);
}

static void landed(void *context)
{
    workers_landed(((server_process *)context)->workers);
}

static void computed(void *context, uint64_t nanoseconds)
{
    metrics_count_computation(((server_process *)context)->metrics, nanoseconds);
}

static void run_parts(void *context, void (*task)(void *of, size_t i), void *of, size_t count)
{
    workers_split(((server_process *)context)->workers, task, of, count);
}

static bool go_on(void *context, const pe_scheme *scheme, double done)
{
    return preparations_go_on(((server_process *)context)->preparations,
                              pe_scheme_describe(scheme)->name, done, now(NULL));
}

static char *metrics_of(void *context)
{
    const server_process *process = context;
    return metrics_text(process->metrics, process->host.store,
                        workers_waiting(process->workers), process->preparations);
}

/* Signals are taken by wait_for_signal alone: every thread started later inherits the mask. */
static void block_signals(sigset_t *ret_signals)
{
    sigemptyset(ret_signals);
    sigaddset(ret_signals, SIGTERM);
    sigaddset(ret_signals, SIGINT);
    pthread_sigmask(SIG_BLOCK, ret_signals, NULL);
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN); /* a limit on file sizes is an error of the write */
}

/* Read the key and open the store. False: the reason is in ret_error. */
static bool open_store(server_process *process, char *ret_error, size_t size)
{
    const server_settings *settings = &process->settings;
    const store_settings wanted = {settings->data_directory, settings->stored_sets,
                                   settings->store_bytes, settings->set_cache_bytes};
    if (settings->api_key_file[0]) {
        process->api_key = key_file_read(settings->api_key_file, ret_error, size);
        if (!process->api_key)
            return false;
    }
    process->store = store_open(&wanted, ret_error, size);
    return process->store != NULL;
}

static void fill_host(server_process *process)
{
    const server_settings *settings = &process->settings;
    process->host = (api_host){
        .context = process,
        .now = now,
        .is_ready = is_ready,
        .landed = landed,
        .computed = computed,
        .metrics = metrics_of,
        .runner = &process->runner,
        .json_elements = settings->json_elements,
        .png_pixels = settings->png_pixels,
        .target_bytes = (size_t)settings->target_bytes,
        .body_bytes = settings->body_bytes,
        .upload_bytes = settings->upload_bytes,
        .limits = {settings->elements, settings_table_bytes(settings),
                   (size_t)settings->list_length, NULL, NULL},
        .store = store_for_api(process->store),
        .api_key = process->api_key,
        .local = listen_is_local(process->listen_fd),
        .published = process->published,
        .published_count = settings_limits(settings, process->published, LIMITS_ROOM),
        .assets = visualiser_assets,
        .asset_count = visualiser_asset_count,
    };
}

/* Build everything between the settings and the socket. NULL, or what is wrong. */
static const char *build(server_process *process)
{
    const server_settings *settings = &process->settings;
    process->cache = pe_cache_new(settings->cache_bytes);
    process->metrics = process->cache ? metrics_new(process->cache) : NULL;
    process->preparations = preparations_new(settings->compute_seconds);
    process->runner = (pe_runner){.context = process, .run = run_parts, .go_on = go_on};
    if (process->cache)
        pe_cache_use(process->cache, &process->runner);
    fill_host(process);
    if (process->metrics && process->preparations)
        process->service = api_service_new(&process->host, process->cache);
    if (!process->service)
        return "cannot start the server: memory is missing";
    process->workers = workers_start(settings_threads(settings), settings->compute_queue);
    if (!process->workers)
        return "cannot start the server: memory or threads for the workers are missing";
    process->server = http_start(settings, process->listen_fd, process->service,
                                 process->metrics, process->workers);
    if (!process->server)
        return "cannot start the server: memory, threads or descriptors for connections are "
               "missing";
    return NULL;
}

/* False: a line has been logged. */
static bool start(server_process *process)
{
    char text[512];
    if (open_store(process, text, sizeof text))
        process->listen_fd = listen_open(&process->settings, text, sizeof text);
    if (process->listen_fd < 0) {
        log_event(LOG_ERROR, text, NULL);
        return false;
    }
    const char *problem = build(process);
    if (problem) {
        log_event(LOG_ERROR, problem, NULL);
        return false;
    }
    printf("posenc %s listening on %s\n", PE_VERSION, text);
    fflush(stdout);
    systemd_notify("READY=1");
    return true;
}

/* SIGTERM ends readiness and leaves the drain time to load balancers, and as long again to the
 * requests then under way; SIGINT, or any second signal, stops at once. Returns the seconds
 * left to requests. */
static unsigned wait_and_drain(server_process *process, const sigset_t *signals)
{
    int signal = 0;
    while (sigwait(signals, &signal) != 0)
        continue;
    atomic_store(&process->draining, true);
    systemd_notify("STOPPING=1");
    http_drain(process->server);
    if (signal != SIGTERM)
        return 0;
    log_event(LOG_INFO, "draining",
              (const log_field[]){{"seconds", NULL, process->settings.drain_seconds},
                                  {NULL, NULL, 0}});
    const struct timespec time = {.tv_sec = (time_t)process->settings.drain_seconds};
    bool again = sigtimedwait(signals, NULL, &time) > 0;
    return again ? 0 : (unsigned)process->settings.drain_seconds;
}

/* Stop whatever has been started. */
static void stop(server_process *process, unsigned seconds)
{
    if (process->preparations)
        preparations_end_at(process->preparations, now(NULL) + seconds * 1000000000ULL);
    if (process->server)
        http_refuse(process->server);
    if (process->listen_fd >= 0)
        listen_close(&process->settings, process->listen_fd);
    if (process->server) {
        unsigned cut_off = http_stop(process->server, seconds);
        if (cut_off)
            log_event(LOG_WARNING, "stopped with requests under way",
                      (const log_field[]){{"requests", NULL, cut_off}, {NULL, NULL, 0}});
        else
            log_event(LOG_INFO, "stopped", NULL);
    }
    workers_free(process->workers);
    api_service_free(process->service);
    metrics_free(process->metrics);
    pe_cache_free(process->cache);
    preparations_free(process->preparations);
    store_close(process->store);
    free(process->api_key);
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

int main(int argc, char **argv)
{
    static server_process process = {.listen_fd = -1};
    bool legal = settings_read(&process.settings, argc, argv, environ, stderr);
    if (!legal && process.settings.action != SETTINGS_HELP)
        return EXIT_USAGE;
    switch (process.settings.action) {
    case SETTINGS_HELP:
        settings_print_help(stdout);
        return EXIT_SUCCESS;
    case SETTINGS_VERSION:
        printf("posenc %s\n", PE_VERSION);
        return EXIT_SUCCESS;
    case SETTINGS_CHECK:
        settings_print(&process.settings, stdout);
        return EXIT_SUCCESS;
    case SETTINGS_HEALTHCHECK:
        return listen_probe(&process.settings, stderr) ? EXIT_SUCCESS : EXIT_FAILURE;
    case SETTINGS_SERVE:
        break;
    }
    return serve(&process);
}
