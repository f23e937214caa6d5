/* Clients that leave while the server works for them. A thread waits for that on the sockets of
 * all requests at work; see departures.c for when a client has left. */
#ifndef DEPARTURES_H
#define DEPARTURES_H

#include <stdbool.h>

/* A client that waits for its answer. Stored by the caller, initially all zero but for the
 * first three members. */
typedef struct waiting_client {
    int fd;
    bool takes_interim; /* it speaks HTTP/1.1, and nothing of its answer has been sent */
    void (*left)(struct waiting_client *client);
    bool added, listed; /* used by the departures; `added` by the caller's thread alone */
} waiting_client;

typedef struct departure_list departure_list;

/* Start the thread. NULL if memory, descriptors or threads ran out. */
departure_list *departures_start(void);

/* Wait for a client's departure: then `left` is called, once, on the thread of the departures.
 * It must not call them. The caller keeps the socket open, and neither reads nor writes it,
 * until departures_remove has returned. Without memory in the kernel the client is not listed.
 */
void departures_add(departure_list *departures, waiting_client *client);

/* Afterwards `left` neither runs nor will run. A client that is not listed is fine. */
void departures_remove(departure_list *departures, waiting_client *client);

/* End the thread. Clients may still be added and removed, and never leave. NULL is fine, and a
 * second call. */
void departures_stop(departure_list *departures);

/* Stop and free; no client may be listed. NULL is fine. */
void departures_free(departure_list *departures);

#endif
