/* Log lines. */
#include "log.h"

#include "document.h"
#include "text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static bool as_json;
static const char *const LEVELS[] = {"info", "warning", "error"};

void log_use_json(bool json)
{
    as_json = json;
}

/* One write, so that lines of several threads do not mix. */
static void write_line(char *line, size_t length)
{
    line[length] = '\n'; /* in place of the NUL */
    ssize_t written = write(STDERR_FILENO, line, length + 1);
    (void)written; /* there is nowhere left to complain */
}

/* JSON needs UTF-8 and does its own quoting: a byte past ASCII becomes a question mark. */
static json_t *json_ascii(const char *text)
{
    char *copy = strdup(text);
    if (!copy)
        api_document_spoil();
    for (char *at = copy; at && *at; at++)
        if ((unsigned char)*at >= 0x80)
            *at = '?';
    json_t *string = json_string(copy);
    free(copy);
    return string;
}

static char *json_line(const char *stamp, log_level level, const char *message,
                       const log_field *fields)
{
    api_document_begin();
    json_t *object = json_object();
    json_object_set_new(object, "time", json_string(stamp));
    json_object_set_new(object, "level", json_string(LEVELS[level]));
    json_object_set_new(object, "message", json_ascii(message));
    for (; fields && fields->name; fields++)
        json_object_set_new(object, fields->name,
                            fields->text ? json_ascii(fields->text)
                                         : json_integer((json_int_t)fields->number));
    return api_document_text(object, JSON_COMPACT);
}

/* A field's text without blanks, so that it cannot pass for further fields: what is not visible
 * ASCII becomes \xNN, a backslash is doubled. */
static void write_visible(const char *text, api_text *out)
{
    for (; *text; text++) {
        unsigned char c = (unsigned char)*text;
        if (c == '\\')
            api_text_put(out, "\\\\", 2);
        else if (c > ' ' && c <= '~')
            api_text_put(out, text, 1);
        else
            api_text_add(out, "\\x%02x", c);
    }
}

static char *text_line(const char *stamp, log_level level, const char *message,
                       const log_field *fields)
{
    api_text text = {0};
    api_text_add(&text, "%s %s %s", stamp, LEVELS[level], message);
    for (; fields && fields->name; fields++) {
        api_text_add(&text, " %s=", fields->name);
        if (fields->text)
            write_visible(fields->text, &text);
        else
            api_text_add(&text, "%llu", (unsigned long long)fields->number);
    }
    return api_text_take(&text);
}

void log_event(log_level level, const char *message, const log_field *fields)
{
    char stamp[32];
    struct timespec now;
    struct tm utc;
    clock_gettime(CLOCK_REALTIME, &now);
    gmtime_r(&now.tv_sec, &utc);
    size_t used = strftime(stamp, sizeof stamp, "%Y-%m-%dT%H:%M:%S", &utc);
    snprintf(stamp + used, sizeof stamp - used, ".%03ldZ", now.tv_nsec / 1000000);
    char *line = as_json ? json_line(stamp, level, message, fields)
                         : text_line(stamp, level, message, fields);
    if (line)
        write_line(line, strlen(line));
    free(line);
}
