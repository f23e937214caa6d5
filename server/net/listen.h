/* The socket that the server listens on. */
#ifndef LISTEN_H
#define LISTEN_H

#include "settings/settings.h"

/* Return the listening socket that a service manager handed over, or open the one that the
 * settings describe; ret_url is where clients reach it. -1: ret_url is one line with the
 * reason. */
int listen_open(const server_settings *settings, char *ret_url, size_t size);

/* Whether only clients on this machine can reach a listening socket: on a loopback address or a
 * Unix socket. */
bool listen_is_local(int fd);
bool listen_is_unix(int fd);

/* The send buffer, in bytes, of connections that come by a listening socket; 0: the kernel's.
 */
int listen_send_buffer(int fd);

/* Close the socket. If listen_open created a Unix socket, remove its path. */
void listen_close(const server_settings *settings, int fd);

#endif
