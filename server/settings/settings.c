/* Everything that reads the table of settings. */
#include "settings/settings.h"

#include "settings/setting_table.h"
#include "settings/wrapped_text.h"

#include <ctype.h>
#include <string.h>
#include <unistd.h>

#define ENVIRONMENT_PREFIX    "POSENC_"
#define AUTOMATIC_THREADS_MAX 8
#define STORE_ON_DISK         ((uint64_t)4 << 30)   /* bytes: max-store-bytes with a database */
#define STORE_IN_MEMORY       ((uint64_t)512 << 20) /* and without */

/* The environment variable of a setting, such as POSENC_CACHE_BYTES for cache-bytes. */
static const char *environment_name(const setting_row *setting, char dst[64])
{
    size_t used = (size_t)snprintf(dst, 64, "%s%s", ENVIRONMENT_PREFIX, setting->name);
    for (size_t i = sizeof ENVIRONMENT_PREFIX - 1; i < used; i++)
        dst[i] = dst[i] == '-' ? '_' : (char)toupper((unsigned char)dst[i]);
    return dst;
}

/* ---- values ---- */

/* Read decimal digits; for SETTING_BYTES a unit may follow them. False if the text is anything
 * else or the number is out of range. */
static bool read_number(const setting_row *setting, const char *text, uint64_t *ret_number)
{
    static const char *const UNITS[] = {"", "KiB", "MiB", "GiB"};
    uint64_t number = 0;
    const char *unit = text;
    for (; *unit >= '0' && *unit <= '9'; unit++) {
        if (number > (UINT64_MAX - 9) / 10)
            return false;
        number = 10 * number + (uint64_t)(*unit - '0');
    }
    if (unit == text)
        return false;
    for (unsigned i = 0; i < (setting->type == SETTING_BYTES ? 4 : 1); i++)
        if (strcmp(unit, UNITS[i]) == 0) {
            if (number > UINT64_MAX >> (10 * i))
                return false;
            *ret_number = number << (10 * i);
            return *ret_number >= setting->minimum && *ret_number <= setting->maximum;
        }
    return false;
}

static bool is_legal_text(const setting_row *setting, const char *text)
{
    for (size_t i = 0; setting->choices && setting->choices[i]; i++)
        if (strcmp(setting->choices[i], text) == 0)
            return true;
    return setting->choices == NULL &&
           (!*text || !setting->is_clear || setting->is_clear(text));
}

/* Describe the legal values, to complete "X is not …". */
static void describe_values(const setting_row *setting, char *dst, size_t size)
{
    size_t used = 0;
    switch (setting->type) {
    case SETTING_TEXT:
        snprintf(dst, size, "%s", setting->form ? setting->form : "");
        for (size_t i = 0; setting->choices && setting->choices[i] && used < size; i++)
            used += (size_t)snprintf(dst + used, size - used, "%s%s", i ? " or " : "",
                                     setting->choices[i]);
        break;
    case SETTING_SWITCH:
        snprintf(dst, size, "true or false");
        break;
    case SETTING_NUMBER:
    case SETTING_BYTES:
        used = (size_t)snprintf(dst, size, "a number from %llu",
                                (unsigned long long)setting->minimum);
        if (setting->maximum != UINT64_MAX)
            used += (size_t)snprintf(dst + used, size - used, " to %llu",
                                     (unsigned long long)setting->maximum);
        if (setting->type == SETTING_BYTES)
            snprintf(dst + used, size - used, ", optionally with KiB, MiB or GiB after it");
        break;
    }
}

/* Print that a value is not legal. `source` may be the whole argument --flag=VALUE; what may be
 * a secret is not shown. */
static void report_value(const setting_row *setting, const char *source, const char *text,
                         FILE *errors)
{
    char values[160];
    describe_values(setting, values, sizeof values);
    if (setting->is_secret)
        fprintf(errors, "posenc-server: %.*s: the value is not %s\n", (int)strcspn(source, "="),
                source, values);
    else
        fprintf(errors, "posenc-server: %s: \"%s\" is not %s\n", source, text, values);
}

/* Set one setting from text. `source` names the flag or the variable in the error. */
static bool assign_setting(server_settings *settings, const setting_row *setting,
                           const char *source, const char *text, FILE *errors)
{
    void *member = (char *)settings + setting->offset;
    bool legal = false;
    switch (setting->type) {
    case SETTING_TEXT:
        legal = is_legal_text(setting, text);
        *(const char **)member = text;
        break;
    case SETTING_NUMBER:
    case SETTING_BYTES:
        legal = read_number(setting, text, member);
        break;
    case SETTING_SWITCH:
        legal = strcmp(text, "true") == 0 || strcmp(text, "false") == 0;
        *(bool *)member = text[0] == 't';
        break;
    }
    if (!legal)
        report_value(setting, source, text, errors);
    return legal;
}

/* ---- flags ---- */

static const setting_row *find_setting(const char *name, size_t length)
{
    for (size_t i = 0; i < SETTING_COUNT; i++)
        if (strlen(SETTINGS[i].name) == length && memcmp(SETTINGS[i].name, name, length) == 0)
            return &SETTINGS[i];
    return NULL;
}

static const action_row *find_action(const char *name)
{
    for (size_t i = 0; i < ACTION_COUNT; i++)
        if (strcmp(ACTIONS[i].name, name) == 0)
            return &ACTIONS[i];
    return NULL;
}

/* Report an unknown flag, with the flag of the most similar name. */
static void report_unknown(const char *flag, size_t length, FILE *errors)
{
    const char *names[SETTING_COUNT + ACTION_COUNT];
    size_t count = 0;
    for (size_t i = 0; i < SETTING_COUNT; i++)
        names[count++] = SETTINGS[i].name;
    for (size_t i = 0; i < ACTION_COUNT; i++)
        names[count++] = ACTIONS[i].name;
    char given[64];
    const char *start = flag + strspn(flag, "-");
    snprintf(given, sizeof given, "%.*s", (int)(length - (size_t)(start - flag)), start);
    const char *nearest = pe_find_nearest_name(given, names, count);
    fprintf(errors, "posenc-server: unknown argument %s; ", flag);
    if (nearest)
        fprintf(errors, "did you mean --%s?\n", nearest);
    else
        fputs("--help lists the flags\n", errors);
}

/* Read the value of a flag from the argument itself, after `equals`, or from the next argument;
 * then *index moves to that one. A switch may have no value, which means true. */
static bool read_value(server_settings *settings, const setting_row *setting, char *const *argv,
                       int argc, int *index, const char *equals, FILE *errors)
{
    const char *flag = argv[*index], *next = *index + 1 < argc ? argv[*index + 1] : NULL;
    if (equals)
        return assign_setting(settings, setting, flag, equals + 1, errors);
    if (setting->type == SETTING_SWITCH &&
        !(next && (strcmp(next, "true") == 0 || strcmp(next, "false") == 0)))
        return assign_setting(settings, setting, flag, "true", errors);
    if (!next) {
        fprintf(errors, "posenc-server: %s needs a value\n", flag);
        return false;
    }
    ++*index;
    return assign_setting(settings, setting, flag, next, errors);
}

/* Read the flag argv[*index]; *index moves to its value if that is the next argument. */
static bool read_flag(server_settings *settings, char *const *argv, int argc, int *index,
                      FILE *errors)
{
    const char *flag = strcmp(argv[*index], "-h") == 0 ? "--help" : argv[*index];
    const char *equals = strchr(flag, '=');
    size_t length = equals ? (size_t)(equals - flag) : strlen(flag);
    bool has_dashes = strncmp(flag, "--", 2) == 0;
    const action_row *action = has_dashes && !equals ? find_action(flag + 2) : NULL;
    if (action) {
        settings->action = action->action;
        return true;
    }
    const setting_row *setting =
        has_dashes && length >= 2 ? find_setting(flag + 2, length - 2) : NULL;
    if (setting)
        return read_value(settings, setting, argv, argc, index, equals, errors);
    report_unknown(flag, length, errors);
    if (has_dashes && !equals && *index + 1 < argc && argv[*index + 1][0] != '-')
        ++*index; /* most likely the value of the unknown flag */
    return false;
}

/* ---- environment ---- */

/* Whether Kubernetes has set the variable. For every service it sets variables that begin with
 * the service's name, which is likely to be "posenc" for this server. */
static bool is_service_link(const char *variable)
{
    static const char *const STARTS[] = {ENVIRONMENT_PREFIX "SERVICE_",
                                         ENVIRONMENT_PREFIX "PORT_",
                                         ENVIRONMENT_PREFIX "PORT=tcp://"};
    for (size_t i = 0; i < sizeof STARTS / sizeof *STARTS; i++)
        if (strncmp(variable, STARTS[i], strlen(STARTS[i])) == 0)
            return true;
    return false;
}

/* Read one variable NAME=VALUE, whose name is `length` long. */
static bool read_variable(server_settings *settings, const char *variable, size_t length,
                          FILE *errors)
{
    char name[64];
    for (size_t i = 0; i < SETTING_COUNT; i++)
        if (strlen(environment_name(&SETTINGS[i], name)) == length &&
            memcmp(variable, name, length) == 0)
            return assign_setting(settings, &SETTINGS[i], name, variable + length + 1, errors);
    fprintf(errors, "posenc-server: unknown variable %.*s; --help lists the variables\n",
            (int)length, variable);
    return false;
}

/* Read all variables that begin with POSENC_. Unknown ones are errors, as misspelt names are
 * likely. */
static bool read_environment(server_settings *settings, char *const *environment, FILE *errors)
{
    bool legal = true;
    for (; environment && *environment; environment++) {
        const char *variable = *environment, *equals = strchr(variable, '=');
        size_t prefix = sizeof ENVIRONMENT_PREFIX - 1;
        if (equals && strncmp(variable, ENVIRONMENT_PREFIX, prefix) == 0 &&
            !is_service_link(variable))
            legal =
                read_variable(settings, variable, (size_t)(equals - variable), errors) && legal;
    }
    return legal;
}

bool settings_read(server_settings *ret_settings, int argc, char *const *argv,
                   char *const *environment, FILE *errors)
{
    *ret_settings = (server_settings){.action = SETTINGS_SERVE};
    for (size_t i = 0; i < SETTING_COUNT; i++)
        assign_setting(ret_settings, &SETTINGS[i], SETTINGS[i].name, SETTINGS[i].default_text,
                       errors);
    bool legal = read_environment(ret_settings, environment, errors);
    for (int index = 1; index < argc; index++)
        legal = read_flag(ret_settings, argv, argc, &index, errors) && legal;
    if (ret_settings->store_bytes == 0)
        ret_settings->store_bytes =
            ret_settings->data_directory[0] || ret_settings->database_url[0] ? STORE_ON_DISK
                                                                             : STORE_IN_MEMORY;
    return legal;
}

const char *settings_spool_directory(const server_settings *settings)
{
    return settings->spool_directory[0]  ? settings->spool_directory
           : settings->data_directory[0] ? settings->data_directory
                                         : "/tmp";
}

/* ---- printing ---- */

/* Print a flag, with its value if it has one, and its help beside it. */
static void print_flag(const char *name, const char *value, const char *help, FILE *out)
{
    enum { INDENT = 31, WIDTH = 78 };
    char flag[64];
    snprintf(flag, sizeof flag, "--%s%s%s", name, *value ? " " : "", value);
    fprintf(out, "  %-*s", INDENT - 2, flag);
    wrapped_text_print(help, INDENT, WIDTH, out);
    if (*value)
        fprintf(out, "%*s", INDENT, "");
}

void settings_print_help(FILE *out)
{
    fputs("posenc-server: positional encodings over HTTP\n\n"
          "Usage: posenc-server [--SETTING VALUE | --SETTING=VALUE]…\n\n"
          "A flag beats the environment variable, which beats the default. BYTES is a number;\n"
          "KiB, MiB or GiB may follow it.\n\n",
          out);
    for (size_t i = 0; i < SETTING_COUNT; i++) {
        const setting_row *setting = &SETTINGS[i];
        const char *standard = setting->default_text[0] ? setting->default_text : "none";
        char variable[64];
        print_flag(setting->name, setting->value, setting->help, out);
        fprintf(out, "%s, default %s\n", environment_name(setting, variable), standard);
    }
    fputs("\n", out);
    for (size_t i = 0; i < ACTION_COUNT; i++)
        print_flag(ACTIONS[i].name, "", ACTIONS[i].help, out);
}

static uint64_t get_number(const server_settings *settings, const setting_row *setting)
{
    return *(const uint64_t *)(const void *)((const char *)settings + setting->offset);
}

void settings_print(const server_settings *settings, FILE *out)
{
    for (size_t i = 0; i < SETTING_COUNT; i++) {
        const setting_row *setting = &SETTINGS[i];
        const void *member = (const char *)settings + setting->offset;
        fprintf(out, "%s = ", setting->name);
        switch (setting->type) {
        case SETTING_TEXT:
            fprintf(out, "%s\n",
                    setting->is_secret && **(const char *const *)member
                        ? "(not shown)"
                        : *(const char *const *)member);
            break;
        case SETTING_SWITCH:
            fprintf(out, "%s\n", *(const bool *)member ? "true" : "false");
            break;
        case SETTING_NUMBER:
        case SETTING_BYTES:
            fprintf(out, "%llu\n", (unsigned long long)get_number(settings, setting));
            break;
        }
    }
}

/* ---- derived values ---- */

/* Whether a list that ends with NULL has a name; one that is NULL has all. */
static bool has_name(const char *const *names, const char *name)
{
    for (size_t i = 0; names && names[i]; i++)
        if (strcmp(names[i], name) == 0)
            return true;
    return !names;
}

size_t settings_limits(const server_settings *settings, const char *const *names,
                       api_limit *ret_limits, size_t room)
{
    size_t count = 0;
    for (size_t i = 0; i < SETTING_COUNT && count < room; i++)
        if (SETTINGS[i].limit_unit && has_name(names, SETTINGS[i].name))
            ret_limits[count++] = (api_limit){.name = SETTINGS[i].name,
                                              .unit = SETTINGS[i].limit_unit,
                                              .help = SETTINGS[i].help,
                                              .value = get_number(settings, &SETTINGS[i])};
    return count;
}

unsigned settings_threads(const server_settings *settings)
{
    if (settings->threads > 0)
        return (unsigned)settings->threads;
    long processors = sysconf(_SC_NPROCESSORS_ONLN);
    if (processors < 1)
        return 1;
    return processors < AUTOMATIC_THREADS_MAX ? (unsigned)processors : AUTOMATIC_THREADS_MAX;
}
