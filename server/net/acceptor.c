/* The accepting thread: poll, accept, and tend the connections that were turned away. */
#include "net/acceptor.h"

#include "clock.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

#define BATCH        64   /* connections that are accepted between two calls of shed_tend */
#define BACKLOG_MAX  4096 /* connections that are accepted at the end; no backlog is longer */
#define RETRY_DELAY  5    /* milliseconds until accept is tried again after it failed */
#define TEND_DELAY   100  /* milliseconds between two calls of shed_tend, at most */
#define HANDSHAKE_NS (10 * 1000 * 1000) /* time for handshakes in progress to complete */

struct acceptor {
    int listen_fd;
    acceptor_host host;
    shedder *shed;
    int wake_fd; /* readable: stop */
    pthread_t thread;
};

/* Whether accept failed for a resource that may become free later. */
static bool lacks_resources(int error)
{
    return error == EMFILE || error == ENFILE || error == ENOBUFS || error == ENOMEM;
}

/* Give a connection of a Unix socket its send buffer; TCP's inherit it from the listening
 * socket. */
static void set_buffer(const acceptor *self, int fd, const struct sockaddr *address)
{
    int size = self->host.send_buffer;
    if (address->sa_family == AF_UNIX && size > 0)
        setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &size, sizeof size);
}

/* Accept at most `count` connections. False if the process lacks a resource: the caller should
 * try again a little later. */
static bool accept_connections(acceptor *self, size_t count)
{
    while (count-- > 0) {
        struct sockaddr_storage storage;
        struct sockaddr *address = (struct sockaddr *)&storage;
        socklen_t length = sizeof storage;
        int fd = accept4(self->listen_fd, address, &length, SOCK_CLOEXEC | SOCK_NONBLOCK);
        if (fd < 0 && errno == EAGAIN)
            return true;
        if (fd < 0 && lacks_resources(errno))
            return false;
        if (fd >= 0 && self->host.has_room(self->host.context, fd)) {
            set_buffer(self, fd, address);
            self->host.take(self->host.context, fd, address, length);
        } else if (fd >= 0) {
            shed_take(self->shed, fd, clock_now());
        }
    }
    return true;
}

/* Let the kernel drop the SYN packets of new clients. Such a client sends its SYN again after a
 * second and is then refused. Without the filter a client that connects after the last accept
 * would be reset when it has already sent its request. */
static void drop_new_handshakes(int listen_fd)
{
    enum { FLAGS_OFFSET = 13, SYN = 0x02, ACK = 0x10, DROP = 0, KEEP = -1 };
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_B | BPF_ABS, FLAGS_OFFSET), /* in the TCP header */
        BPF_STMT(BPF_ALU | BPF_AND | BPF_K, SYN | ACK),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYN, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, DROP),
        BPF_STMT(BPF_RET | BPF_K, (unsigned)KEEP),
    };
    const struct sock_fprog program = {sizeof code / sizeof *code, code};
    int protocol = 0;
    socklen_t size = sizeof protocol;
    if (getsockopt(listen_fd, SOL_SOCKET, SO_PROTOCOL, &protocol, &size) == 0 &&
        protocol == IPPROTO_TCP)
        setsockopt(listen_fd, SOL_SOCKET, SO_ATTACH_FILTER, &program, sizeof program);
}

/* Accept the connections in the backlog, then stop listening. */
static void drain_backlog(acceptor *self)
{
    const struct timespec handshakes = {.tv_nsec = HANDSHAKE_NS};
    drop_new_handshakes(self->listen_fd);
    nanosleep(&handshakes, NULL);
    accept_connections(self, BACKLOG_MAX);
    shutdown(self->listen_fd, SHUT_RDWR);
}

/* How long poll waits, in milliseconds; -1: until an event. */
static int poll_timeout(bool may_accept, nfds_t refused)
{
    if (!may_accept)
        return RETRY_DELAY;
    return refused > 0 ? TEND_DELAY : -1;
}

static void *run_acceptor(void *context)
{
    enum { LISTEN, WAKE, REFUSED }; /* the entries of the refused connections come last */
    acceptor *self = context;
    struct pollfd polls[REFUSED + SHED_MAX];
    bool may_accept = true; /* false for RETRY_DELAY when resources are missing */
    for (;;) {
        polls[LISTEN] =
            (struct pollfd){.fd = may_accept ? self->listen_fd : -1, .events = POLLIN};
        polls[WAKE] = (struct pollfd){.fd = self->wake_fd, .events = POLLIN};
        nfds_t refused = shed_polls(self->shed, polls + REFUSED);
        if (poll(polls, REFUSED + refused, poll_timeout(may_accept, refused)) < 0)
            continue; /* a signal */
        shed_tend(self->shed, polls + REFUSED, clock_now());
        if (polls[WAKE].revents)
            break;
        may_accept = !polls[LISTEN].revents || accept_connections(self, BATCH);
    }
    if (!self->host.shared)
        drain_backlog(self);
    return NULL;
}

static void free_acceptor(acceptor *self)
{
    shed_free(self->shed);
    if (self->wake_fd >= 0)
        close(self->wake_fd);
    free(self);
}

acceptor *acceptor_start(int listen_fd, const acceptor_host *host)
{
    acceptor *self = calloc(1, sizeof *self);
    if (!self)
        return NULL;
    self->listen_fd = listen_fd;
    self->host = *host;
    self->shed = shed_new(&host->shed);
    self->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    int flags = fcntl(listen_fd, F_GETFL);
    if (self->shed && self->wake_fd >= 0 && flags >= 0 &&
        fcntl(listen_fd, F_SETFL, flags | O_NONBLOCK) == 0 &&
        pthread_create(&self->thread, NULL, run_acceptor, self) == 0)
        return self;
    free_acceptor(self);
    return NULL;
}

void acceptor_stop(acceptor *self)
{
    if (!self)
        return;
    const uint64_t one = 1;
    while (write(self->wake_fd, &one, sizeof one) < 0 && errno == EINTR)
        continue;
    pthread_join(self->thread, NULL);
    free_acceptor(self);
}
