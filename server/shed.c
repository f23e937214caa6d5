/* Connections turned away, in the order of their coming. */
#include "shed.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define PATIENCE    2         /* seconds that a connection stays at most */
#define DROPPED_MAX (1 << 20) /* bytes that are read from it */

typedef struct leaving {
    int fd;
    time_t until;
    size_t dropped;
} leaving;

struct shedder {
    const char *text;
    size_t count;
    leaving all[SHED_MAX];
};

static time_t now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec;
}

shedder *shed_new(const char *text)
{
    shedder *made = calloc(1, sizeof *made);
    if (made)
        made->text = text;
    return made;
}

/* Close the first ones. */
static void close_oldest(shedder *shed, size_t count)
{
    for (size_t i = 0; i < count; i++)
        close(shed->all[i].fd);
    shed->count -= count;
    memmove(shed->all, shed->all + count, shed->count * sizeof *shed->all);
}

void shed_take(shedder *shed, int fd)
{
    size_t size = strlen(shed->text);
    if (send(fd, shed->text, size, MSG_NOSIGNAL | MSG_DONTWAIT) != (ssize_t)size ||
        shutdown(fd, SHUT_WR) != 0) {
        close(fd);
        return;
    }
    if (shed->count == SHED_MAX)
        close_oldest(shed, SHED_MAX / 4);
    shed->all[shed->count++] = (leaving){.fd = fd, .until = now() + PATIENCE};
}

nfds_t shed_polls(const shedder *shed, struct pollfd *ret_polls)
{
    for (size_t i = 0; i < shed->count; i++)
        ret_polls[i] = (struct pollfd){.fd = shed->all[i].fd, .events = POLLIN};
    return (nfds_t)shed->count;
}

/* Read and drop what has come; false at the end. */
static bool drop_input(leaving *from)
{
    char dropped[16384];
    ssize_t size = recv(from->fd, dropped, sizeof dropped, MSG_DONTWAIT);
    if (size > 0)
        from->dropped += (size_t)size;
    return size > 0 && from->dropped < DROPPED_MAX;
}

void shed_tend(shedder *shed, const struct pollfd *polls)
{
    time_t time = shed->count ? now() : 0;
    size_t kept = 0;
    for (size_t i = 0; i < shed->count; i++) {
        leaving *at = &shed->all[i];
        if (time <= at->until && (polls[i].revents == 0 || drop_input(at)))
            shed->all[kept++] = *at;
        else
            close(at->fd);
    }
    shed->count = kept;
}

void shed_free(shedder *shed)
{
    if (shed)
        close_oldest(shed, shed->count);
    free(shed);
}
