/* Logs: one line an event on stderr, as text or JSON. */
#ifndef LOG_H
#define LOG_H

#include <stdbool.h>
#include <stdint.h>

typedef enum log_level { LOG_INFO, LOG_WARNING, LOG_ERROR } log_level;

/* Choose JSON lines; text is the default. Called once, before threads. */
void log_use_json(bool json);

/* A name and a text or a number; the list ends with a NULL name. */
typedef struct log_field {
    const char *name, *text; /* text NULL: the number */
    uint64_t number;
} log_field;

/* Write one line. Texts are escaped: a line stays a line, a field a
 * field. Without memory the line is lost. */
void log_event(log_level level, const char *message, const log_field *fields);

/* The same in steps: begin a line, add fields to it, and end it, which writes it. `message` and
 * names are ours. Without memory log_begin returns NULL, which the others take, too. */
typedef struct log_line log_line;
log_line *log_begin(log_level level, const char *message);
void log_text(log_line *line, const char *name, const char *text); /* NULL: no field */
void log_number(log_line *line, const char *name, uint64_t number);
void log_seconds(log_line *line, const char *name, uint64_t nanoseconds);
void log_end(log_line *line);

#endif
