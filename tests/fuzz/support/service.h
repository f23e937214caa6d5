/* A service without a server, messages for it, and its answers as texts. */
#ifndef FUZZ_SERVICE_H
#define FUZZ_SERVICE_H

#include "api.h"

struct set_store;

/* Small limits, so that every answer is quick. */
#define FUZZ_BODY_MAX   2048
#define FUZZ_UPLOAD_MAX 4096
#define FUZZ_CACHE      ((uint64_t)1 << 18)

typedef struct fuzz_service {
    pe_cache *cache;
    struct set_store *store; /* in memory */
    api_host host;
    pe_runner runner;
    api_service *service;
    uint64_t time;  /* the clock: it advances by one whenever it is read */
    unsigned turns; /* how often the current long preparation has asked whether to go on */
    bool cancelled; /* the preparation of the last answer asked too often and was cancelled */
} fuzz_service;

/* Tables of more than `table_bytes` are streamed. `key` is that of the store, or NULL. The
 * service must not be moved. */
void fuzz_service_start(fuzz_service *ret_service, uint64_t table_bytes, const char *key,
                        bool local);
void fuzz_service_stop(fuzz_service *service);

/* ---- messages ---- */

#define FUZZ_FIELDS_MAX 24
typedef struct fuzz_message {
    const char *method, *target;
    api_field fields[FUZZ_FIELDS_MAX];
    size_t count;
    const char *body; /* NULL: none */
    size_t body_size;
} fuzz_message;

/* Read a message that is written as on the wire, but with bare LF: a request line without
 * version, fields, an empty line, and the body. NULs are written into the text. */
void fuzz_message_read(char *text, size_t size, fuzz_message *ret_message);

/* A field's value, NULL if absent. */
const char *fuzz_message_field(const fuzz_message *message, const char *name);

/* Set the value of a field; NULL removes the field. */
void fuzz_message_set(fuzz_message *message, const char *name, const char *value);

/* ---- answers ---- */

typedef struct fuzz_answer {
    api_reply *reply;
    unsigned status;
    bool has_body;
    char *body; /* the whole body, and a NUL */
    size_t size;
} fuzz_answer;

/* Ask as an event thread does, and then, if that would take long, as a worker does. */
fuzz_answer fuzz_ask(fuzz_service *service, const fuzz_message *message);
void fuzz_answer_done(fuzz_answer *answer);
const char *fuzz_answer_field(const fuzz_answer *answer, const char *name);

/* The answer that a reply gives. It takes over the reply. */
fuzz_answer fuzz_answer_of(api_reply *reply);

/* The refusal of a message by its head, NULL if there is none. ret_limit is the longest body.
 */
api_reply *fuzz_judge(fuzz_service *service, const fuzz_message *message, uint64_t *ret_limit);

#endif
