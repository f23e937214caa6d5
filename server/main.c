/* posenc-server: start, wait for a signal, drain, stop. */
#include "host.h"
#include "http/http.h"
#include "net/health_check.h"
#include "net/listen.h"
#include "net/systemd.h"
#include "observe/heap.h"
#include "observe/log.h"
#include "observe/memory_limit.h"
#include "settings/key_file.h"
#include "settings/memory_shares.h"
#include "settings/settings.h"
#include "store/set_store.h"
#include "store/shared_schema.h"

#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define EXIT_USAGE 2

typedef struct server_process {
    server_settings settings;
    memory_shares shares;
    server_keys keys;
    set_store *store;
    server_host host;
    http_server *server;
    int listen_fd;
} server_process;

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
                  "cache-bytes, max-connections or the memory of sets are lowered: "
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
    const set_store_settings store_settings = set_store_read_settings(settings);
    if (!key_files_read(settings, &process->keys, reterr, size))
        return false;
    process->store = set_store_open(&store_settings, reterr, size);
    return process->store != NULL;
}

/* Create the service. NULL, or the reason why that failed. */
static const char *build_service(server_process *process)
{
    process->host.settings = &process->settings;
    process->host.keys = &process->keys;
    process->host.store = set_store_for_api(process->store);
    process->host.local = listen_is_local(process->listen_fd);
    process->host.any_host = listen_is_unix(process->listen_fd);
    process->host.request_bytes = process->shares.requests;
    return host_build_service(&process->host);
}

/* Start the threads. NULL, or the reason why that failed. */
static const char *start_threads(server_process *process)
{
    const server_settings *settings = &process->settings;
    unsigned threads = settings_threads(settings);
    process->host.workers = workers_start(threads > 1 ? threads : 2, settings->compute_queue);
    if (!process->host.workers)
        return "cannot start the server: memory or threads for the workers are missing";
    process->server =
        http_start(settings, process->listen_fd, process->host.service, process->host.metrics,
                   process->host.workers, process->host.memory);
    if (!process->server)
        return "cannot start the server: memory, threads or descriptors for connections are "
               "missing";
    return NULL;
}

/* Start to serve. False: the reason has been logged. */
static bool start_server(server_process *process)
{
    char text[512];
    divide_memory(process);
    if (open_store(process, text, sizeof text))
        process->listen_fd = listen_open(&process->settings, text, sizeof text);
    if (process->listen_fd < 0) {
        log_event(LOG_LEVEL_ERROR, text, NULL);
        return false;
    }
    const char *problem = build_service(process);
    if (!problem)
        problem = start_threads(process);
    if (problem) {
        log_event(LOG_LEVEL_ERROR, problem, NULL);
        return false;
    }
    systemd_notify("READY=1");
    printf("posenc %s listening on %s\n", PE_VERSION, text);
    fflush(stdout);
    return true;
}

/* ---- stop ---- */

/* Wait for a signal, then drain; returns for how many seconds answers may still be sent. After
 * SIGTERM /health/ready answers 503, and connections are still accepted for drain-seconds, so
 * that load balancers can react. Then nothing is computed any more, and what has been is sent
 * for drain-seconds, too. SIGINT or a second signal stops at once. */
static unsigned wait_and_drain(server_process *process, const sigset_t *signals)
{
    int signal = 0;
    while (sigwait(signals, &signal) != 0)
        continue;
    atomic_store(&process->host.draining, true);
    systemd_notify("STOPPING=1");
    http_drain(process->server);
    host_end_computing(&process->host, signal == SIGTERM ? process->settings.drain_seconds : 0);
    if (signal != SIGTERM)
        return 0;
    log_event(
        LOG_LEVEL_INFO, "draining",
        (const log_field[]){{.name = "seconds", .number = process->settings.drain_seconds},
                            {.name = NULL}});
    const struct timespec drain = {.tv_sec = (time_t)process->settings.drain_seconds};
    bool second_signal = sigtimedwait(signals, NULL, &drain) > 0;
    host_end_computing(&process->host, 0);
    return second_signal ? 0 : (unsigned)process->settings.drain_seconds;
}

/* Stop and free everything that has been started. */
static void stop_server(server_process *process, unsigned seconds)
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
    workers_free(process->host.workers);
    host_done(&process->host);
    set_store_close(process->store);
    api_memory_free(process->host.memory);
    key_files_free(&process->keys);
}

static int run_server(server_process *process)
{
    sigset_t signals;
    heap_configure();
    log_use_json(strcmp(process->settings.log_format, "json") == 0);
    block_signals(&signals);
    bool started = start_server(process);
    stop_server(process, started ? wait_and_drain(process, &signals) : 0);
    return started ? EXIT_SUCCESS : EXIT_FAILURE;
}

/* Check what settings_read does not: how settings fit together. */
static bool settings_fit(const server_settings *settings)
{
    bool fit = key_files_fit(settings, stderr);
    return set_store_accepts(settings, stderr) && fit;
}

int main(int argc, char **argv)
{
    static server_process process = {.listen_fd = -1, .host.end = UINT64_MAX};
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
        if (!settings_fit(&process.settings))
            return EXIT_USAGE;
        divide_memory(&process);
        settings_print(&process.settings, stdout);
        return EXIT_SUCCESS;
    case SETTINGS_PRINT_SCHEMA:
        shared_schema_print(stdout);
        return EXIT_SUCCESS;
    case SETTINGS_HEALTHCHECK:
        return probe_server(&process.settings, stderr) ? EXIT_SUCCESS : EXIT_FAILURE;
    case SETTINGS_SERVE:
        break;
    }
    return settings_fit(&process.settings) ? run_server(&process) : EXIT_USAGE;
}
