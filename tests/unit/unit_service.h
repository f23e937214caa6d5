/* A service without a server, for tests of the api. */
#ifndef UNIT_SERVICE_H
#define UNIT_SERVICE_H

#include "api.h"

struct set_store;

typedef struct unit_service {
    pe_cache *cache;
    struct set_store *store; /* in memory, open to everybody */
    api_host host;
    api_service *service;
    uint64_t time; /* the clock: moves by one at each look */
    api_readiness readiness;
    unsigned landings;
    char *held; /* the body that the last reply reads, if it reads it */
} unit_service;

void unit_service_start(unit_service *ret_service);
void unit_service_stop(unit_service *service);

/* Answer "GET /target" with headers as name, value, …, NULL; `body` for POST, as a text. A
 * reply that is read from its request must be read before the next one is sent. */
api_reply *unit_send(unit_service *service, const char *method, const char *target,
                     const char *const *headers, const char *body, size_t size);
api_reply *unit_ask(unit_service *service, const char *method, const char *target,
                    const char *const *headers, const char *body);

/* A field of a reply, NULL if absent. */
const char *unit_field(const api_reply *reply, const char *name);

/* The body of a reply as one text, to be freed. */
char *unit_body(const api_reply *reply, size_t *ret_size);

#endif
