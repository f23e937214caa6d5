/* The floor of small answers: every request on kept connections gets the same bytes, which come
 * from standard input. It looks for the end of a head and nothing else. Prints its port. */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#define THREADS_MAX 64
#define CLIENTS_MAX 4096 /* file descriptors */

static char answer[1 << 16];
static size_t answer_size;
/* Bytes of the end of a head that a client has sent. Atomic, since descriptors are reused. */
static atomic_uchar matched[CLIENTS_MAX];

_Noreturn static void fail(const char *what)
{
    perror(what);
    exit(EXIT_FAILURE);
}

/* Count the heads that end in some bytes of a client. */
static size_t count_requests(int client, const char *data, size_t size)
{
    size_t count = 0;
    unsigned char state = atomic_load_explicit(&matched[client], memory_order_relaxed);
    for (size_t i = 0; i < size; i++) {
        state = data[i] == "\r\n\r\n"[state] ? (unsigned char)(state + 1) : data[i] == '\r';
        if (state == 4) {
            count++;
            state = 0;
        }
    }
    atomic_store_explicit(&matched[client], state, memory_order_relaxed);
    return count;
}

static void *respond(void *argument)
{
    int epoll = *(const int *)argument;
    struct epoll_event events[64];
    char data[8192];
    for (;;) {
        int ready = epoll_wait(epoll, events, 64, -1);
        for (int i = 0; i < ready; i++) {
            int client = events[i].data.fd;
            ssize_t got = recv(client, data, sizeof data, 0);
            if (got <= 0) {
                matched[client] = 0; /* for the next client of this number */
                close(client);
            }
            for (size_t left = got > 0 ? count_requests(client, data, (size_t)got) : 0;
                 left > 0; left--)
                if (send(client, answer, answer_size, MSG_NOSIGNAL) < 0)
                    break; /* the next read meets the end */
        }
    }
    return NULL;
}

static int listen_on_loopback(void)
{
    struct sockaddr_in address = {.sin_family = AF_INET,
                                  .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof address;
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0 || bind(fd, (struct sockaddr *)&address, size) != 0 || listen(fd, 1024) != 0 ||
        getsockname(fd, (struct sockaddr *)&address, &size) != 0)
        fail("listen");
    printf("%u\n", ntohs(address.sin_port));
    fflush(stdout);
    return fd;
}

int main(int argc, char **argv)
{
    static int epolls[THREADS_MAX];
    unsigned long threads = argc == 2 ? strtoul(argv[1], NULL, 10) : 0;
    if (threads < 1 || threads > THREADS_MAX) {
        fprintf(stderr, "usage: bench-responder THREADS < ANSWER\n");
        return EXIT_FAILURE;
    }
    answer_size = fread(answer, 1, sizeof answer, stdin);
    for (unsigned long i = 0; i < threads; i++) {
        pthread_t thread;
        epolls[i] = epoll_create1(EPOLL_CLOEXEC);
        if (epolls[i] < 0 || pthread_create(&thread, NULL, respond, &epolls[i]) != 0)
            fail("thread");
    }
    int listener = listen_on_loopback(), on = 1;
    for (unsigned long turn = 0;; turn++) { /* connections go to the threads by turns */
        int client = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
        if (client < 0 || client >= CLIENTS_MAX)
            fail("accept");
        setsockopt(client, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
        struct epoll_event event = {.events = EPOLLIN, .data.fd = client};
        if (epoll_ctl(epolls[turn % threads], EPOLL_CTL_ADD, client, &event) != 0)
            fail("epoll_ctl");
    }
}
