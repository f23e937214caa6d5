/* The protocols between a service manager and its service: a listening socket that is passed to
 * the service (sd_listen_fds), and datagrams that report its state (sd_notify). */
#ifndef SYSTEMD_H
#define SYSTEMD_H

#include <stdbool.h>
#include <stddef.h>

/* Whether the service manager passed sockets to this process. */
bool systemd_has_sockets(void);

/* The listening stream socket that was passed; there must be exactly one. -1: one line with the
 * reason is in `reterr`. */
int systemd_socket(char *reterr, size_t size);

/* Report a state, such as "READY=1". Does nothing without a service manager. */
void systemd_notify(const char *state);

#endif
