/* The settings of the server, from flags, environment variables and defaults. */
#ifndef SETTINGS_H
#define SETTINGS_H

#include "api.h"

#include <stdio.h>

/* What the process does. */
typedef enum settings_action {
    SETTINGS_SERVE,
    SETTINGS_HELP,
    SETTINGS_VERSION,
    SETTINGS_CHECK,
    SETTINGS_PRINT_SCHEMA,
    SETTINGS_HEALTHCHECK,
} settings_action;

/* A member for each row of the table; what it means is in the row's help. */
typedef struct server_settings {
    settings_action action;
    const char *bind, *unix_socket;                   /* unix_socket: "" for TCP */
    const char *unix_socket_mode, *unix_socket_group; /* "": none */
    const char *log_format;                           /* "text" or "json" */
    bool access_log;
    uint64_t port, threads, connections, idle_seconds, drain_seconds, compute_queue,
        compute_seconds, compute_cost, header_seconds, body_seconds, send_seconds, min_rate,
        streams;
    uint64_t memory_bytes; /* 0: see settings_divide_memory */
    uint64_t cache_bytes, elements, json_elements, png_pixels, list_length, target_bytes,
        body_bytes;
    const char *data_directory, *api_key_file; /* "": none */
    const char *tables, *tables_key_file, *cors;
    const char *frame_ancestors; /* "": none */
    const char *source_url;      /* "": none */
    const char *database_url;    /* may hold a password; "": none */
    uint64_t upload_bytes, store_bytes, stored_sets, set_cache_bytes;
    const char *spool_directory; /* "": see settings_spool_directory */
    uint64_t table_body_bytes;
} server_settings;

/* Read the settings from main's arguments and the environment, whose texts must outlive them. A
 * flag beats a variable, which beats the default. False: `errors` has one line for each
 * mistake. */
bool settings_read(server_settings *ret_settings, int argc, char *const *argv,
                   char *const *environment, FILE *errors);

void settings_print_help(FILE *out);

/* Print a line "name = value" for every setting. */
void settings_print(const server_settings *settings, FILE *out);

/* Write the limits that /v1/info publishes, at most `room`: all, or those of a list of names
 * that ends with NULL. Returns how many. */
size_t settings_limits(const server_settings *settings, const char *const *names,
                       api_limit *ret_limits, size_t room);

/* Set what a host of the api takes from the settings as they are: its limits. */
void settings_fill_host(const server_settings *settings, api_host *host);

/* Set what a host has that serves nobody but its own process: the clock, its state, and that it
 * is open; and its limits, of which those of the names are published, as settings_limits has
 * them. */
void settings_fill_own_host(const server_settings *settings, const char *const *names,
                            api_limit *published, size_t room, api_host *host);

/* The number of event threads, which is also that of workers: as set, else one for each
 * processor, at most 8. */
unsigned settings_threads(const server_settings *settings);

/* The directory of long bodies: as set, else data-dir, else /tmp. */
const char *settings_spool_directory(const server_settings *settings);

/* The most bytes that one table may take in the cache: a quarter of the cache. */
uint64_t settings_table_bytes(const server_settings *settings);

#endif
