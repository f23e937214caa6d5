/* Turning connections away: each is answered with a fixed text, and stays until the client has
 * read it. To close a socket at once would reset it, and the answer might be lost. */
#ifndef SHED_H
#define SHED_H

#include <poll.h>
#include <stdint.h>

#define SHED_MAX 256 /* connections that stay; with more the oldest go */

typedef struct shedder shedder;

/* `text` is the whole answer and stays the caller's. NULL if memory ran out. */
shedder *shed_new(const char *text);

/* Answer a connection, which is now the shedder's to close. */
void shed_take(shedder *shed, int fd);

/* Set up to SHED_MAX places of `ret_polls`; returns how many. */
nfds_t shed_polls(const shedder *shed, struct pollfd *ret_polls);

/* Close what has been read or has waited long; after poll, with the places it has filled. */
void shed_tend(shedder *shed, const struct pollfd *polls);

/* Closes all. NULL is fine. */
void shed_free(shedder *shed);

#endif
