/* The body of a request: a file or standard input, of which a long one is never in memory as a
 * whole. */
#ifndef COMMAND_INPUT_H
#define COMMAND_INPUT_H

#include "api.h"
#include "http/spool.h"

typedef struct command_input {
    int fd;          /* -1: nothing more is read from it */
    bool seekable;   /* bytes are read from `fd` at any place */
    uint64_t origin; /* of a seekable one: where the body begins */
    char *start;   /* the first bytes, from malloc; NULL: there are none, or they were taken */
    size_t held;   /* bytes in `start` */
    uint64_t size; /* of the whole body, once it is known */
    bool whole;    /* `start` is the whole body */
    http_spool spool;
} command_input;

/* Open a file, or standard input for "-", and read its first bytes. False: reterr is one line.
 */
bool command_input_open(command_input *ret_input, const char *file, char *reterr, size_t size);
void command_input_close(command_input *input);

/* Whether a path leads to the file that is read: writing there would change it meanwhile. */
bool command_input_reads(const command_input *input, const char *path);

/* The endings of files that name a media type, in any case. */
#define COMMAND_ENDINGS ".bin, .csv, .json, .npy, .png, .raw, .safetensors"

/* The media type that a file's ending names; "" if it names none, NULL if there is no ending.
 */
const char *command_media_type_find(const char *file);

/* The media type of a body, by the file's ending or else by the first bytes. */
const char *command_input_media_type(const command_input *input, const char *file);

/* Whether the first bytes are those of a GGUF file, of which the service reads no more than the
 * head. */
bool command_input_is_gguf(const command_input *input);

/* Get hold of the body, or of what is longer than `limit` bytes: `size` is larger then.
 * `spooled`: what has not come as a file is kept in one without a name, in `directory`;
 * else all of it is kept in memory. False: reterr is one line. */
bool command_input_load(command_input *input, uint64_t limit, bool spooled,
                        const char *directory, char *reterr, size_t size);

/* Copy bytes of a body that is not whole in memory. */
bool command_input_read(const command_input *input, uint64_t offset, void *dst, size_t size);

#endif
