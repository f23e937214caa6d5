#include "settings/warm_file.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BLANKS " \t\r"

/* Read the text of the file. False: reterr has the reason. */
static bool read_text(warm_file *file, char *reterr, size_t size)
{
    FILE *stream = fopen(file->path, "re");
    size_t length = stream ? fread(file->text, 1, WARM_FILE_MAX + 1, stream) : 0;
    bool failed = !stream || ferror(stream);
    if (failed)
        snprintf(reterr, size, "warm: %s: %s", file->path, strerror(errno));
    else if (length > WARM_FILE_MAX)
        snprintf(reterr, size, "warm: %s: the file must have at most %zu bytes", file->path,
                 WARM_FILE_MAX);
    else if (memchr(file->text, '\0', length))
        snprintf(reterr, size, "warm: %s: the file must be text, without NUL", file->path);
    else
        reterr[0] = '\0';
    if (stream)
        fclose(stream);
    return !reterr[0];
}

/* Take one line, which may be changed. False: reterr has the reason. */
static bool take_line(warm_file *file, char *text, size_t line, char *reterr, size_t size)
{
    text += strspn(text, BLANKS);
    for (char *end = text + strlen(text); end > text && strchr(BLANKS, end[-1]); end--)
        end[-1] = '\0';
    if (*text == '\0' || *text == '#')
        return true;
    for (const char *at = text; *at; at++)
        if (*at <= ' ' || *at > '~') {
            snprintf(reterr, size,
                     "warm: %s:%zu: a target must be printable ASCII without blanks; "
                     "percent-encode other characters",
                     file->path, line);
            return false;
        }
    if (file->count == WARM_TARGETS_MAX) {
        snprintf(reterr, size, "warm: %s: the file must have at most %d targets", file->path,
                 WARM_TARGETS_MAX);
        return false;
    }
    file->targets[file->count++] = (warm_target){text, line};
    return true;
}

/* Take every line. False: reterr has the reason. */
static bool take_lines(warm_file *file, char *reterr, size_t size)
{
    size_t line = 1;
    for (char *at = file->text, *next; at; at = next, line++) {
        char *end = strchr(at, '\n');
        next = end ? end + 1 : NULL;
        if (end)
            *end = '\0';
        if (!take_line(file, at, line, reterr, size))
            return false;
    }
    return true;
}

warm_file *warm_file_read(const char *path, char *reterr, size_t size)
{
    warm_file *file = calloc(1, sizeof *file);
    if (file) {
        file->path = path;
        file->text = calloc(1, WARM_FILE_MAX + 2);
        file->targets = calloc(WARM_TARGETS_MAX, sizeof *file->targets);
    }
    if (!file || !file->text || !file->targets)
        snprintf(reterr, size, "warm: out of memory");
    else if (read_text(file, reterr, size) && take_lines(file, reterr, size))
        return file;
    warm_file_free(file);
    return NULL;
}

void warm_file_free(warm_file *file)
{
    if (!file)
        return;
    free(file->targets);
    free(file->text);
    free(file);
}
