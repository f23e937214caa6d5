/* The accepting thread: poll, accept, and see off those who were turned away. */
#include "acceptor.h"

#include "shed.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#define BATCH  64   /* accepted between two looks at those who leave */
#define LAST   4096 /* accepted at the end: what a backlog may hold */
#define MOMENT 5    /* milliseconds */
#define WHILE  500

struct acceptor {
    int listen_fd;
    acceptor_host host;
    shedder *shed;
    int wake_fd; /* readable: stop */
    pthread_t thread;
};

/* Whether accept may succeed later, when something has been freed. */
static bool lacks_resources(int error)
{
    return error == EMFILE || error == ENFILE || error == ENOBUFS || error == ENOMEM;
}

/* Accept at most `count`. False: the process lacks something, and should wait a moment. */
static bool accept_some(acceptor *self, size_t count)
{
    while (count-- > 0) {
        struct sockaddr_storage address;
        socklen_t length = sizeof address;
        struct sockaddr *of = (struct sockaddr *)&address;
        int fd = accept4(self->listen_fd, of, &length, SOCK_CLOEXEC | SOCK_NONBLOCK);
        if (fd < 0 && (errno == EAGAIN || lacks_resources(errno)))
            return errno == EAGAIN;
        if (fd >= 0 && self->host.has_room(self->host.context, fd))
            self->host.take(self->host.context, fd, of, length);
        else if (fd >= 0)
            shed_take(self->shed, fd);
    }
    return true;
}

/* Let the kernel drop whoever knocks now: that client knocks again after a second, and is
 * refused. Without this, who connects after the last accept is reset with a request sent. */
static void ignore_knocks(int listen_fd)
{
    enum { FLAGS = 13, SYN = 0x02, ACK = 0x10, DROP = 0, KEEP = -1 };
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_B | BPF_ABS, FLAGS), /* of the TCP header */
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

/* Take who is at the door, and listen no longer. */
static void close_door(acceptor *self)
{
    const struct timespec handshakes = {.tv_nsec = 10 * 1000 * 1000};
    ignore_knocks(self->listen_fd);
    nanosleep(&handshakes, NULL); /* that have begun */
    accept_some(self, LAST);
    shutdown(self->listen_fd, SHUT_RDWR);
}

static void *accept_all(void *context)
{
    enum { LISTEN, WAKE, LEAVING };
    acceptor *self = context;
    struct pollfd polls[LEAVING + SHED_MAX];
    bool fit = true; /* to accept */
    for (;;) {
        polls[LISTEN] = (struct pollfd){.fd = fit ? self->listen_fd : -1, .events = POLLIN};
        polls[WAKE] = (struct pollfd){.fd = self->wake_fd, .events = POLLIN};
        nfds_t leaving = shed_polls(self->shed, polls + LEAVING);
        if (poll(polls, LEAVING + leaving, fit ? leaving ? WHILE : -1 : MOMENT) < 0)
            continue; /* a signal */
        shed_tend(self->shed, polls + LEAVING);
        if (polls[WAKE].revents)
            break;
        fit = !fit || !polls[LISTEN].revents || accept_some(self, BATCH);
    }
    if (!self->host.shared)
        close_door(self);
    return NULL;
}

static void free_acceptor(acceptor *freed)
{
    shed_free(freed->shed);
    if (freed->wake_fd >= 0)
        close(freed->wake_fd);
    free(freed);
}

acceptor *acceptor_start(int listen_fd, const acceptor_host *host)
{
    acceptor *made = calloc(1, sizeof *made);
    if (!made)
        return NULL;
    made->listen_fd = listen_fd;
    made->host = *host;
    made->shed = shed_new(host->refusal);
    made->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    int flags = fcntl(listen_fd, F_GETFL);
    if (made->shed && made->wake_fd >= 0 && flags >= 0 &&
        fcntl(listen_fd, F_SETFL, flags | O_NONBLOCK) == 0 &&
        pthread_create(&made->thread, NULL, accept_all, made) == 0)
        return made;
    free_acceptor(made);
    return NULL;
}

void acceptor_stop(acceptor *stopped)
{
    if (!stopped)
        return;
    const uint64_t one = 1;
    while (write(stopped->wake_fd, &one, sizeof one) < 0 && errno == EINTR)
        continue;
    pthread_join(stopped->thread, NULL);
    free_acceptor(stopped);
}
