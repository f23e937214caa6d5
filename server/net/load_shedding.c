/* Refused connections in the order of their arrival. */
#include "net/load_shedding.h"

#include "clock.h"

#include <assert.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define PATIENCE  (CLOCK_SECOND / 5) /* how long a client may take to send a request line */
#define STAY_MAX  (2 * CLOCK_SECOND) /* how long a refused connection stays open */
#define LINE_ROOM 512                /* bytes of a request line; a longer one is refused */
#define INPUT_MAX (1 << 20)          /* bytes that are read from it and discarded */

typedef struct refused_connection {
    int fd;
    bool answered;
    uint64_t patience, deadline;
    size_t received; /* bytes, of which the first ones are in `line` */
    char *response;  /* of its own, from malloc, or NULL */
    size_t size, sent;
    char line[LINE_ROOM + 1];
} refused_connection;

struct shedder {
    shed_host host;
    size_t count;
    refused_connection *connections[SHED_MAX];
};

shedder *shed_new(const shed_host *host)
{
    assert(host->room >= 4 && host->room <= SHED_MAX);
    shedder *shed = calloc(1, sizeof *shed);
    if (shed)
        shed->host = *host;
    return shed;
}

static void close_connection(refused_connection *connection)
{
    close(connection->fd);
    free(connection->response);
    free(connection);
}

/* Send what the socket takes of the response of the connection's own. False if that fails. */
static bool send_response_part(refused_connection *connection)
{
    ssize_t part = send(connection->fd, connection->response + connection->sent,
                        connection->size - connection->sent, MSG_NOSIGNAL | MSG_DONTWAIT);
    connection->sent += part > 0 ? (size_t)part : 0;
    if (connection->sent == connection->size)
        return shutdown(connection->fd, SHUT_WR) == 0;
    return part > 0 || (part < 0 && (errno == EAGAIN || errno == EINTR));
}

/* Send the refusal, which must fit the socket's buffer. */
static bool send_refusal(const shedder *shed, const refused_connection *connection)
{
    size_t size = strlen(shed->host.refusal);
    return send(connection->fd, shed->host.refusal, size, MSG_NOSIGNAL | MSG_DONTWAIT) ==
               (ssize_t)size &&
           shutdown(connection->fd, SHUT_WR) == 0;
}

/* Split a request line. False if it is not one of HTTP/1. */
static bool split_line(char *line, char **ret_target)
{
    char *target = strchr(line, ' '), *version = target ? strchr(target + 1, ' ') : NULL;
    if (!version || strncmp(version + 1, "HTTP/1.", 7) != 0)
        return false;
    *target = *version = '\0';
    *ret_target = target + 1;
    return true;
}

/* Answer by what has been received so far. False: close the connection. */
static bool answer_request(const shedder *shed, refused_connection *connection)
{
    char *end = strchr(connection->line, '\n'), *target = NULL;
    bool legal = end && split_line(connection->line, &target);
    connection->answered = true;
    connection->response =
        shed->host.answer(shed->host.context, legal ? connection->line : NULL, target);
    connection->size = connection->response ? strlen(connection->response) : 0;
    return connection->response ? send_response_part(connection)
                                : send_refusal(shed, connection);
}

/* Read input: first the request line, which is answered once it has ended; the rest is
 * discarded. False if the client has closed its side, has sent too much or cannot be answered.
 */
static bool receive_input(const shedder *shed, refused_connection *connection)
{
    char input[16384];
    bool waits = !connection->answered;
    size_t room = waits ? LINE_ROOM - connection->received : sizeof input;
    char *dst = waits ? connection->line + connection->received : input;
    ssize_t size = recv(connection->fd, dst, room, MSG_DONTWAIT);
    if (size < 0)
        return errno == EAGAIN || errno == EINTR;
    connection->received += (size_t)size;
    if (waits) {
        connection->line[connection->received] = '\0';
        bool complete =
            size == 0 || strchr(connection->line, '\n') || connection->received == LINE_ROOM;
        return !complete || answer_request(shed, connection);
    }
    return size > 0 && connection->received < INPUT_MAX;
}

/* Close the oldest connections; those that still wait are answered first. */
static void close_oldest(shedder *shed, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (!shed->connections[i]->answered)
            answer_request(shed, shed->connections[i]);
        close_connection(shed->connections[i]);
    }
    shed->count -= count;
    memmove(shed->connections, shed->connections + count,
            shed->count * sizeof *shed->connections);
}

void shed_take(shedder *shed, int fd, uint64_t now)
{
    refused_connection *connection = calloc(1, sizeof *connection);
    if (!connection) {
        close(fd);
        return;
    }
    connection->fd = fd;
    connection->patience = now + PATIENCE;
    connection->deadline = now + STAY_MAX;
    if (!receive_input(shed, connection)) {
        close_connection(connection);
        return;
    }
    if (shed->count == shed->host.room)
        close_oldest(shed, shed->host.room / 4);
    shed->connections[shed->count++] = connection;
}

nfds_t shed_polls(const shedder *shed, struct pollfd *ret_polls)
{
    for (size_t i = 0; i < shed->count; i++) {
        const refused_connection *connection = shed->connections[i];
        bool sends = connection->sent < connection->size;
        ret_polls[i] = (struct pollfd){.fd = connection->fd,
                                       .events = (short)(POLLIN | (sends ? POLLOUT : 0))};
    }
    return (nfds_t)shed->count;
}

/* Do what a connection's events allow. False: close it. */
static bool tend_connection(const shedder *shed, refused_connection *connection, short events,
                            uint64_t now)
{
    if (now > connection->deadline && connection->answered)
        return false;
    if (connection->sent < connection->size && (events & POLLOUT) &&
        !send_response_part(connection))
        return false;
    if ((events & ~POLLOUT) && !receive_input(shed, connection))
        return false;
    return connection->answered || now <= connection->patience ||
           answer_request(shed, connection);
}

void shed_tend(shedder *shed, const struct pollfd *polls, uint64_t now)
{
    size_t kept = 0;
    for (size_t i = 0; i < shed->count; i++) {
        refused_connection *connection = shed->connections[i];
        if (tend_connection(shed, connection, polls[i].revents, now))
            shed->connections[kept++] = connection;
        else
            close_connection(connection);
    }
    shed->count = kept;
}

void shed_free(shedder *shed)
{
    if (shed)
        close_oldest(shed, shed->count);
    free(shed);
}
