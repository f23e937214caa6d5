/* Opening sockets by the settings. */
#include "listen.h"

#include "systemd.h"

#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

/* What small responses beside large ones need on loopback, measured: 208 KiB. */
#define LOOPBACK_SEND_BUFFER 212992

static bool is_loopback(const struct sockaddr *address)
{
    if (address->sa_family == AF_INET) {
        struct in_addr ip = ((const struct sockaddr_in *)(const void *)address)->sin_addr;
        return ntohl(ip.s_addr) >> 24 == 127;
    }
    const struct sockaddr_in6 *six = (const void *)address;
    return address->sa_family == AF_INET6 && IN6_IS_ADDR_LOOPBACK(&six->sin6_addr);
}

static bool unix_address(const char *path, struct sockaddr_un *ret_address)
{
    *ret_address = (struct sockaddr_un){.sun_family = AF_UNIX};
    if (strlen(path) >= sizeof ret_address->sun_path)
        return false;
    memcpy(ret_address->sun_path, path, strlen(path) + 1);
    return true;
}

static int connect_unix(const char *path)
{
    struct sockaddr_un address;
    int fd = unix_address(path, &address) ? socket(AF_UNIX, SOCK_STREAM, 0) : -1;
    if (fd >= 0 && connect(fd, (struct sockaddr *)&address, sizeof address) != 0) {
        int failure = errno;
        close(fd);
        errno = failure;
        fd = -1;
    }
    return fd;
}

static bool is_socket(const char *path)
{
    struct stat status;
    return lstat(path, &status) == 0 && S_ISSOCK(status.st_mode);
}

static int open_unix(const char *path, char *ret_url, size_t size)
{
    struct sockaddr_un address;
    if (!unix_address(path, &address)) {
        snprintf(ret_url, size, "unix-socket: the path is longer than %zu bytes",
                 sizeof address.sun_path - 1);
        return -1;
    }
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    bool bound = fd >= 0 && bind(fd, (struct sockaddr *)&address, sizeof address) == 0;
    if (fd >= 0 && !bound && errno == EADDRINUSE) {
        int other = connect_unix(path);
        bool dead = other < 0 && errno == ECONNREFUSED;
        if (other >= 0) /* somebody answers there */
            close(other);
        else if (dead && is_socket(path) &&
                 unlink(path) == 0) /* left behind by a dead server */
            bound = bind(fd, (struct sockaddr *)&address, sizeof address) == 0;
        errno = EADDRINUSE;
    }
    if (!bound || listen(fd, SOMAXCONN) != 0) {
        snprintf(ret_url, size, "cannot listen on %s: %s", path, strerror(errno));
        if (fd >= 0)
            close(fd);
        return -1;
    }
    snprintf(ret_url, size, "unix:%s", path);
    return fd;
}

/* What connections take over. A closed one whose client does not take the rest of its answer is
 * the kernel's to give up; of an open one it must not come before the watch, which counts. */
static void tune(const server_settings *settings, int fd)
{
    struct sockaddr_storage address = {0};
    socklen_t length = sizeof address;
    const struct sockaddr *of = (struct sockaddr *)&address;
    int send_buffer = (int)settings->send_buffer;
    unsigned patience = ((unsigned)settings->send_seconds + 2) * 1000;
    if (getsockname(fd, (struct sockaddr *)&address, &length) != 0 || of->sa_family == AF_UNIX)
        return;
    setsockopt(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &patience, sizeof patience);
    if (send_buffer == 0 && is_loopback(of))
        send_buffer = LOOPBACK_SEND_BUFFER;
    if (send_buffer > 0)
        setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &send_buffer, sizeof send_buffer);
}

/* Where a socket is reached, for people. */
static void name_socket(int fd, char *ret_url, size_t size)
{
    struct sockaddr_storage address = {0};
    socklen_t length = sizeof address;
    const struct sockaddr *of = (struct sockaddr *)&address;
    const struct sockaddr_un *local = (const void *)&address;
    char host[64], port[8];
    snprintf(ret_url, size, "a socket without a name");
    if (getsockname(fd, (struct sockaddr *)&address, &length) != 0)
        return;
    if (of->sa_family == AF_UNIX && local->sun_path[0])
        snprintf(ret_url, size, "unix:%.*s", (int)sizeof local->sun_path, local->sun_path);
    else if (getnameinfo(of, length, host, sizeof host, port, sizeof port,
                         NI_NUMERICHOST | NI_NUMERICSERV) == 0 &&
             of->sa_family != AF_UNIX)
        snprintf(ret_url, size, strchr(host, ':') ? "http://[%s]:%s" : "http://%s:%s", host,
                 port);
}

/* Bind and listen on one resolved address; -1 with errno. */
static int open_address(const server_settings *settings, const struct addrinfo *info)
{
    int yes = 1;
    int fd = socket(info->ai_family, info->ai_socktype | SOCK_CLOEXEC, info->ai_protocol);
    if (fd < 0)
        return -1;
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    if (bind(fd, info->ai_addr, info->ai_addrlen) == 0) {
        tune(settings, fd);
        if (listen(fd, SOMAXCONN) == 0)
            return fd;
    }
    int failure = errno;
    close(fd);
    errno = failure;
    return -1;
}

static struct addrinfo *resolve(const char *host, uint64_t port, char *ret_error, size_t size)
{
    char service[8];
    struct addrinfo *found = NULL;
    const struct addrinfo wanted = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_NUMERICSERV};
    snprintf(service, sizeof service, "%u", (unsigned)port & 0xffff);
    int failure = getaddrinfo(host, service, &wanted, &found);
    if (failure)
        snprintf(ret_error, size, "bind: %s: %s", host, gai_strerror(failure));
    return failure ? NULL : found;
}

static int open_tcp(const server_settings *settings, char *ret_url, size_t size)
{
    struct addrinfo *info = resolve(settings->bind, settings->port, ret_url, size);
    if (!info)
        return -1;
    int fd = -1;
    for (const struct addrinfo *at = info; at && fd < 0; at = at->ai_next)
        fd = open_address(settings, at);
    if (fd < 0)
        snprintf(ret_url, size, "cannot listen on %s port %u: %s", settings->bind,
                 (unsigned)settings->port, strerror(errno));
    freeaddrinfo(info);
    if (fd >= 0)
        name_socket(fd, ret_url, size);
    return fd;
}

/* A socket that is there already. */
static int open_inherited(const server_settings *settings, char *ret_url, size_t size)
{
    int fd = systemd_socket(ret_url, size);
    if (fd < 0)
        return -1;
    tune(settings, fd);
    name_socket(fd, ret_url, size);
    return fd;
}

int listen_open(const server_settings *settings, char *ret_url, size_t size)
{
    if (systemd_has_sockets())
        return open_inherited(settings, ret_url, size);
    if (settings->unix_socket[0])
        return open_unix(settings->unix_socket, ret_url, size);
    return open_tcp(settings, ret_url, size);
}

bool listen_is_local(int fd)
{
    struct sockaddr_storage address = {0};
    socklen_t length = sizeof address;
    const struct sockaddr *of = (struct sockaddr *)&address;
    return getsockname(fd, (struct sockaddr *)&address, &length) == 0 &&
           (of->sa_family == AF_UNIX || is_loopback(of));
}

void listen_close(const server_settings *settings, int fd)
{
    close(fd);
    if (settings->unix_socket[0] && !systemd_has_sockets())
        unlink(settings->unix_socket);
}

/* ---- the health check's client ---- */

/* An address to listen everywhere is reached at loopback. */
static const char *reachable(const char *bind_address)
{
    if (strcmp(bind_address, "0.0.0.0") == 0)
        return "127.0.0.1";
    return strcmp(bind_address, "::") == 0 ? "::1" : bind_address;
}

static int connect_tcp(const server_settings *settings)
{
    char error[128];
    struct addrinfo *info =
        resolve(reachable(settings->bind), settings->port, error, sizeof error);
    int fd = info ? socket(info->ai_family, info->ai_socktype, info->ai_protocol) : -1;
    if (fd >= 0 && connect(fd, info->ai_addr, info->ai_addrlen) != 0) {
        close(fd);
        fd = -1;
    }
    if (info)
        freeaddrinfo(info);
    return fd;
}

/* Where the probe asks, for people. */
static void name_target(const server_settings *settings, char *dst, size_t size)
{
    if (settings->unix_socket[0])
        snprintf(dst, size, "unix:%s", settings->unix_socket);
    else
        snprintf(dst, size, "%s port %u", reachable(settings->bind), (unsigned)settings->port);
}

bool listen_probe(const server_settings *settings, FILE *errors)
{
    static const char request[] =
        "GET /health/ready HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
    static const char wanted[] = "HTTP/1.1 200 ";
    const struct timeval limit = {.tv_sec = 3};
    char answer[sizeof wanted] = "", target[256];
    size_t got = 0;
    name_target(settings, target, sizeof target);
    int fd =
        settings->unix_socket[0] ? connect_unix(settings->unix_socket) : connect_tcp(settings);
    if (fd < 0) {
        fprintf(errors, "posenc-server: nothing answers at %s: %s\n", target, strerror(errno));
        return false;
    }
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
    ssize_t part = send(fd, request, sizeof request - 1, MSG_NOSIGNAL);
    while (part > 0 && got < sizeof wanted - 1) {
        part = recv(fd, answer + got, sizeof wanted - 1 - got, 0);
        got += part > 0 ? (size_t)part : 0;
    }
    close(fd);
    if (strcmp(answer, wanted) == 0)
        return true;
    fprintf(errors, "posenc-server: the server at %s is not ready\n", target);
    return false;
}
