/* The log: one line on stderr for each event, as text or as a JSON object. */
#ifndef LOG_H
#define LOG_H

#include <stdbool.h>
#include <stdint.h>

typedef enum log_level { LOG_LEVEL_INFO, LOG_LEVEL_WARNING, LOG_LEVEL_ERROR } log_level;

/* Choose JSON or text; text is the default. Called once, before threads are started. */
void log_use_json(bool json);

/* A field of a line. If `text` is NULL, its value is the number. A list of fields ends with one
 * whose name is NULL. */
typedef struct log_field {
    const char *name, *text; /* text NULL: the number */
    uint64_t number;
} log_field;

/* Write one line; `fields` may be NULL. Field texts are escaped, so that none can add a line or
 * a field. If memory runs out, the line is lost. */
void log_event(log_level level, const char *message, const log_field *fields);

/* Write one line in steps: begin it, add fields, end it. log_begin returns NULL if memory runs
 * out, and the other functions then do nothing. In text lines `message` and field names are not
 * escaped: they must be constants of the program. */
typedef struct log_line log_line;
log_line *log_begin(log_level level, const char *message);
void log_text(log_line *line, const char *name, const char *text); /* NULL: no field */
void log_number(log_line *line, const char *name, uint64_t number);
void log_seconds(log_line *line, const char *name, uint64_t nanoseconds);
void log_end(log_line *line);

#endif
