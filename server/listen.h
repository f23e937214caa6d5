/* Sockets: the one to listen on, and a client's for the health check. */
#ifndef LISTEN_H
#define LISTEN_H

#include "settings.h"

/* A listening socket, handed over by a service manager or opened by the settings, and where it
 * listens as a URL for people, in ret_url. -1: one line of the reason is in ret_url. */
int listen_open(const server_settings *settings, char *ret_url, size_t size);

/* Whether a listening socket is reached from this machine alone: loopback, or a Unix socket. */
bool listen_is_local(int fd);

/* Close the socket and remove the path of a Unix socket that we have opened. */
void listen_close(const server_settings *settings, int fd);

/* Ask the server that the settings describe for /health/ready: true if it answers 200; else a
 * line that says why not has gone to `errors`. */
bool listen_probe(const server_settings *settings, FILE *errors);

#endif
