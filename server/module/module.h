/* posenc as a WebAssembly module: what JavaScript calls and is called for (engine.js). There is
 * one thread, and one computation at a time; exchanges whose bodies are still read may be many.
 *
 * Pointers are offsets in the module's memory. A trap ends the instance: its memory is gone,
 * and JavaScript makes another one. */
#ifndef MODULE_H
#define MODULE_H

#include <stdbool.h>
#include <stddef.h>

/* One request with its reply. */
typedef struct module_exchange module_exchange;

/* Start the service. `settings` are --NAME=VALUE as posenc-server has them, each ended by a
 * NUL, and then one more NUL; the text must outlive the service. False: what is wrong has been
 * written to standard error. */
bool posenc_start(char *settings);

/* Memory for what the functions below take; NULL if there is none. */
void *posenc_allocate(size_t size);

/* Answer a request. `head` is the method, the target, and then names and values of the fields,
 * each ended by a NUL; a second NUL ends the head. Head and body (NULL: none) are from
 * posenc_allocate and are taken over. Without a head the reply is that of a service which has
 * run out of memory: for a request that has ended another instance. NULL if memory ran out. */
module_exchange *posenc_ask(char *head, char *body, size_t body_size);

/* The reply's status, and its fields: lines NAME: VALUE. */
unsigned posenc_status(const module_exchange *exchange);
const char *posenc_fields(const module_exchange *exchange);

/* The next part of the body, posenc_part_size bytes, which stay until the next call for the
 * same exchange. NULL at the end; false of posenc_is_complete: bytes are missing, since
 * computing them was ended. */
const char *posenc_read(module_exchange *exchange);
size_t posenc_part_size(const module_exchange *exchange);
bool posenc_is_complete(const module_exchange *exchange);

void posenc_end(module_exchange *exchange);

/* Imported: whether nobody waits for what is computed now. Asked every few milliseconds. */
bool posenc_is_unwanted(void);

#endif
