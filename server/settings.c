/* The table of settings, and everything that reads it: flags, environment, help, limits. */
#include "settings.h"

#include <ctype.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define ENVIRONMENT_PREFIX    "POSENC_"
#define AUTOMATIC_THREADS_MAX 8
#define STORE_ON_DISK         ((uint64_t)4 << 30)
#define STORE_IN_MEMORY       ((uint64_t)512 << 20)

typedef enum setting_type { TEXT, NUMBER, BYTES, SWITCH } setting_type;

typedef struct setting_row {
    const char *name; /* the flag without dashes */
    setting_type type;
    size_t offset;
    const char *default_text;
    uint64_t minimum, maximum;
    const char *const *choices; /* of a TEXT, or NULL */
    const char *limit_unit;     /* what it counts, where it is a limit to publish */
    const char *help;
} setting_row;

static const char *const LOG_FORMATS[] = {"text", "json", NULL};

#define AT(field) offsetof(server_settings, field)
#define ANY       UINT64_MAX

static const setting_row SETTINGS[] = {
    {"bind", TEXT, AT(bind), "127.0.0.1", 0, 0, NULL, NULL, "address to listen on"},
    {"port", NUMBER, AT(port), "8080", 0, 65535, NULL, NULL,
     "TCP port; 0 takes a free one and prints it"},
    {"unix-socket", TEXT, AT(unix_socket), "", 0, 0, NULL, NULL,
     "listen on this path instead of TCP"},
    {"threads", NUMBER, AT(threads), "0", 0, 256, NULL, NULL,
     "event threads, and as many workers; 0: one for each processor, at most 8"},
    {"send-buffer", BYTES, AT(send_buffer), "0", 0, 1 << 30, NULL, NULL,
     "socket send buffer; 0: 208 KiB on loopback, else the kernel's own tuning"},
    {"cache-bytes", BYTES, AT(cache_bytes), "256MiB", 1 << 16, ANY, NULL, "bytes",
     "memory for cached tables; one table takes at most a quarter"},
    {"max-elements", NUMBER, AT(elements), "68719476736", 1, 1ULL << 48, NULL, "elements",
     "elements of all tensors of one request together"},
    {"json-max-elements", NUMBER, AT(json_elements), "16777216", 1, 1ULL << 32, NULL,
     "elements", "elements that JSON or CSV may carry"},
    {"png-max-pixels", NUMBER, AT(png_pixels), "16777216", 1, 1 << 30, NULL, "pixels",
     "pixels that a PNG may have"},
    {"max-list-length", NUMBER, AT(list_length), "1048576", 1, 1 << 24, NULL, "items",
     "items of one list parameter"},
    {"max-target-bytes", BYTES, AT(target_bytes), "16KiB", 64, 32768, NULL, "bytes",
     "length of a request target"},
    {"max-body-bytes", BYTES, AT(body_bytes), "8MiB", 64, 1 << 30, NULL, "bytes",
     "length of a JSON body"},
    {"data-dir", TEXT, AT(data_directory), "", 0, 0, NULL, NULL,
     "directory that keeps the stored sets; none: they are in memory and end with the process"},
    {"api-key-file", TEXT, AT(api_key_file), "", 0, 0, NULL, NULL,
     "file with the bearer token for /v1/parameters; without one it is open on loopback alone"},
    {"max-upload-bytes", BYTES, AT(upload_bytes), "256MiB", 64, 1 << 30, NULL, "bytes",
     "length of an uploaded set; those under way take at most twice that together"},
    {"max-store-bytes", BYTES, AT(store_bytes), "0", 0, 1ULL << 48, NULL, "bytes",
     "all stored sets together; 0: 4 GiB with data-dir, else 512 MiB"},
    {"max-stored-sets", NUMBER, AT(stored_sets), "1024", 1, 65536, NULL, "sets",
     "how many sets are stored"},
    {"set-cache-bytes", BYTES, AT(set_cache_bytes), "512MiB", 0, ANY, NULL, "bytes",
     "memory for the sets of data-dir that were used last"},
    {"max-connections", NUMBER, AT(connections), "1024", 1, 65536, NULL, "connections",
     "connections open at a time; more are refused with 503"},
    {"max-requests", NUMBER, AT(requests), "1024", 1, 65536, NULL, "requests",
     "requests under way at a time; more are refused with 503"},
    {"max-streams", NUMBER, AT(streams), "64", 1, 65536, NULL, "requests",
     "tables too large for the cache under way at a time; more are refused with 503"},
    {"compute-queue", NUMBER, AT(compute_queue), "64", 1, 65536, NULL, "requests",
     "computations that wait for a thread; more are refused with 503"},
    {"compute-seconds", NUMBER, AT(compute_seconds), "60", 1, 86400, NULL, "seconds",
     "time that the preparation of one table may take; then it ends with 503"},
    {"idle-seconds", NUMBER, AT(idle_seconds), "30", 1, 3600, NULL, "seconds",
     "silence after which a connection is closed"},
    {"header-seconds", NUMBER, AT(header_seconds), "10", 1, 3600, NULL, "seconds",
     "time for the head of a request, from its first byte or its connection's start"},
    {"body-seconds", NUMBER, AT(body_seconds), "30", 1, 3600, NULL, "seconds",
     "time for a body beyond what it takes at the least rate"},
    {"send-seconds", NUMBER, AT(send_seconds), "30", 1, 3600, NULL, "seconds",
     "the same for an answer that a TCP client takes"},
    {"min-rate", BYTES, AT(min_rate), "1KiB", 0, 1 << 30, NULL, "bytes a second",
     "least rate of bodies and answers, in the long run; 0: any"},
    {"drain-seconds", NUMBER, AT(drain_seconds), "5", 0, 3600, NULL, "seconds",
     "time from SIGTERM until new connections are refused; then as long again for requests"},
    {"log-format", TEXT, AT(log_format), "text", 0, 0, LOG_FORMATS, NULL,
     "text, or json for JSON lines; logs go to stderr"},
    {"access-log", SWITCH, AT(access_log), "false", 0, 0, NULL, NULL, "log every request"},
};
#define SETTING_COUNT (sizeof SETTINGS / sizeof *SETTINGS)

static const struct {
    const char *name;
    settings_action action;
    const char *help;
} ACTIONS[] = {
    {"help", SETTINGS_HELP, "print this and exit"},
    {"version", SETTINGS_VERSION, "print the version and exit"},
    {"check-config", SETTINGS_CHECK, "print every setting's value and exit; 2 if one is wrong"},
    {"healthcheck", SETTINGS_HEALTHCHECK,
     "ask the server that these settings describe whether it is ready; exit 0 if so, else 1"},
};
#define ACTION_COUNT (sizeof ACTIONS / sizeof *ACTIONS)

/* POSENC_CACHE_BYTES for cache-bytes. */
static const char *environment_name(const setting_row *setting, char dst[64])
{
    size_t used = (size_t)snprintf(dst, 64, "%s%s", ENVIRONMENT_PREFIX, setting->name);
    for (size_t i = sizeof ENVIRONMENT_PREFIX - 1; i < used; i++)
        dst[i] = dst[i] == '-' ? '_' : (char)toupper((unsigned char)dst[i]);
    return dst;
}

/* Decimal digits, for BYTES with KiB, MiB or GiB after them. */
static bool read_number(const setting_row *setting, const char *text, uint64_t *ret_number)
{
    static const char *const units[] = {"", "KiB", "MiB", "GiB"};
    uint64_t number = 0;
    const char *at = text;
    for (; *at >= '0' && *at <= '9'; at++) {
        if (number > (ANY - 9) / 10)
            return false;
        number = 10 * number + (uint64_t)(*at - '0');
    }
    if (at == text)
        return false;
    for (unsigned i = 0; i < (setting->type == BYTES ? 4 : 1); i++)
        if (strcmp(at, units[i]) == 0) {
            if (number > ANY >> (10 * i))
                return false;
            number <<= 10 * i;
            *ret_number = number;
            return number >= setting->minimum && number <= setting->maximum;
        }
    return false;
}

static bool is_choice(const setting_row *setting, const char *text)
{
    for (size_t i = 0; setting->choices && setting->choices[i]; i++)
        if (strcmp(setting->choices[i], text) == 0)
            return true;
    return setting->choices == NULL;
}

static void describe_rule(const setting_row *setting, char *dst, size_t size)
{
    switch (setting->type) {
    case TEXT:
        dst[0] = '\0';
        for (size_t i = 0, used = 0; setting->choices[i] && used < size; i++)
            used += (size_t)snprintf(dst + used, size - used, "%s%s", i ? " or " : "",
                                     setting->choices[i]);
        break;
    case SWITCH:
        snprintf(dst, size, "true or false");
        break;
    case NUMBER:
    case BYTES: {
        int used =
            snprintf(dst, size, "a number from %llu", (unsigned long long)setting->minimum);
        if (setting->maximum != ANY)
            used += snprintf(dst + used, size - (size_t)used, " to %llu",
                             (unsigned long long)setting->maximum);
        if (setting->type == BYTES)
            snprintf(dst + used, size - (size_t)used,
                     ", with KiB, MiB or GiB after it if you like");
    }
    }
}

/* Set one setting from text; `source` is the flag or variable for the error. */
static bool set(server_settings *settings, const setting_row *setting, const char *source,
                const char *text, FILE *errors)
{
    char *field = (char *)settings + setting->offset;
    bool legal = false;
    switch (setting->type) {
    case TEXT:
        legal = is_choice(setting, text);
        *(const char **)(void *)field = text;
        break;
    case NUMBER:
    case BYTES:
        legal = read_number(setting, text, (uint64_t *)(void *)field);
        break;
    case SWITCH:
        legal = strcmp(text, "true") == 0 || strcmp(text, "false") == 0;
        *(bool *)(void *)field = text[0] == 't';
        break;
    }
    if (!legal) {
        char rule[160];
        describe_rule(setting, rule, sizeof rule);
        fprintf(errors, "posenc-server: %s: \"%s\" is not %s\n", source, text, rule);
    }
    return legal;
}

static void suggest(const char *given, FILE *errors)
{
    const char *names[SETTING_COUNT + ACTION_COUNT];
    size_t count = 0;
    for (size_t i = 0; i < SETTING_COUNT; i++)
        names[count++] = SETTINGS[i].name;
    for (size_t i = 0; i < ACTION_COUNT; i++)
        names[count++] = ACTIONS[i].name;
    const char *nearest = pe_nearest(given, names, count);
    if (nearest)
        fprintf(errors, "; did you mean --%s?\n", nearest);
    else
        fputs("; --help lists the flags\n", errors);
}

/* Read the flag at argv[*at]; moves *at past a separate value. */
static bool read_flag(server_settings *settings, char *const *argv, int argc, int *at,
                      FILE *errors)
{
    const char *flag = argv[*at], *equals = strchr(flag, '=');
    size_t length = equals ? (size_t)(equals - flag) : strlen(flag);
    if (strcmp(flag, "-h") == 0)
        flag = "--help";
    for (size_t i = 0; i < ACTION_COUNT && !equals; i++)
        if (strncmp(flag, "--", 2) == 0 && strcmp(flag + 2, ACTIONS[i].name) == 0) {
            settings->action = ACTIONS[i].action;
            return true;
        }
    for (size_t i = 0; i < SETTING_COUNT; i++) {
        const setting_row *setting = &SETTINGS[i];
        if (strncmp(flag, "--", 2) != 0 || length != strlen(setting->name) + 2 ||
            memcmp(flag + 2, setting->name, length - 2) != 0)
            continue;
        const char *value = equals ? equals + 1 : NULL;
        bool follows = *at + 1 < argc && (strcmp(argv[*at + 1], "true") == 0 ||
                                          strcmp(argv[*at + 1], "false") == 0);
        if (!value && setting->type == SWITCH && !follows)
            value = "true";
        else if (!value && *at + 1 < argc)
            value = argv[++*at];
        if (value)
            return set(settings, setting, flag, value, errors);
        fprintf(errors, "posenc-server: %s needs a value\n", flag);
        return false;
    }
    fprintf(errors, "posenc-server: unknown argument %s", flag);
    char name[64];
    const char *start = flag + strspn(flag, "-");
    snprintf(name, sizeof name, "%.*s", (int)(length - (size_t)(start - flag)), start);
    suggest(name, errors);
    if (strncmp(flag, "--", 2) == 0 && !equals && *at + 1 < argc && argv[*at + 1][0] != '-')
        ++*at; /* its value, most likely */
    return false;
}

/* Whether Kubernetes set the variable, as it does for every service by the service's name; ours
 * is likely to be called posenc. */
static bool is_service_link(const char *variable)
{
    static const char *const starts[] = {ENVIRONMENT_PREFIX "SERVICE_",
                                         ENVIRONMENT_PREFIX "PORT_",
                                         ENVIRONMENT_PREFIX "PORT=tcp://"};
    for (size_t i = 0; i < sizeof starts / sizeof *starts; i++)
        if (strncmp(variable, starts[i], strlen(starts[i])) == 0)
            return true;
    return false;
}

/* Read POSENC_… variables; an unknown one is a mistake worth knowing of. */
static bool read_environment(server_settings *settings, char *const *environment, FILE *errors)
{
    bool legal = true;
    for (; environment && *environment; environment++) {
        const char *equals = strchr(*environment, '=');
        if (!equals ||
            strncmp(*environment, ENVIRONMENT_PREFIX, sizeof ENVIRONMENT_PREFIX - 1) != 0 ||
            is_service_link(*environment))
            continue;
        size_t i = 0, length = (size_t)(equals - *environment);
        char name[64];
        while (i < SETTING_COUNT && (strlen(environment_name(&SETTINGS[i], name)) != length ||
                                     memcmp(*environment, name, length) != 0))
            i++;
        if (i < SETTING_COUNT) {
            legal = set(settings, &SETTINGS[i], name, equals + 1, errors) && legal;
        } else {
            fprintf(errors, "posenc-server: unknown variable %.*s; --help lists them\n",
                    (int)length, *environment);
            legal = false;
        }
    }
    return legal;
}

bool settings_read(server_settings *ret_settings, int argc, char *const *argv,
                   char *const *environment, FILE *errors)
{
    bool legal = true;
    *ret_settings = (server_settings){.action = SETTINGS_SERVE};
    for (size_t i = 0; i < SETTING_COUNT; i++)
        set(ret_settings, &SETTINGS[i], SETTINGS[i].name, SETTINGS[i].default_text, errors);
    legal = read_environment(ret_settings, environment, errors);
    for (int at = 1; at < argc; at++)
        legal = read_flag(ret_settings, argv, argc, &at, errors) && legal;
    if (ret_settings->store_bytes == 0)
        ret_settings->store_bytes =
            ret_settings->data_directory[0] ? STORE_ON_DISK : STORE_IN_MEMORY;
    return legal;
}

void settings_print_help(FILE *out)
{
    fputs("posenc-server: positional encodings over HTTP\n\n"
          "Usage: posenc-server [--setting VALUE | --setting=VALUE]…\n\n"
          "A flag beats the environment variable, which beats the default.\n\n",
          out);
    for (size_t i = 0; i < SETTING_COUNT; i++) {
        const setting_row *setting = &SETTINGS[i];
        char variable[64];
        fprintf(out, "  --%-18s %s\n%*s%s, default %s\n", setting->name, setting->help, 23, "",
                environment_name(setting, variable),
                setting->default_text[0] ? setting->default_text : "none");
    }
    fputs("\n", out);
    for (size_t i = 0; i < ACTION_COUNT; i++)
        fprintf(out, "  --%-18s %s\n", ACTIONS[i].name, ACTIONS[i].help);
}

static uint64_t number_at(const server_settings *settings, const setting_row *setting)
{
    return *(const uint64_t *)(const void *)((const char *)settings + setting->offset);
}

void settings_print(const server_settings *settings, FILE *out)
{
    for (size_t i = 0; i < SETTING_COUNT; i++) {
        const setting_row *setting = &SETTINGS[i];
        const char *field = (const char *)settings + setting->offset;
        fprintf(out, "%s = ", setting->name);
        switch (setting->type) {
        case TEXT:
            fprintf(out, "%s\n", *(const char *const *)(const void *)field);
            break;
        case SWITCH:
            fprintf(out, "%s\n", *(const bool *)field ? "true" : "false");
            break;
        case NUMBER:
        case BYTES:
            fprintf(out, "%llu\n", (unsigned long long)number_at(settings, setting));
            break;
        }
    }
}

size_t settings_limits(const server_settings *settings, api_limit *ret_limits, size_t room)
{
    size_t count = 0;
    for (size_t i = 0; i < SETTING_COUNT && count < room; i++)
        if (SETTINGS[i].limit_unit)
            ret_limits[count++] =
                (api_limit){SETTINGS[i].name, SETTINGS[i].limit_unit, SETTINGS[i].help,
                            number_at(settings, &SETTINGS[i])};
    return count;
}

unsigned settings_threads(const server_settings *settings)
{
    long processors =
        settings->threads > 0 ? (long)settings->threads : sysconf(_SC_NPROCESSORS_ONLN);
    if (settings->threads == 0 && processors > AUTOMATIC_THREADS_MAX)
        processors = AUTOMATIC_THREADS_MAX;
    return processors < 1 ? 1 : (unsigned)processors;
}

uint64_t settings_table_bytes(const server_settings *settings)
{
    return settings->cache_bytes / 4;
}
