/* A thread that follows what is stored in a shared database and tells the store. It alone reads
 * rows of sets, so that what it tells is in the order of its reading. It connects again
 * whenever the connection is lost, and knows whether the database can be reached. */
#ifndef POSTGRES_LISTENER_H
#define POSTGRES_LISTENER_H

#include "store/engine.h"

#include <stdatomic.h>

typedef struct postgres_listener postgres_listener;

/* Start the thread, and wait until it has told of all sets or the database was found
 * unreachable. The URL must outlive the listener. NULL: reterr is one line with the reason. */
postgres_listener *postgres_listener_start(const char *url, const engine_events *events,
                                           char *reterr, size_t size);
void postgres_listener_stop(postgres_listener *self); /* NULL is fine */

/* Whether the database can be reached; valid until the listener is stopped. */
const atomic_bool *postgres_listener_is_connected(const postgres_listener *self);

/* Look a name up in the database, tell the store, and return then: API_STORE_DONE or
 * API_STORE_UNAVAILABLE. Any thread may call it. */
api_store_status postgres_listener_refresh(postgres_listener *self, const char *name);

#endif
