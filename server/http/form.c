#include "http/form.h"

#include <string.h>
#include <strings.h>

#define BUFFER       8192 /* of the processor: holds a part's head, and a boundary */
#define CONFIG_BYTES (1 << 20)

/* The media type of a file by that of its part, or by the end of its name. */
static const char *choose_media_type(const char *filename, const char *given)
{
    static const char NPY[] = "application/x-npy";
    const size_t length = filename ? strlen(filename) : 0;
    const bool is_npy = (given && strncasecmp(given, NPY, strlen(NPY)) == 0) ||
                        (length > 4 && strcasecmp(filename + length - 4, ".npy") == 0);
    return is_npy ? NPY : "application/vnd.safetensors";
}

/* An MHD_PostDataIterator: a piece of a part, which begins at `offset` of it. */
static enum MHD_Result take_piece(void *context, enum MHD_ValueKind kind, const char *name,
                                  const char *filename, const char *media_type,
                                  const char *coding, const char *data, uint64_t offset,
                                  size_t size)
{
    http_form *form = context;
    const bool is_file = name && strcmp(name, "file") == 0;
    http_upload *part = is_file ? form->file : &form->config;
    (void)kind, (void)coding;
    if ((!is_file && (!name || strcmp(name, "config") != 0)) ||
        (offset == 0 && http_upload_size(part) > 0)) {
        form->malformed = true; /* another name, or the same one again */
        return MHD_NO;
    }
    if (is_file && !form->media_type)
        form->media_type = choose_media_type(filename, media_type);
    http_upload_take(part, form->budget, data, size);
    return MHD_YES;
}

/* Whether a media type ends in a boundary (RFC 2046, section 5.1.1) of two characters or more,
 * the quotes among them: libmicrohttpd does not take a shorter one, nor check it before 0.9.76,
 * where a lone quote makes it read beyond the end. */
static bool has_boundary(const char *media_type)
{
    static const char NAME[] = "boundary=";
    const char *at = strcasestr(media_type, NAME);
    if (!at)
        return false;
    at += strlen(NAME);
    const bool is_quoted = *at == '"';
    at += is_quoted;
    const size_t length = strspn(at, "0123456789abcdefghijklmnopqrstuvwxyz"
                                     "ABCDEFGHIJKLMNOPQRSTUVWXYZ'()+_,-./:=? ");
    return length >= (is_quoted ? 1 : 2) && length <= 70 &&
           strcmp(at + length, is_quoted ? "\"" : "") == 0;
}

void http_form_begin(http_form *form, struct MHD_Connection *connection, const char *media_type,
                     http_upload *file, http_upload_budget *budget)
{
    const bool bounded = has_boundary(media_type);
    *form = (http_form){.file = file,
                        .config = {.limit = CONFIG_BYTES, .spool.fd = -1},
                        .budget = budget,
                        .malformed = !bounded,
                        .unbounded = !bounded};
    if (form->malformed)
        return;
    form->processor = MHD_create_post_processor(connection, BUFFER, take_piece, form);
    form->config.out_of_memory = !form->processor;
}

void http_form_take(http_form *form, const char *data, size_t size)
{
    http_upload *file = form->file;
    const uint64_t before = http_upload_size(file) + file->discarded;
    if (!form->malformed && MHD_post_process(form->processor, data, size) != MHD_YES)
        form->malformed = true;
    file->discarded += size - (http_upload_size(file) + file->discarded - before);
}

void http_form_end(http_form *form)
{
    if (!form->processor)
        return;
    if (MHD_destroy_post_processor(form->processor) != MHD_YES || !form->media_type)
        form->malformed = true;
    form->processor = NULL;
}

void http_form_done(http_form *form, http_upload_budget *disk)
{
    http_form_end(form);
    if (form->budget)
        http_upload_done(&form->config, form->budget, disk);
}
