/* Log lines. Whatever bytes a text has, it is written as visible ASCII. */
#include "log.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#define SECOND 1000000000U

struct log_line {
    char *text;
    size_t size;
    FILE *out;
};

static bool as_json;
static const char *const LEVELS[] = {"info", "warning", "error"};

void log_use_json(bool json)
{
    as_json = json;
}

/* A JSON string. Texts come in any encoding or none: a byte that is not visible ASCII stands as
 * the code point of its value, so that nothing is lost and every line is valid. */
static void write_string(const char *text, FILE *out)
{
    fputc('"', out);
    for (; *text; text++) {
        unsigned char c = (unsigned char)*text;
        if (c < ' ' || c > '~')
            fprintf(out, "\\u%04x", c);
        else if (c == '"' || c == '\\')
            fprintf(out, "\\%c", c);
        else
            fputc(c, out);
    }
    fputc('"', out);
}

/* A field's text without blanks, so that it cannot pass for further fields: what is not visible
 * ASCII becomes \xNN, a backslash is doubled. */
static void write_visible(const char *text, FILE *out)
{
    for (; *text; text++) {
        unsigned char c = (unsigned char)*text;
        if (c == '\\')
            fputs("\\\\", out);
        else if (c > ' ' && c <= '~')
            fputc(c, out);
        else
            fprintf(out, "\\x%02x", c);
    }
}

static void write_time(FILE *out)
{
    char stamp[32];
    struct timespec now;
    struct tm utc;
    clock_gettime(CLOCK_REALTIME, &now);
    gmtime_r(&now.tv_sec, &utc);
    strftime(stamp, sizeof stamp, "%Y-%m-%dT%H:%M:%S", &utc);
    fprintf(out, "%s.%03ldZ", stamp, now.tv_nsec / 1000000);
}

log_line *log_begin(log_level level, const char *message)
{
    log_line *line = calloc(1, sizeof *line);
    if (!line)
        return NULL;
    line->out = open_memstream(&line->text, &line->size);
    if (!line->out) {
        free(line);
        return NULL;
    }
    fputs(as_json ? "{\"time\":\"" : "", line->out);
    write_time(line->out);
    if (as_json) {
        fprintf(line->out, "\",\"level\":\"%s\",\"message\":", LEVELS[level]);
        write_string(message, line->out);
    } else {
        fprintf(line->out, " %s %s", LEVELS[level], message);
    }
    return line;
}

static void begin_field(log_line *line, const char *name)
{
    fprintf(line->out, as_json ? ",\"%s\":" : " %s=", name);
}

void log_text(log_line *line, const char *name, const char *text)
{
    if (!line || !text)
        return;
    begin_field(line, name);
    (as_json ? write_string : write_visible)(text, line->out);
}

void log_number(log_line *line, const char *name, uint64_t number)
{
    if (!line)
        return;
    begin_field(line, name);
    fprintf(line->out, "%llu", (unsigned long long)number);
}

void log_seconds(log_line *line, const char *name, uint64_t nanoseconds)
{
    if (!line)
        return;
    begin_field(line, name);
    fprintf(line->out, "%llu.%09llu", (unsigned long long)(nanoseconds / SECOND),
            (unsigned long long)(nanoseconds % SECOND));
}

/* One write, so that lines of several threads do not mix. */
void log_end(log_line *line)
{
    if (!line)
        return;
    fputs(as_json ? "}\n" : "\n", line->out);
    if (fclose(line->out) == 0) {
        ssize_t written = write(STDERR_FILENO, line->text, line->size);
        (void)written; /* there is nowhere left to complain */
    }
    free(line->text);
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
