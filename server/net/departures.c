/* When has a client left? The kernel tells the end of the client's side (EPOLLRDHUP), the end
 * of both sides (EPOLLHUP), and a reset (EPOLLERR). The last two are a departure. The first may
 * be one, or a client that has said all it wants and still reads (a half-closed connection),
 * which must get its answer:
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
#include "net/departures.h"

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

struct departure_list {
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
static void unlist_client(departure_list *departures, waiting_client *client)
{
    if (client->listed)
        epoll_ctl(departures->events, EPOLL_CTL_DEL, client->fd, NULL);
    client->listed = false;
}

/* Act on what has happened to a client; lock held. */
static void notice_event(departure_list *departures, waiting_client *client, uint32_t events)
{
    if (events & (EPOLLHUP | EPOLLERR)) {
        unlist_client(departures, client);
        client->left(client);
        return;
    }
    struct epoll_event only_the_end = {.data.ptr = client}; /* EPOLLHUP and EPOLLERR */
    epoll_ctl(departures->events, EPOLL_CTL_MOD, client->fd, &only_the_end);
    if (client->takes_interim)
        probe_client(client->fd);
}

static void *await_departures(void *context)
{
    departure_list *departures = context;
    struct epoll_event events[EVENTS_AT_ONCE];
    struct pollfd both[] = {{.fd = departures->wake, .events = POLLIN},
                            {.fd = departures->events, .events = POLLIN}};
    while (!both[0].revents) {
        if (poll(both, 2, -1) < 0)
            continue;
        pthread_mutex_lock(&departures->lock);
        int count = epoll_wait(departures->events, events, EVENTS_AT_ONCE, 0);
        for (int i = 0; i < count; i++)
            notice_event(departures, events[i].data.ptr, events[i].events);
        pthread_mutex_unlock(&departures->lock);
    }
    return NULL;
}

departure_list *departures_start(void)
{
    departure_list *departures = calloc(1, sizeof *departures);
    if (!departures)
        return NULL;
    pthread_mutex_init(&departures->lock, NULL);
    departures->events = epoll_create1(EPOLL_CLOEXEC);
    departures->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    departures->running =
        departures->events >= 0 && departures->wake >= 0 &&
        pthread_create(&departures->thread, NULL, await_departures, departures) == 0;
    if (departures->running)
        return departures;
    departures_free(departures);
    return NULL;
}

void departures_add(departure_list *departures, waiting_client *client)
{
    client->added = true;
    struct epoll_event any_end = {.events = EPOLLRDHUP, .data.ptr = client};
    pthread_mutex_lock(&departures->lock);
    client->listed = epoll_ctl(departures->events, EPOLL_CTL_ADD, client->fd, &any_end) == 0;
    pthread_mutex_unlock(&departures->lock);
}

void departures_remove(departure_list *departures, waiting_client *client)
{
    if (!client->added) /* most requests wait for nothing and take no lock */
        return;
    client->added = false;
    pthread_mutex_lock(&departures->lock);
    unlist_client(departures, client);
    pthread_mutex_unlock(&departures->lock);
}

void departures_stop(departure_list *departures)
{
    if (!departures || !departures->running)
        return;
    eventfd_write(departures->wake, 1);
    pthread_join(departures->thread, NULL);
    departures->running = false;
}

void departures_free(departure_list *departures)
{
    if (!departures)
        return;
    departures_stop(departures);
    if (departures->events >= 0)
        close(departures->events);
    if (departures->wake >= 0)
        close(departures->wake);
    pthread_mutex_destroy(&departures->lock);
    free(departures);
}
