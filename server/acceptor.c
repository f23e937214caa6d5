#include "acceptor.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>

struct acceptor {
    int listen_fd;
    acceptor_host host;
    atomic_bool stopping;
    pthread_t thread;
};

static void rest(void)
{
    const struct timespec moment = {.tv_nsec = 5 * 1000 * 1000};
    nanosleep(&moment, NULL);
}

/* Whether accept may succeed later, when something has been freed. */
static bool lacks_resources(int error)
{
    return error == EMFILE || error == ENFILE || error == ENOBUFS || error == ENOMEM;
}

static void *accept_all(void *context)
{
    acceptor *self = context;
    while (!atomic_load(&self->stopping)) {
        if (!self->host.has_room(self->host.context)) {
            rest();
            continue;
        }
        struct sockaddr_storage address;
        socklen_t length = sizeof address;
        struct sockaddr *of = (struct sockaddr *)&address;
        int fd = accept4(self->listen_fd, of, &length, SOCK_CLOEXEC | SOCK_NONBLOCK);
        if (fd >= 0)
            self->host.take(self->host.context, fd, of, length);
        else if (lacks_resources(errno))
            rest();
    }
    return NULL;
}

acceptor *acceptor_start(int listen_fd, const acceptor_host *host)
{
    acceptor *made = calloc(1, sizeof *made);
    if (!made)
        return NULL;
    made->listen_fd = listen_fd;
    made->host = *host;
    if (pthread_create(&made->thread, NULL, accept_all, made) != 0) {
        free(made);
        return NULL;
    }
    return made;
}

void acceptor_stop(acceptor *stopped)
{
    if (!stopped)
        return;
    atomic_store(&stopped->stopping, true);
    shutdown(stopped->listen_fd, SHUT_RDWR); /* wakes accept4 */
    pthread_join(stopped->thread, NULL);
    free(stopped);
}
