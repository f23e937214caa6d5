/* Clients that leave while the server works for them. A thread waits for that on the sockets of
 * all requests at work; see disconnects.c for when a client has left. */
#ifndef DISCONNECTS_H
#define DISCONNECTS_H

#include <stdbool.h>

/* A client that waits for its answer. Stored by the caller, initially all zero but for the
 * first three members. */
typedef struct waiting_client {
    int fd;
    bool takes_interim; /* it speaks HTTP/1.1, and nothing of its answer has been sent */
    void (*left)(struct waiting_client *client);
    bool added, listed; /* used by the disconnects; `added` by the caller's thread alone */
} waiting_client;

typedef struct disconnect_list disconnect_list;

/* Start the thread. NULL if memory, descriptors or threads ran out. */
disconnect_list *disconnects_start(void);

/* Wait for a client's disconnect: then `left` is called, once, on the thread of the
 * disconnects. It must not call them. The caller keeps the socket open, and neither reads nor
 * writes it, until disconnects_remove has returned. Without memory in the kernel the client is
 * not listed.
 */
void disconnects_add(disconnect_list *disconnects, waiting_client *client);

/* Afterwards `left` neither runs nor will run. A client that is not listed is fine. */
void disconnects_remove(disconnect_list *disconnects, waiting_client *client);

/* End the thread. Clients may still be added and removed, and never leave. NULL is fine, and a
 * second call. */
void disconnects_stop(disconnect_list *disconnects);

/* Stop and free; no client may be listed. NULL is fine. */
void disconnects_free(disconnect_list *disconnects);

#endif
