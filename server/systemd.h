/* What a service manager and its service say to each other: a socket that is handed over
 * (sd_listen_fds), and a datagram when the service is ready or stops (sd_notify). */
#ifndef SYSTEMD_H
#define SYSTEMD_H

#include <stdbool.h>
#include <stddef.h>

/* Whether sockets were handed over to this process. */
bool systemd_has_sockets(void);

/* The one listening stream socket that was handed over; -1: a line with the reason is in
 * `reterr`. */
int systemd_socket(char *reterr, size_t size);

/* Say something such as "READY=1"; nothing where nobody listens. */
void systemd_notify(const char *state);

#endif
