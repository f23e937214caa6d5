/* When has a client left? The kernel tells the end of the client's side (EPOLLRDHUP), the end
 * of both sides (EPOLLHUP), and a reset (EPOLLERR). The last two are a disconnect. The first
 * may be one, or a client that has said all it wants and still reads (a half-closed
 * connection), which must get its answer:
 *
 * - On a Unix socket closing ends both sides, so the first alone is a client that reads.
 * - On TCP both look the same until something is sent: the kernel of a client that has closed
 *   answers with a reset. So an HTTP/1.1 client is sent "100 Continue", an interim response.
 * Any client of that version must take one that it has not asked for (RFC 9110, section 15.2).
 *   Bytes of an earlier answer that are under way do the same, and then nothing is sent,
 * because it may not fit into the socket's buffer.
 *   It is sent once: some clients bear few interim responses. One that has read it and leaves
 *   later is not noticed before its answer is sent.
 * - A client of HTTP/1.0 takes no interim response. It counts as reading.
 *
 * One lock guards the clients. The thread waits for events without it and takes them with it.
 * So each event it takes is of a client that is listed. */
#include "net/disconnects.h"

#include <linux/sockios.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#define EVENTS_AT_ONCE 64

struct disconnect_list {
    pthread_mutex_t lock;
    int events; /* an epoll descriptor: the waiting clients */
    int wake;   /* an eventfd: the thread must end */
    bool running;
    pthread_t thread;
};

/* Send an interim response if nothing else is under way to the client. */
static void probe_client(int fd)
{
    static const char INTERIM[] = "HTTP/1.1 100 Continue\r\n\r\n";
    int domain = 0, unsent = 1;
    socklen_t size = sizeof domain;
    if (getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &domain, &size) == 0 && domain != AF_UNIX &&
        ioctl(fd, SIOCOUTQ, &unsent) == 0 && unsent == 0)
        send(fd, INTERIM, sizeof INTERIM - 1, MSG_DONTWAIT | MSG_NOSIGNAL);
}

/* Take a client off the list; lock held. */
static void unlist_client(disconnect_list *disconnects, waiting_client *client)
{
    if (client->listed)
        epoll_ctl(disconnects->events, EPOLL_CTL_DEL, client->fd, NULL);
    client->listed = false;
}

/* Act on what has happened to a client; lock held. */
static void notice_event(disconnect_list *disconnects, waiting_client *client, uint32_t events)
{
    if (events & (EPOLLHUP | EPOLLERR)) {
        unlist_client(disconnects, client);
        client->left(client);
        return;
    }
    struct epoll_event only_the_end = {.data.ptr = client}; /* EPOLLHUP and EPOLLERR */
    epoll_ctl(disconnects->events, EPOLL_CTL_MOD, client->fd, &only_the_end);
    if (client->takes_interim)
        probe_client(client->fd);
}

static void *await_disconnects(void *context)
{
    disconnect_list *disconnects = context;
    struct epoll_event events[EVENTS_AT_ONCE];
    struct pollfd both[] = {{.fd = disconnects->wake, .events = POLLIN},
                            {.fd = disconnects->events, .events = POLLIN}};
    while (!both[0].revents) {
        if (poll(both, 2, -1) < 0)
            continue;
        pthread_mutex_lock(&disconnects->lock);
        int count = epoll_wait(disconnects->events, events, EVENTS_AT_ONCE, 0);
        for (int i = 0; i < count; i++)
            notice_event(disconnects, events[i].data.ptr, events[i].events);
        pthread_mutex_unlock(&disconnects->lock);
    }
    return NULL;
}

disconnect_list *disconnects_start(void)
{
    disconnect_list *disconnects = calloc(1, sizeof *disconnects);
    if (!disconnects)
        return NULL;
    pthread_mutex_init(&disconnects->lock, NULL);
    disconnects->events = epoll_create1(EPOLL_CLOEXEC);
    disconnects->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    disconnects->running =
        disconnects->events >= 0 && disconnects->wake >= 0 &&
        pthread_create(&disconnects->thread, NULL, await_disconnects, disconnects) == 0;
    if (disconnects->running)
        return disconnects;
    disconnects_free(disconnects);
    return NULL;
}

void disconnects_add(disconnect_list *disconnects, waiting_client *client)
{
    client->added = true;
    struct epoll_event any_end = {.events = EPOLLRDHUP, .data.ptr = client};
    pthread_mutex_lock(&disconnects->lock);
    client->listed = epoll_ctl(disconnects->events, EPOLL_CTL_ADD, client->fd, &any_end) == 0;
    pthread_mutex_unlock(&disconnects->lock);
}

void disconnects_remove(disconnect_list *disconnects, waiting_client *client)
{
    if (!client->added) /* most requests wait for nothing and take no lock */
        return;
    client->added = false;
    pthread_mutex_lock(&disconnects->lock);
    unlist_client(disconnects, client);
    pthread_mutex_unlock(&disconnects->lock);
}

void disconnects_stop(disconnect_list *disconnects)
{
    if (!disconnects || !disconnects->running)
        return;
    eventfd_write(disconnects->wake, 1);
    pthread_join(disconnects->thread, NULL);
    disconnects->running = false;
}

void disconnects_free(disconnect_list *disconnects)
{
    if (!disconnects)
        return;
    disconnects_stop(disconnects);
    if (disconnects->events >= 0)
        close(disconnects->events);
    if (disconnects->wake >= 0)
        close(disconnects->wake);
    pthread_mutex_destroy(&disconnects->lock);
    free(disconnects);
}
