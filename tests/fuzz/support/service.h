/* A service without a server, messages for it, and its answers as texts. */
#ifndef FUZZ_SERVICE_H
#define FUZZ_SERVICE_H

#include "api.h"

struct store;

/* Small limits, so that every answer is quick. */
#define FUZZ_BODY_MAX   2048
#define FUZZ_UPLOAD_MAX 4096
#define FUZZ_CACHE      ((uint64_t)1 << 18)

typedef struct fuzz_service {
    pe_cache *cache;
    struct store *store; /* in memory */
    api_host host;
    pe_runner runner;
    api_service *service;
    uint64_t time;  /* moves by one at each look */
    unsigned turns; /* of the long preparation under way: it is cancelled after some */
    bool cancelled; /* the last answer's preparation was */
} fuzz_service;

/* `table_bytes`: above it, tables are streamed. `key`: of the store, or NULL. The service stays
 * where it is. */
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

/* Read a message that looks as on the wire, but with bare LF: a request line without version,
 * fields, an empty line, the body. The text is cut into pieces. */
void fuzz_message_read(char *text, size_t size, fuzz_message *ret_message);

/* A field's value, NULL if absent. */
const char *fuzz_message_field(const fuzz_message *message, const char *name);

/* Replace a field; a NULL value removes it. */
void fuzz_message_set(fuzz_message *message, const char *name, const char *value);

/* ---- answers ---- */

typedef struct fuzz_answer {
    api_reply *reply;
    unsigned status;
    bool has_body;
    char *body; /* the whole, with a NUL behind it */
    size_t size;
} fuzz_answer;

/* Ask as an event thread does, and then as a worker where it takes longer. */
fuzz_answer fuzz_ask(fuzz_service *service, const fuzz_message *message);
void fuzz_answer_done(fuzz_answer *answer);
const char *fuzz_answer_field(const fuzz_answer *answer, const char *name);

/* The answer of a reply, which it takes over. */
fuzz_answer fuzz_answer_of(api_reply *reply);

/* The refusal by the head alone, NULL if there is none; how long the body may be. */
api_reply *fuzz_judge(fuzz_service *service, const fuzz_message *message, uint64_t *ret_limit);

#endif
