/* Lines contain visible ASCII and blanks only, whatever bytes a field's text has. */
#include "observe/log.h"

#include "bytes/text.h"

#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#define SECOND 1000000000U

struct log_line {
    api_text text;
};

static bool as_json;
static const char *const LEVELS[] = {
    [LOG_LEVEL_INFO] = "info", [LOG_LEVEL_WARNING] = "warning", [LOG_LEVEL_ERROR] = "error"};

void log_use_json(bool json)
{
    as_json = json;
}

/* Write a JSON string. The encoding of the text is unknown and may be invalid, so every byte
 * that is not visible ASCII is written as the code point of the same value: no byte is lost. */
static void write_json_string(const char *text, api_text *out)
{
    api_text_put(out, "\"", 1);
    for (; *text; text++) {
        unsigned char c = (unsigned char)*text;
        if (c < ' ' || c > '~')
            api_text_add(out, "\\u%04x", c);
        else if (c == '"' || c == '\\')
            api_text_add(out, "\\%c", c);
        else
            api_text_put(out, text, 1);
    }
    api_text_put(out, "\"", 1);
}

/* Write a text without blanks, so that it cannot look like several fields: a byte that is not
 * visible ASCII as \xNN, a backslash as two. */
static void write_escaped(const char *text, api_text *out)
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

/* Write the time in UTC, as 2026-01-31T23:59:59.999Z. */
static void write_time(api_text *out)
{
    char stamp[32];
    struct timespec now;
    struct tm utc;
    clock_gettime(CLOCK_REALTIME, &now);
    gmtime_r(&now.tv_sec, &utc);
    strftime(stamp, sizeof stamp, "%Y-%m-%dT%H:%M:%S", &utc);
    api_text_add(out, "%s.%03ldZ", stamp, now.tv_nsec / 1000000);
}

log_line *log_begin(log_level level, const char *message)
{
    log_line *line = calloc(1, sizeof *line);
    if (!line)
        return NULL;
    api_text *out = &line->text;
    api_text_add(out, "%s", as_json ? "{\"time\":\"" : "");
    write_time(out);
    if (as_json) {
        api_text_add(out, "\",\"level\":\"%s\",\"message\":", LEVELS[level]);
        write_json_string(message, out);
    } else {
        api_text_add(out, " %s %s", LEVELS[level], message);
    }
    return line;
}

static void begin_field(log_line *line, const char *name)
{
    api_text_add(&line->text, as_json ? ",\"%s\":" : " %s=", name);
}

void log_text(log_line *line, const char *name, const char *text)
{
    if (!line || !text)
        return;
    begin_field(line, name);
    if (as_json)
        write_json_string(text, &line->text);
    else
        write_escaped(text, &line->text);
}

void log_number(log_line *line, const char *name, uint64_t number)
{
    if (!line)
        return;
    begin_field(line, name);
    api_text_add(&line->text, "%llu", (unsigned long long)number);
}

void log_seconds(log_line *line, const char *name, uint64_t nanoseconds)
{
    if (!line)
        return;
    begin_field(line, name);
    api_text_add(&line->text, "%llu.%09llu", (unsigned long long)(nanoseconds / SECOND),
                 (unsigned long long)(nanoseconds % SECOND));
}

/* The line is written by one call, so that lines of several threads do not mix. A line is not
 * written if memory ran out for a part of it. */
void log_end(log_line *line)
{
    if (!line)
        return;
    api_text_add(&line->text, "%s\n", as_json ? "}" : "");
    if (!line->text.failed) {
        ssize_t written = write(STDERR_FILENO, line->text.data, line->text.size);
        (void)written; /* a failure cannot be reported anywhere */
    }
    api_text_done(&line->text);
    free(line);
}

void log_event(log_level level, const char *message, const log_field *fields)
{
    log_line *line = log_begin(level, message);
    for (; fields && fields->name; fields++)
        if (fields->text)
            log_text(line, fields->name, fields->text);
        else
            log_number(line, fields->name, fields->number);
    log_end(line);
}
