#include "settings/setting_table.h"

#include "settings/database_url.h"
#include "settings/origins.h"
#include "settings/permission.h"

#include <stddef.h>

#define ANY UINT64_MAX

static const char *const TABLES[] = {"open", "key", "loopback", NULL};
static const char *const CORS[] = {"formulas", "all", NULL};
static const char *const LOG_FORMATS[] = {"text", "json", NULL};

/* Rows: flag, member of server_settings, value in --help, default, then for a text its choices,
 * for a number its minimum, its maximum and the unit of the published limit; help. */
#define COMMON(flag, member, placeholder, standard, text)                                      \
    .name = (flag), .offset = offsetof(server_settings, member), .value = (placeholder),       \
    .default_text = (standard), .help = (text)
#define TEXT(flag, member, placeholder, standard, any_of, text)                                \
    {                                                                                          \
        COMMON(flag, member, placeholder, standard, text), .type = SETTING_TEXT,               \
                                                           .choices = (any_of)                 \
    }
#define NUMBER(flag, member, placeholder, standard, least, most, unit, text)                   \
    {                                                                                          \
        COMMON(flag, member, placeholder, standard, text),                                     \
            .type = SETTING_NUMBER, .minimum = (least), .maximum = (most),                     \
            .limit_unit = (unit)                                                               \
    }
#define BYTES(flag, member, standard, least, most, unit, text)                                 \
    {                                                                                          \
        COMMON(flag, member, "BYTES", standard, text),                                         \
            .type = SETTING_BYTES, .minimum = (least), .maximum = (most), .limit_unit = (unit) \
    }
#define SWITCH(flag, member, standard, text)                                                   \
    {                                                                                          \
        COMMON(flag, member, "true|false", standard, text), .type = SETTING_SWITCH             \
    }
#define CHECKED(flag, member, placeholder, check, must_be, secret, text)                       \
    {                                                                                          \
        COMMON(flag, member, placeholder, "", text), .type = SETTING_TEXT,                     \
                                                     .is_clear = (check), .form = (must_be),   \
                                                     .is_secret = (secret)                     \
    }

static bool is_mode(const char *text)
{
    mode_t mode;
    return permission_read_mode(text, &mode);
}

static bool is_group(const char *text)
{
    gid_t group;
    return permission_read_group(text, &group);
}

const setting_row SETTINGS[SETTING_COUNT] = {
    TEXT("bind", bind, "ADDRESS", "127.0.0.1", NULL, "IP address or host name to listen on"),
    NUMBER("port", port, "PORT", "8080", 0, 65535, NULL,
           "TCP port to listen on; 0: choose a free port and print it"),
    TEXT("unix-socket", unix_socket, "PATH", "", NULL,
         "path of a Unix socket to listen on instead of TCP"),
    CHECKED("unix-socket-mode", unix_socket_mode, "MODE", is_mode,
            "a mode of three octal digits, such as 660 or 0660", false,
            "mode of that socket, such as 0660; a client needs the permission to write; none: "
            "0777 without the bits of the umask"),
    CHECKED(
        "unix-socket-group", unix_socket_group, "GROUP", is_group,
        "the name of a group on this system or a group's number", false,
        "name or number of the group that owns that socket; none: the group of the process"),
    NUMBER("threads", threads, "COUNT", "0", 0, 256, NULL,
           "number of event threads, and of worker threads, but at least 2 of these; 0: one "
           "for each processor, at most "
           "8"),
    BYTES("memory-bytes", memory_bytes, "0", 0, ANY, "bytes",
          "memory of the process; cache, sets and connections are lowered to fit, and "
          "requests beyond the rest get 503; 0: what the control group or the machine has"),
    BYTES("cache-bytes", cache_bytes, "256MiB", 1 << 16, ANY, "bytes",
          "memory for cached tables; a table that takes more than a quarter of it is streamed"),
    NUMBER("max-elements", elements, "COUNT", "68719476736", 1, 1ULL << 48, "elements",
           "maximum number of elements in all tensors of one request together"),
    NUMBER("json-max-elements", json_elements, "COUNT", "16777216", 1, 1ULL << 32, "elements",
           "maximum number of elements in JSON or CSV, of an answer or a table that is sent"),
    NUMBER("png-max-pixels", png_pixels, "COUNT", "16777216", 1, 1 << 30, "pixels",
           "maximum number of pixels in a PNG response"),
    NUMBER("max-list-length", list_length, "COUNT", "1048576", 1, 1 << 24, "items",
           "maximum number of items in a list parameter"),
    BYTES("max-target-bytes", target_bytes, "16KiB", 64, 32768, "bytes",
          "maximum length of a request target, which is path and query"),
    BYTES("max-body-bytes", body_bytes, "8MiB", 64, 1 << 30, "bytes",
          "maximum length of a request's JSON body"),
    TEXT("data-dir", data_directory, "DIRECTORY", "", NULL,
         "directory where sets are kept; none: they are kept in memory and lost when the "
         "server stops"),
    CHECKED(
        "database-url", database_url, "URL", database_url_is_clear, DATABASE_URL_FORM, true,
        "PostgreSQL database in which several servers keep the same sets, such as "
        "postgresql://posenc@db1,db2/posenc; a build with POSTGRES=1 is needed. The value is "
        "never printed; a command line can be read by others: give a password by the "
        "variable, or by libpq's PGPASSFILE"),
    TEXT("api-key-file", api_key_file, "FILE", "", NULL,
         "file with the bearer token that /v1/sets requires; none: no token is required "
         "on loopback and Unix sockets, and it is closed elsewhere"),
    TEXT("tables", tables, "open|key|loopback", "open", TABLES,
         "who may send tables to /v1/compare, /v1/identify, /v1/apply and /v1/convert, which "
         "change nothing: everybody; those with the key of tables-key-file or api-key-file; or "
         "clients on loopback and Unix sockets alone"),
    TEXT("tables-key-file", tables_key_file, "FILE", "", NULL,
         "file with a bearer token for tables alone; it opens no set"),
    TEXT("cors", cors, "formulas|all", "formulas", CORS,
         "what web pages of other origins may read: tables that are computed from formulas; or "
         "also what is computed from sets"),
    CHECKED(
        "frame-ancestors", frame_ancestors, "ORIGINS", origins_are_clear, ORIGINS_FORM, false,
        "whose pages may show the whole visualiser in a frame, such as "
        "\"https://wiki.example https://*.school.example\", or * for everybody; the picture "
        "alone, ?embed=1, everybody may frame anyway"),
    CHECKED(
        "source-url", source_url, "URL", link_is_clear, LINK_FORM, false,
        "where the source of this service is, such as https://wiki.example/posenc: a link of "
        "the visualiser's, and in /v1/info; none: neither says it"),
    BYTES("max-upload-bytes", upload_bytes, "256MiB", 64, 1 << 30, "bytes",
          "maximum length of a set; uploads in progress take at most about twice that "
          "in memory"),
    BYTES("max-store-bytes", store_bytes, "0", 0, 1ULL << 48, "bytes",
          "maximum size of all sets together; 0: 4 GiB with data-dir or database-url, "
          "else 512 MiB"),
    BYTES(
        "max-table-bytes", table_body_bytes, "1GiB", 64, 1ULL << 40, "bytes",
        "maximum length of a body with tables; those beyond 1 MiB take room in spool-dir, all "
        "together at most twice as much"),
    TEXT("spool-dir", spool_directory, "DIRECTORY", "", NULL,
         "directory for long bodies while they are read, in files without names; none: "
         "data-dir, else /tmp"),
    NUMBER("max-stored-sets", stored_sets, "COUNT", "1024", 1, 65536, "sets",
           "maximum number of sets"),
    BYTES("set-cache-bytes", set_cache_bytes, "512MiB", 0, ANY, "bytes",
          "memory for the most recently used sets of data-dir or database-url"),
    NUMBER("max-connections", connections, "COUNT", "1024", 1, 65536, "connections",
           "maximum number of open connections; more are refused with 503"),
    NUMBER("max-streams", streams, "COUNT", "64", 1, 65536, "requests",
           "maximum number of streamed tables in progress; more are refused with 503"),
    NUMBER("compute-queue", compute_queue, "COUNT", "64", 1, 65536, "requests",
           "maximum number of cheap requests that wait for a worker thread, and of dear ones; "
           "more are refused with 503"),
    NUMBER("compute-seconds", compute_seconds, "SECONDS", "60", 1, 86400, "seconds",
           "maximum time that a request may compute, however many tables; of a stream the "
           "CPU time of computing. What takes longer is ended"),
    NUMBER(
        "compute-cost", compute_cost, "COUNT", "100000000000", 0, 1ULL << 62, "multiply-adds",
        "maximum price of a computation, which each scheme estimates in multiply-adds of some "
        "0.4 ns; 0: any"),
    NUMBER("idle-seconds", idle_seconds, "SECONDS", "30", 1, 3600, "seconds",
           "time without data after which a connection is closed between two requests"),
    NUMBER("header-seconds", header_seconds, "SECONDS", "10", 1, 3600, "seconds",
           "maximum time for the head of a request, from its first byte; for the first request "
           "from the start of the connection"),
    NUMBER("body-seconds", body_seconds, "SECONDS", "30", 1, 3600, "seconds",
           "maximum time for the body of a request, beyond the time that its bytes take at "
           "min-rate"),
    NUMBER("send-seconds", send_seconds, "SECONDS", "30", 1, 3600, "seconds",
           "maximum time for a TCP client to read a response, beyond the time that its bytes "
           "take at min-rate"),
    BYTES("min-rate", min_rate, "1KiB", 0, 1 << 30, "bytes a second",
          "minimum rate of bodies and responses in bytes a second, on average; 0: no minimum"),
    NUMBER(
        "drain-seconds", drain_seconds, "SECONDS", "5", 0, 3600, "seconds",
        "time from SIGTERM until new connections are refused; requests in progress then have "
        "the same time again to end"),
    TEXT("log-format", log_format, "text|json", "text", LOG_FORMATS,
         "format of the log on stderr: text, or json for one JSON object a line"),
    SWITCH("access-log", access_log, "false",
           "whether every request is logged; the flag without a value means true"),
};

const action_row ACTIONS[ACTION_COUNT] = {
    {"help", SETTINGS_HELP, "print this help and exit"},
    {"version", SETTINGS_VERSION, "print the version and exit"},
    {"check-config", SETTINGS_CHECK,
     "print the value of every setting and exit; status 2 if a setting is wrong"},
    {"print-schema", SETTINGS_PRINT_SCHEMA,
     "print the tables that database-url needs, as SQL, and exit; the server makes them itself "
     "if its role may"},
    {"healthcheck", SETTINGS_HEALTHCHECK,
     "ask the server with these settings for /health/ready and exit; status 0 if it is ready, "
     "else 1"},
};
