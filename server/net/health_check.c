#include "net/health_check.h"

#include "net/address.h"

#include <errno.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

/* The address to connect to for an address to bind to: loopback for "all addresses". */
static const char *find_reachable_address(const char *bind_address)
{
    if (strcmp(bind_address, "0.0.0.0") == 0)
        return "127.0.0.1";
    return strcmp(bind_address, "::") == 0 ? "::1" : bind_address;
}

static int connect_unix(const server_settings *settings, char *reterr, size_t size)
{
    int fd = address_connect_path(settings->unix_socket);
    if (fd < 0)
        snprintf(reterr, size, "cannot connect to unix:%s: %s", settings->unix_socket,
                 strerror(errno));
    return fd;
}

static int connect_tcp(const server_settings *settings, char *reterr, size_t size)
{
    const char *host = find_reachable_address(settings->bind);
    struct addrinfo *info = address_resolve(host, settings->port, reterr, size);
    if (!info)
        return -1;
    int fd = socket(info->ai_family, info->ai_socktype, info->ai_protocol);
    if (fd < 0 || connect(fd, info->ai_addr, info->ai_addrlen) != 0) {
        snprintf(reterr, size, "cannot connect to %s port %u: %s", host,
                 (unsigned)settings->port, strerror(errno));
        if (fd >= 0)
            close(fd);
        fd = -1;
    }
    freeaddrinfo(info);
    return fd;
}

/* Send the request and read the status line. */
static bool is_ready(int fd)
{
    static const char request[] =
        "GET /health/ready HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
    static const char wanted[] = "HTTP/1.1 200 ";
    const struct timeval limit = {.tv_sec = 3};
    char answer[sizeof wanted] = "";
    size_t received = 0;
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
    ssize_t part = send(fd, request, sizeof request - 1, MSG_NOSIGNAL);
    while (part > 0 && received < sizeof wanted - 1) {
        part = recv(fd, answer + received, sizeof wanted - 1 - received, 0);
        received += part > 0 ? (size_t)part : 0;
    }
    return strcmp(answer, wanted) == 0;
}

bool probe_server(const server_settings *settings, FILE *errors)
{
    char error[256];
    int fd = settings->unix_socket[0] ? connect_unix(settings, error, sizeof error)
                                      : connect_tcp(settings, error, sizeof error);
    if (fd < 0) {
        fprintf(errors, "posenc-server: %s\n", error);
        return false;
    }
    bool ready = is_ready(fd);
    close(fd);
    if (!ready)
        fputs("posenc-server: the server is not ready: it does not answer /health/ready with "
              "200\n",
              errors);
    return ready;
}
