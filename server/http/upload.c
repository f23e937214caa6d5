#include "http/upload.h"

#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

/* The capacity to allocate for `needed` bytes: twice as many, so that memory grows with what
 * has arrived, and never more than the announced length or the limit. */
static size_t capacity_for(const http_upload *upload, size_t needed)
{
    uint64_t most = upload->announced >= needed ? upload->announced : upload->limit;
    uint64_t doubled = 2 * (uint64_t)needed;
    return (size_t)(doubled < most ? doubled : most);
}

/* Reserve memory in the budget and allocate it. False if either fails. */
static bool grow(http_upload *upload, http_upload_budget *budget, size_t needed)
{
    size_t capacity = capacity_for(upload, needed), more = capacity - upload->capacity;
    if (atomic_fetch_add(&budget->used, more) + more <= budget->limit) {
        char *data = realloc(upload->data, capacity);
        if (data) {
            upload->data = data;
            upload->capacity = capacity;
            return true;
        }
    }
    atomic_fetch_sub(&budget->used, more);
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

void http_upload_take(http_upload *upload, http_upload_budget *budget, const char *data,
                      size_t size)
{
    if (size > upload->limit - upload->size)
        upload->too_large = true;
    if (!upload->refused && !upload->too_large && !upload->out_of_memory &&
        upload->capacity - upload->size < size)
        upload->out_of_memory = !grow(upload, budget, upload->size + size);
    if (upload->refused || upload->too_large || upload->out_of_memory) {
        upload->discarded += size;
        return;
    }
    memcpy(upload->data + upload->size, data, size);
    upload->size += size;
}

bool http_upload_is_cut_off(const http_upload *upload, struct MHD_Connection *connection)
{
    char next;
    if (upload->size + upload->discarded >= upload->announced)
        return false;
    const union MHD_ConnectionInfo *socket =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
    return socket && recv(socket->connect_fd, &next, 1, MSG_PEEK | MSG_DONTWAIT) == 0;
}

void http_upload_done(http_upload *upload, http_upload_budget *budget)
{
    free(upload->data);
    if (upload->capacity > 0)
        atomic_fetch_sub(&budget->used, upload->capacity);
}
