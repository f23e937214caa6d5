/* Log lines. */
#include "log.h"

#include <jansson.h>
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

static void write_line(char *line, size_t length)
{
    line[length] = '\n'; /* in one write, so that lines of several threads do not mix */
    ssize_t written = write(STDERR_FILENO, line, length + 1);
    (void)written; /* there is nowhere left to complain */
}

static void write_json(const char *stamp, log_level level, const char *message,
                       const log_field *fields)
{
    json_t *object =
        json_pack("{s:s, s:s, s:s}", "time", stamp, "level", LEVELS[level], "message", message);
    for (; fields && fields->name; fields++)
        json_object_set_new(object, fields->name,
                            fields->text ? json_string(fields->text)
                                         : json_integer((json_int_t)fields->number));
    char *text = json_dumps(object, JSON_COMPACT);
    json_decref(object);
    if (text)
        write_line(text, strlen(text)); /* the newline takes the place of the NUL */
    free(text);
}

static void write_text(const char *stamp, log_level level, const char *message,
                       const log_field *fields)
{
    char line[2048];
    size_t used =
        (size_t)snprintf(line, sizeof line, "%s %s %s", stamp, LEVELS[level], message);
    for (; fields && fields->name && used < sizeof line - 32; fields++) {
        size_t room = sizeof line - 1 - used;
        int length = fields->text
                         ? snprintf(line + used, room, " %s=%s", fields->name, fields->text)
                         : snprintf(line + used, room, " %s=%llu", fields->name,
                                    (unsigned long long)fields->number);
        used += (size_t)length < room ? (size_t)length : room - 1;
    }
    for (size_t i = 0; i < used; i++)
        if ((unsigned char)line[i] < ' ' || line[i] == 0x7f)
            line[i] = '?';
    write_line(line, used);
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
    if (as_json)
        write_json(stamp, level, message, fields);
    else
        write_text(stamp, level, message, fields);
}
