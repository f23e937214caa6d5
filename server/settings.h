/* Settings: flag, else environment, else default; one table. */
#ifndef SETTINGS_H
#define SETTINGS_H

#include "api.h"

#include <stdio.h>

typedef enum settings_action {
    SETTINGS_SERVE,
    SETTINGS_HELP,
    SETTINGS_VERSION,
    SETTINGS_CHECK,
    SETTINGS_HEALTHCHECK,
} settings_action;

typedef struct server_settings {
    settings_action action;
    const char *bind, *unix_socket; /* unix_socket: "" for TCP */
    const char *log_format;         /* "text" or "json" */
    bool access_log;
    uint64_t port, threads, connections, send_buffer, idle_seconds, drain_seconds,
        compute_queue, compute_seconds, header_seconds, body_seconds, send_seconds, min_rate,
        requests, streams;
    uint64_t cache_bytes, elements, json_elements, png_pixels, list_length, target_bytes,
        body_bytes;
    const char *data_directory, *api_key_file; /* "": none */
    uint64_t upload_bytes, store_bytes, stored_sets, set_cache_bytes;
} server_settings;

/* Fill from the arguments and the environment (both as main has them; the texts are borrowed).
 * False: one line for each mistake has gone to `errors`. */
bool settings_read(server_settings *ret_settings, int argc, char *const *argv,
                   char *const *environment, FILE *errors);

void settings_print_help(FILE *out);

/* Every setting as name = value. */
void settings_print(const server_settings *settings, FILE *out);

/* The settings that are limits, for /v1/info; at most `room`. */
size_t settings_limits(const server_settings *settings, api_limit *ret_limits, size_t room);

/* The event threads to run, and as many workers: as set, else one for each processor, at
 * most 8. */
unsigned settings_threads(const server_settings *settings);

/* The bytes that one table may take in the cache: a quarter of it. */
uint64_t settings_table_bytes(const server_settings *settings);

#endif
