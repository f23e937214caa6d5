#include "command/answer.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#define SENTENCES 16384 /* bytes: what a problem says, with a line for each error */

static const char *find_field(const api_reply *reply, const char *name)
{
    const api_field *fields;
    const size_t count = api_reply_fields(reply, &fields);
    for (size_t i = 0; i < count; i++)
        if (strcasecmp(fields[i].name, name) == 0)
            return fields[i].value;
    return NULL;
}

/* ---- where the answer goes ---- */

/* The file that is being written, which a signal removes: half a table is none. */
static const char *volatile unfinished;

static void end_by_signal(int number)
{
    if (unfinished)
        unlink(unfinished);
    signal(number, SIG_DFL);
    raise(number);
}

/* Open the file. False: a line says why not. */
static bool open_output(const char *path, int *ret_fd)
{
    struct stat status;
    *ret_fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (*ret_fd < 0) {
        fprintf(stderr, "posenc: %s: %s\n", path, strerror(errno));
        return false;
    }
    if (fstat(*ret_fd, &status) == 0 && S_ISREG(status.st_mode)) {
        static const int signals[] = {SIGINT, SIGTERM, SIGHUP};
        unfinished = path;
        for (size_t i = 0; i < sizeof signals / sizeof *signals; i++)
            if (signal(signals[i], end_by_signal) == SIG_IGN)
                signal(signals[i], SIG_IGN); /* as for a command that nohup starts */
    }
    return true;
}

/* Close the file, and remove it where it is not whole. False: a line says why. */
static bool close_output(const char *path, int fd, bool whole)
{
    const bool closed = close(fd) == 0;
    if (!closed)
        fprintf(stderr, "posenc: %s: %s\n", path, strerror(errno));
    if (unfinished && !(whole && closed))
        unlink(path);
    unfinished = NULL;
    return whole && closed;
}

/* ---- writing ---- */

static bool write_fully(int fd, const char *data, size_t size)
{
    while (size > 0) {
        const ssize_t written = write(fd, data, size);
        if (written < 0 && errno == EINTR)
            continue;
        if (written < 0) {
            fprintf(stderr, "posenc: the answer cannot be written: %s\n", strerror(errno));
            return false;
        }
        data += written;
        size -= (size_t)written;
    }
    return true;
}

static bool write_stream(int fd, api_body *body)
{
    const uint64_t size = api_body_size(body);
    char *buffer = malloc(API_READ_MAX);
    bool written = buffer != NULL;
    uint64_t offset = 0;
    for (size_t got = 1; written && got > 0; offset += got) {
        got = api_body_read(body, offset, buffer, API_READ_MAX);
        written = write_fully(fd, buffer, got);
    }
    if (!buffer)
        fputs("posenc: out of memory\n", stderr);
    if (written && size != API_LENGTH_UNKNOWN && offset != size) {
        fprintf(stderr, "posenc: the answer broke off after %llu of %llu bytes\n",
                (unsigned long long)offset, (unsigned long long)size);
        written = false;
    }
    free(buffer);
    return written;
}

static bool write_body(int fd, api_body *body)
{
    const api_segment *segments;
    if (!body)
        return true;
    if (api_body_is_stream(body))
        return write_stream(fd, body);
    const size_t count = api_body_segments(body, &segments);
    bool written = true;
    for (size_t i = 0; i < count && written; i++)
        written = write_fully(fd, segments[i].data, segments[i].size);
    return written;
}

static bool write_head(int fd, const api_reply *reply)
{
    const api_field *fields;
    const size_t count = api_reply_fields(reply, &fields);
    const api_body *body = api_reply_body(reply);
    const uint64_t length = body ? api_body_size(body) : api_reply_length(reply);
    bool written = dprintf(fd, "HTTP/1.1 %u \r\n", api_reply_status(reply)) > 0;
    for (size_t i = 0; i < count && written; i++)
        written = dprintf(fd, "%s: %s\r\n", fields[i].name, fields[i].value) > 0;
    if (length != API_LENGTH_UNKNOWN)
        dprintf(fd, "Content-Length: %llu\r\n", (unsigned long long)length);
    return written && write_fully(fd, "\r\n", 2);
}

/* Whether the head is written: it is all there is of the answer to HEAD. */
static bool has_head(const command_options *options)
{
    return options->include || strcmp(options->method, "HEAD") == 0;
}

static bool write_answer(const command_options *options, const api_reply *reply)
{
    int fd = STDOUT_FILENO;
    const bool to_file = options->output && strcmp(options->output, "-") != 0;
    if (!has_head(options) && !api_reply_body(reply))
        return true; /* 204 and 304: the file stays as it is */
    if (to_file && !open_output(options->output, &fd))
        return false;
    bool written = !has_head(options) || write_head(fd, reply);
    if (strcmp(options->method, "HEAD") != 0)
        written = written && write_body(fd, api_reply_body(reply));
    return to_file ? close_output(options->output, fd, written) : written;
}

/* ---- what is said ---- */

/* Whether a terminal shows the answer as text. */
static bool is_text(const api_reply *reply)
{
    const char *type = find_field(reply, "Content-Type");
    return !find_field(reply, "Content-Encoding") &&
           (!type || strncmp(type, "text/", 5) == 0 || strstr(type, "json"));
}

/* Say what a problem document says; false if the reply is none. */
static bool say_problem(const command_options *options, const api_reply *reply)
{
    char said[SENTENCES];
    if (!api_reply_explain(reply, said, sizeof said))
        return false;
    fprintf(stderr, "posenc: %s\n", said);
    if (api_reply_status(reply) == 405 && !options->file && strcmp(options->method, "GET") == 0)
        fputs("posenc: with a file the request is a POST: posenc 'TARGET' FILE; in a shell, "
              "quote the URL\n",
              stderr);
    return true;
}

/* Whether the answer is of the format that the file's ending names. */
static bool fits_output(const command_options *options, const api_reply *reply)
{
    const char *type = find_field(reply, "Content-Type"), *expected = options->output_type;
    if (!type || !expected || has_head(options) ||
        strncmp(type, expected, strlen(expected)) == 0)
        return true;
    fprintf(stderr,
            "posenc: %s: the answer is %.*s, and the ending of the file says %s; name a file "
            "with another ending, or ask for another format\n",
            options->output, (int)strcspn(type, ";"), type, expected);
    return false;
}

command_status command_answer_write(const command_options *options, const api_reply *reply)
{
    const bool wrong = api_reply_status(reply) >= 400;
    if (wrong && !options->include && say_problem(options, reply))
        return COMMAND_WRONG;
    if (!options->output && api_reply_body(reply) && !is_text(reply) && isatty(STDOUT_FILENO)) {
        fputs("posenc: the answer is binary and would go to a terminal: name a file with -o, "
              "or write it to the terminal with -o -\n",
              stderr);
        return COMMAND_USAGE;
    }
    if (!fits_output(options, reply))
        return COMMAND_USAGE;
    return write_answer(options, reply) && !wrong ? COMMAND_DONE : COMMAND_WRONG;
}
