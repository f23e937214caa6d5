/* Addresses of sockets: to bind or connect to, and to name for people. */
#ifndef ADDRESS_H
#define ADDRESS_H

#include <netdb.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/un.h>

typedef union socket_address {
    struct sockaddr any;
    struct sockaddr_un local; /* of AF_UNIX */
    struct sockaddr_storage storage;
} socket_address;

/* The address that a socket is bound to. False, with errno, if `fd` is not a socket. */
bool address_read(int fd, socket_address *ret_address, socklen_t *ret_length);

bool address_is_loopback(const struct sockaddr *address);

/* The addresses of a host name or number and a TCP port, for freeaddrinfo. NULL: one line with
 * the reason is in reterr. */
struct addrinfo *address_resolve(const char *host, uint64_t port, char *reterr, size_t size);

/* The address of a Unix socket. False if the path is too long. */
bool address_of_path(const char *path, struct sockaddr_un *ret_address);

/* Connect to a Unix socket. -1, with errno, if that fails. */
int address_connect_path(const char *path);

/* Write where a socket can be reached, as a URL such as http://127.0.0.1:8080 or unix:/path. */
void address_write_url(int fd, char *dst, size_t size);

#endif
