#include "net/address.h"

#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

bool address_read(int fd, socket_address *ret_address, socklen_t *ret_length)
{
    *ret_address = (socket_address){.storage = {0}};
    *ret_length = sizeof *ret_address;
    return getsockname(fd, &ret_address->any, ret_length) == 0;
}

bool address_is_loopback(const struct sockaddr *address)
{
    if (address->sa_family == AF_INET) {
        struct in_addr ip = ((const struct sockaddr_in *)(const void *)address)->sin_addr;
        return ntohl(ip.s_addr) >> 24 == 127;
    }
    const struct sockaddr_in6 *six = (const void *)address;
    return address->sa_family == AF_INET6 && IN6_IS_ADDR_LOOPBACK(&six->sin6_addr);
}

struct addrinfo *address_resolve(const char *host, uint64_t port, char *reterr, size_t size)
{
    char service[8];
    struct addrinfo *addresses = NULL;
    const struct addrinfo wanted = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_NUMERICSERV};
    snprintf(service, sizeof service, "%u", (unsigned)port & 0xffff);
    int failure = getaddrinfo(host, service, &wanted, &addresses);
    if (failure)
        snprintf(reterr, size, "bind: %s: %s", host, gai_strerror(failure));
    return failure ? NULL : addresses;
}

bool address_of_path(const char *path, struct sockaddr_un *ret_address)
{
    *ret_address = (struct sockaddr_un){.sun_family = AF_UNIX};
    if (strlen(path) >= sizeof ret_address->sun_path)
        return false;
    memcpy(ret_address->sun_path, path, strlen(path) + 1);
    return true;
}

int address_connect_path(const char *path)
{
    struct sockaddr_un address;
    if (!address_of_path(path, &address)) {
        errno = ENAMETOOLONG;
        return -1;
    }
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    if (fd >= 0 && connect(fd, (struct sockaddr *)&address, sizeof address) != 0) {
        int failure = errno;
        close(fd);
        errno = failure;
        fd = -1;
    }
    return fd;
}

void address_write_url(int fd, char *dst, size_t size)
{
    socket_address address;
    socklen_t length;
    char host[64], port[8];
    snprintf(dst, size, "a socket without a name");
    if (!address_read(fd, &address, &length))
        return;
    if (address.any.sa_family == AF_UNIX) {
        if (address.local.sun_path[0])
            snprintf(dst, size, "unix:%.*s", (int)sizeof address.local.sun_path,
                     address.local.sun_path);
    } else if (getnameinfo(&address.any, length, host, sizeof host, port, sizeof port,
                           NI_NUMERICHOST | NI_NUMERICSERV) == 0) {
        snprintf(dst, size, strchr(host, ':') ? "http://[%s]:%s" : "http://%s:%s", host, port);
    }
}
