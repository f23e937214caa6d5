#include "net/listen.h"

#include "net/address.h"
#include "net/systemd.h"
#include "settings/permission.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The send buffer on loopback, 208 KiB: measured, small responses beside large ones need it. */
#define LOOPBACK_SEND_BUFFER 212992
/* On Unix sockets a client is woken for every quarter of the buffer: measured, a body of 16 MiB
 * takes a quarter of the switches and four fifths of the processor time with this one. */
#define UNIX_SEND_BUFFER 393216

static bool is_socket(const char *path)
{
    struct stat status;
    return lstat(path, &status) == 0 && S_ISSOCK(status.st_mode);
}

/* Remove a Unix socket that a dead server has left behind. False, with errno EADDRINUSE, if the
 * path belongs to a running server or is not a socket. */
static bool remove_dead_socket(const char *path)
{
    int fd = address_connect_path(path);
    bool is_refused = fd < 0 && errno == ECONNREFUSED;
    if (fd >= 0)
        close(fd);
    bool removed = is_refused && is_socket(path) && unlink(path) == 0;
    errno = EADDRINUSE;
    return removed;
}

/* Bind to a path, in place of a dead socket, with the mode that the settings ask for. False,
 * with errno, if that fails. */
static bool bind_path(const server_settings *settings, int fd,
                      const struct sockaddr_un *address)
{
    const struct sockaddr *any = (const struct sockaddr *)address;
    mode_t mode, umask_before = umask(0);
    umask(permission_read_mode(settings->unix_socket_mode, &mode) ? 0777 & ~mode
                                                                  : umask_before);
    bool bound = bind(fd, any, sizeof *address) == 0;
    if (!bound && errno == EADDRINUSE && remove_dead_socket(address->sun_path))
        bound = bind(fd, any, sizeof *address) == 0;
    umask(umask_before);
    return bound;
}

/* Give a socket to the group that the settings name, if any. */
static bool set_group(const server_settings *settings, const char *path)
{
    gid_t group;
    return !permission_read_group(settings->unix_socket_group, &group) ||
           lchown(path, (uid_t)-1, group) == 0;
}

static int open_unix(const server_settings *settings, char *ret_url, size_t size)
{
    const char *path = settings->unix_socket;
    struct sockaddr_un address;
    if (!address_of_path(path, &address)) {
        snprintf(ret_url, size, "unix-socket: the path is longer than %zu bytes",
                 sizeof address.sun_path - 1);
        return -1;
    }
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    bool bound = fd >= 0 && bind_path(settings, fd, &address);
    bool owned = bound && set_group(settings, path);
    if (!owned || listen(fd, SOMAXCONN) != 0) {
        if (bound && !owned)
            snprintf(ret_url, size, "unix-socket-group: cannot give %s to the group %s: %s",
                     path, settings->unix_socket_group, strerror(errno));
        else
            snprintf(ret_url, size, "cannot listen on %s: %s", path, strerror(errno));
        if (bound)
            unlink(path);
        if (fd >= 0)
            close(fd);
        return -1;
    }
    snprintf(ret_url, size, "unix:%s", path);
    return fd;
}

int listen_send_buffer(int fd)
{
    socket_address address;
    socklen_t length;
    if (!address_read(fd, &address, &length))
        return 0;
    if (address.any.sa_family == AF_UNIX)
        return UNIX_SEND_BUFFER;
    return address_is_loopback(&address.any) ? LOOPBACK_SEND_BUFFER : 0;
}

/* Set the options that accepted connections inherit. TCP_USER_TIMEOUT ends a connection that
 * the server has closed and whose client does not read the rest of the response. It is longer
 * than send-seconds, so that the watch ends an open connection first and counts it. */
static void set_options(const server_settings *settings, int fd)
{
    socket_address address;
    socklen_t length;
    int send_buffer = listen_send_buffer(fd);
    unsigned user_timeout = ((unsigned)settings->send_seconds + 2) * 1000; /* milliseconds */
    if (!address_read(fd, &address, &length) || address.any.sa_family == AF_UNIX)
        return;
    setsockopt(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &user_timeout, sizeof user_timeout);
    if (send_buffer > 0)
        setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &send_buffer, sizeof send_buffer);
}

/* Bind to one resolved address and listen. -1, with errno, if that fails. */
static int open_address(const server_settings *settings, const struct addrinfo *info)
{
    int yes = 1;
    int fd = socket(info->ai_family, info->ai_socktype | SOCK_CLOEXEC, info->ai_protocol);
    if (fd < 0)
        return -1;
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    if (bind(fd, info->ai_addr, info->ai_addrlen) == 0) {
        set_options(settings, fd);
        if (listen(fd, SOMAXCONN) == 0)
            return fd;
    }
    int failure = errno;
    close(fd);
    errno = failure;
    return -1;
}

/* Write why the server cannot listen, and the way out where another port is one. */
static void explain_tcp(const server_settings *settings, int failure, char *ret_reason,
                        size_t size)
{
    unsigned port = (unsigned)settings->port, other = port < 65535 ? port + 1 : 8080;
    int length = snprintf(ret_reason, size, "cannot listen on %s port %u: %s", settings->bind,
                          port, strerror(failure));
    if (failure == EADDRINUSE && length > 0 && (size_t)length < size)
        snprintf(ret_reason + length, size - (size_t)length,
                 "; choose another port with --port %u, POSENC_PORT=%u or `make run PORT=%u`",
                 other, other, other);
}

static int open_tcp(const server_settings *settings, char *ret_url, size_t size)
{
    struct addrinfo *addresses = address_resolve(settings->bind, settings->port, ret_url, size);
    if (!addresses)
        return -1;
    int fd = -1;
    for (const struct addrinfo *info = addresses; info && fd < 0; info = info->ai_next)
        fd = open_address(settings, info);
    if (fd < 0)
        explain_tcp(settings, errno, ret_url, size);
    freeaddrinfo(addresses);
    if (fd >= 0)
        address_write_url(fd, ret_url, size);
    return fd;
}

/* Take over the listening socket of the service manager. */
static int open_inherited(const server_settings *settings, char *ret_url, size_t size)
{
    int fd = systemd_socket(ret_url, size);
    if (fd < 0)
        return -1;
    set_options(settings, fd);
    address_write_url(fd, ret_url, size);
    return fd;
}

int listen_open(const server_settings *settings, char *ret_url, size_t size)
{
    if (systemd_has_sockets())
        return open_inherited(settings, ret_url, size);
    if (settings->unix_socket[0])
        return open_unix(settings, ret_url, size);
    return open_tcp(settings, ret_url, size);
}

bool listen_is_unix(int fd)
{
    socket_address address;
    socklen_t length;
    return address_read(fd, &address, &length) && address.any.sa_family == AF_UNIX;
}

bool listen_is_local(int fd)
{
    socket_address address;
    socklen_t length;
    return listen_is_unix(fd) ||
           (address_read(fd, &address, &length) && address_is_loopback(&address.any));
}

void listen_close(const server_settings *settings, int fd)
{
    close(fd);
    if (settings->unix_socket[0] && !systemd_has_sockets())
        unlink(settings->unix_socket);
}
