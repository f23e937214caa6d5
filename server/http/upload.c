#include "http/upload.h"

#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

/* What of a spooled body is gathered before it is written; libmicrohttpd hands over less than
 * PART_MAX at once. */
#define GATHERED ((size_t)1 << 20)
#define PART_MAX ((size_t)1 << 16)

uint64_t http_upload_size(const http_upload *upload)
{
    return upload->spool.size + upload->size;
}

/* The capacity to allocate for `needed` bytes: twice as many, so that memory grows with what
 * has arrived, and never more than the announced length or the limit. */
static size_t choose_capacity(const http_upload *upload, size_t needed)
{
    uint64_t most = upload->announced >= needed ? upload->announced : upload->limit;
    if (upload->spooled && needed <= GATHERED + PART_MAX && most > GATHERED + PART_MAX)
        most = GATHERED + PART_MAX;
    uint64_t doubled = 2 * (uint64_t)needed;
    return (size_t)(doubled < most ? doubled : most);
}

/* Reserve bytes in a budget. */
static bool reserve_bytes(http_upload_budget *budget, uint64_t bytes)
{
    if (atomic_fetch_add(&budget->used, bytes) + bytes <= budget->limit &&
        (!budget->memory || api_memory_reserve(budget->memory, bytes)))
        return true;
    atomic_fetch_sub(&budget->used, bytes);
    return false;
}

static void release_bytes(http_upload_budget *budget, uint64_t bytes)
{
    atomic_fetch_sub(&budget->used, bytes);
    if (budget->memory)
        api_memory_release(budget->memory, bytes);
}

/* Reserve memory in the budget and allocate it. False if either fails. */
static bool grow_buffer(http_upload *upload, http_upload_budget *budget, size_t needed)
{
    size_t capacity = choose_capacity(upload, needed), more = capacity - upload->capacity;
    if (reserve_bytes(budget, more)) {
        char *data = realloc(upload->data, capacity);
        if (data) {
            upload->data = data;
            upload->capacity = capacity;
            return true;
        }
        release_bytes(budget, more);
    }
    return false;
}

bool http_upload_announce(http_upload *upload, const http_headers *headers,
                          uint64_t discard_max)
{
    const char *length = headers->values[HTTP_CONTENT_LENGTH];
    bool client_waits = headers->values[HTTP_EXPECT] != NULL;
    upload->chunked = headers->values[HTTP_TRANSFER_ENCODING] != NULL;
    upload->announced = length ? strtoull(length, NULL, 10) : 0;
    upload->too_large = upload->announced > upload->limit;
    if (!upload->refused && !upload->too_large)
        return true;
    return !client_waits && upload->announced <= discard_max;
}

static bool is_discarded(const http_upload *upload)
{
    return upload->refused || upload->too_large || upload->out_of_memory || upload->unwritable;
}

void http_upload_take(http_upload *upload, http_upload_budget *budget, const char *data,
                      size_t size)
{
    if (size > upload->limit - http_upload_size(upload))
        upload->too_large = true;
    if (!is_discarded(upload) && upload->capacity - upload->size < size)
        upload->out_of_memory = !grow_buffer(upload, budget, upload->size + size);
    if (is_discarded(upload) || size == 0) { /* there may be no buffer yet */
        upload->discarded += size;
        return;
    }
    memcpy(upload->data + upload->size, data, size);
    upload->size += size;
}

bool http_upload_is_truncated(const http_upload *upload, struct MHD_Connection *connection)
{
    char next;
    if (http_upload_size(upload) + upload->discarded >= upload->announced)
        return false;
    const union MHD_ConnectionInfo *socket =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
    return socket && recv(socket->connect_fd, &next, 1, MSG_PEEK | MSG_DONTWAIT) == 0;
}

/* ---- bodies on disk ---- */

bool http_upload_is_full(const http_upload *upload)
{
    return upload->spooled && upload->size >= GATHERED && !is_discarded(upload);
}

/* Whether the spool has a descriptor, or may take one. */
static bool may_open(const http_upload *upload, http_upload_budget *disk)
{
    if (upload->spool.fd >= 0 || atomic_fetch_add(&disk->files, 1) < disk->most_files)
        return true;
    atomic_fetch_sub(&disk->files, 1);
    return false;
}

/* Write what has gathered, for which there is room; false if it cannot be written. */
static bool write_gathered(http_upload *upload, http_upload_budget *disk, const char *directory)
{
    bool may = may_open(upload, disk), was_open = upload->spool.fd >= 0;
    bool written =
        may && http_spool_write(&upload->spool, directory, upload->data, upload->size);
    if (may && !was_open && upload->spool.fd < 0)
        atomic_fetch_sub(&disk->files, 1);
    return written;
}

void http_upload_write(http_upload *upload, http_upload_budget *disk, const char *directory)
{
    size_t size = upload->size;
    bool fits = reserve_bytes(disk, size);
    if (fits && write_gathered(upload, disk, directory)) {
        upload->size = 0;
        return;
    }
    if (fits)
        release_bytes(disk, size);
    upload->unwritable = true;
}

bool http_upload_read(const http_upload *upload, uint64_t offset, void *dst, size_t size)
{
    uint64_t spooled = upload->spool.size;
    if (offset > http_upload_size(upload) || size > http_upload_size(upload) - offset)
        return false;
    size_t first = offset >= spooled         ? 0
                   : size < spooled - offset ? size
                                             : (size_t)(spooled - offset);
    if (first > 0 && !http_spool_read(&upload->spool, offset, dst, first))
        return false;
    if (size > first)
        memcpy((char *)dst + first, upload->data + (offset + first - spooled), size - first);
    return true;
}

void http_upload_drop_spool(http_upload *upload, http_upload_budget *disk)
{
    if (upload->spool.fd >= 0)
        atomic_fetch_sub(&disk->files, 1);
    http_spool_close(&upload->spool);
    release_bytes(disk, upload->spool.size);
    upload->spool.size = 0;
}

void http_upload_done(http_upload *upload, http_upload_budget *budget, http_upload_budget *disk)
{
    http_upload_drop_spool(upload, disk);
    free(upload->data);
    if (upload->capacity > 0)
        release_bytes(budget, upload->capacity);
}
