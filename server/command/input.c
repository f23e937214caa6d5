#include "command/input.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#define PART ((size_t)1 << 20) /* bytes that are read at once */

/* Write "FILE: reason" and return false. */
static bool report_failure(char *reterr, size_t size, const char *file, const char *reason)
{
    snprintf(reterr, size, "%s: %s", file, reason);
    return false;
}

/* Read until `size` bytes are there, or the end. False: errno. */
static bool read_fully(int fd, char *dst, size_t size, size_t *ret_read)
{
    *ret_read = 0;
    while (*ret_read < size) {
        const ssize_t got = read(fd, dst + *ret_read, size - *ret_read);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return false;
        if (got == 0)
            break;
        *ret_read += (size_t)got;
    }
    return true;
}

bool command_input_open(command_input *ret_input, const char *file, char *reterr, size_t size)
{
    struct stat status;
    const bool standard = strcmp(file, "-") == 0;
    *ret_input = (command_input){.spool.fd = -1};
    ret_input->fd = standard ? STDIN_FILENO : open(file, O_RDONLY | O_CLOEXEC);
    if (ret_input->fd < 0 || fstat(ret_input->fd, &status) != 0)
        return report_failure(reterr, size, file, strerror(errno));
    const off_t origin = S_ISREG(status.st_mode) ? lseek(ret_input->fd, 0, SEEK_CUR) : -1;
    ret_input->seekable = origin >= 0 && status.st_size > origin;
    ret_input->origin = ret_input->seekable ? (uint64_t)origin : 0;
    ret_input->start = malloc(PART);
    if (!ret_input->start)
        return report_failure(reterr, size, file, "out of memory");
    if (!read_fully(ret_input->fd, ret_input->start, PART, &ret_input->held))
        return report_failure(reterr, size, file, strerror(errno));
    ret_input->whole = ret_input->held < PART;
    ret_input->size = ret_input->seekable && !ret_input->whole
                          ? (uint64_t)(status.st_size - origin)
                          : ret_input->held;
    return true;
}

bool command_input_reads(const command_input *input, const char *path)
{
    struct stat own, other;
    return input->fd >= 0 && fstat(input->fd, &own) == 0 && stat(path, &other) == 0 &&
           S_ISREG(own.st_mode) && own.st_dev == other.st_dev && own.st_ino == other.st_ino;
}

void command_input_close(command_input *input)
{
    if (input->fd > STDIN_FILENO)
        close(input->fd);
    http_spool_close(&input->spool);
    free(input->start);
}

/* ---- what it is ---- */

const char *command_media_type_find(const char *file)
{
    static const struct {
        const char *ending, *media_type;
    } types[] = {
        {".bin", "application/octet-stream"},
        {".csv", "text/csv"},
        {".json", "application/json"},
        {".npy", "application/x-npy"},
        {".png", "image/png"},
        {".raw", "application/octet-stream"},
        {".safetensors", "application/vnd.safetensors"},
    };
    const char *name = strrchr(file, '/'), *ending = strrchr(name ? name : file, '.');
    for (size_t i = 0; ending && i < sizeof types / sizeof *types; i++)
        if (strcasecmp(ending, types[i].ending) == 0)
            return types[i].media_type;
    return ending ? "" : NULL;
}

bool command_input_is_gguf(const command_input *input)
{
    return input->held >= 4 && memcmp(input->start, "GGUF", 4) == 0;
}

/* Whether the first bytes are the length of a header, and the header of a safetensors file. */
static bool is_safetensors(const command_input *input)
{
    uint64_t length = 0;
    for (size_t i = 0; i < 8 && input->held > 8; i++)
        length |= (uint64_t)(unsigned char)input->start[i] << (8 * i);
    return input->held > 8 && input->start[8] == '{' && length <= API_SET_HEADER_MAX * 128;
}

static const char *guess_media_type(const command_input *input)
{
    size_t at = 0;
    if (input->held >= 6 && memcmp(input->start, "\x93NUMPY", 6) == 0)
        return "application/x-npy";
    if (command_input_is_gguf(input))
        return "application/octet-stream";
    if (is_safetensors(input))
        return "application/vnd.safetensors";
    while (at < input->held && strchr(" \t\r\n", input->start[at]) && input->start[at])
        at++;
    const bool json = at < input->held && (input->start[at] == '{' || input->start[at] == '[');
    return json ? "application/json" : "application/octet-stream";
}

const char *command_input_media_type(const command_input *input, const char *file)
{
    const char *media_type = command_media_type_find(file);
    return media_type && media_type[0] ? media_type : guess_media_type(input);
}

/* ---- all of it ---- */

/* Keep what has not come as a file in one without a name. */
static bool spool_body(command_input *input, uint64_t limit, const char *directory,
                       char *reterr, size_t size)
{
    size_t got = input->held;
    bool written = http_spool_write(&input->spool, directory, input->start, got);
    while (written && got > 0 && input->spool.size <= limit) {
        if (!read_fully(input->fd, input->start, PART, &got))
            return report_failure(reterr, size, "standard input", strerror(errno));
        written = got == 0 || http_spool_write(&input->spool, directory, input->start, got);
    }
    input->size = input->spool.size;
    return written || report_failure(reterr, size, directory, "has no room for the body");
}

/* Read the rest into memory, up to a byte above the limit. */
static bool load_body(command_input *input, uint64_t limit, char *reterr, size_t size)
{
    size_t room = PART, got = 1;
    while (got > 0 && input->held <= limit) {
        if (input->held == room) {
            room *= 2;
            char *moved = realloc(input->start, room);
            if (!moved)
                return report_failure(reterr, size, "the body", "out of memory");
            input->start = moved;
        }
        if (!read_fully(input->fd, input->start + input->held, room - input->held, &got))
            return report_failure(reterr, size, "the body", strerror(errno));
        input->held += got;
    }
    input->size = input->held;
    input->whole = true;
    return true;
}

bool command_input_load(command_input *input, uint64_t limit, bool spooled,
                        const char *directory, char *reterr, size_t size)
{
    if (input->whole || (spooled && input->seekable))
        return true;
    return spooled ? spool_body(input, limit, directory, reterr, size)
                   : load_body(input, limit, reterr, size);
}

bool command_input_read(const command_input *input, uint64_t offset, void *dst, size_t size)
{
    const http_spool given = {.fd = input->fd};
    return input->seekable ? http_spool_read(&given, input->origin + offset, dst, size)
                           : http_spool_read(&input->spool, offset, dst, size);
}
