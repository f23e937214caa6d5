/* sd_listen_fds(3) in environment variables; sd_notify(3) in a datagram. */
#include "net/systemd.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#define FIRST_SOCKET 3 /* descriptor, by the protocol */

/* The number in an environment variable; 0 if the variable is unset or not a number. */
static long read_variable(const char *variable)
{
    const char *text = getenv(variable);
    char *end = NULL;
    long number = text ? strtol(text, &end, 10) : 0;
    return text && *text && !*end ? number : 0;
}

bool systemd_has_sockets(void)
{
    return read_variable("LISTEN_PID") == (long)getpid() && read_variable("LISTEN_FDS") > 0;
}

static bool has_option(int fd, int option, int wanted)
{
    int value = -1;
    socklen_t size = sizeof value;
    return getsockopt(fd, SOL_SOCKET, option, &value, &size) == 0 && value == wanted;
}

int systemd_socket(char *reterr, size_t size)
{
    long count = read_variable("LISTEN_FDS");
    if (count != 1)
        snprintf(reterr, size,
                 "LISTEN_FDS: %ld sockets were passed, but posenc listens on exactly one",
                 count);
    else if (!has_option(FIRST_SOCKET, SO_TYPE, SOCK_STREAM) ||
             !has_option(FIRST_SOCKET, SO_ACCEPTCONN, 1))
        snprintf(reterr, size, "LISTEN_FDS: descriptor %d is not a listening stream socket",
                 FIRST_SOCKET);
    else if (fcntl(FIRST_SOCKET, F_SETFD, FD_CLOEXEC) != 0)
        snprintf(reterr, size, "LISTEN_FDS: %s", strerror(errno));
    else
        return FIRST_SOCKET;
    return -1;
}

void systemd_notify(const char *state)
{
    const char *path = getenv("NOTIFY_SOCKET");
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    size_t length = path ? strlen(path) : 0;
    if (length == 0 || length >= sizeof address.sun_path)
        return;
    memcpy(address.sun_path, path, length);
    if (path[0] == '@') /* stands for the NUL that begins an abstract name */
        address.sun_path[0] = '\0';
    int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return;
    socklen_t size = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + length);
    sendto(fd, state, strlen(state), MSG_NOSIGNAL, (struct sockaddr *)&address, size);
    close(fd);
}
