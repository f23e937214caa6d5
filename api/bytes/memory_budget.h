/* Reserving memory for the request that the calling thread answers. Whatever may grow with a
 * request is reserved before it is taken, by an upper bound where its size is unknown, and
 * given back when the call ends; or when the body is freed that outlives it. */
#ifndef API_MEMORY_BUDGET_H
#define API_MEMORY_BUDGET_H

#include "api.h"

/* A part of the budget that an object holds. */
typedef struct api_share {
    api_memory *memory; /* NULL: it holds nothing */
    uint64_t bytes;
} api_share;

/* The call of this thread begins; `memory` may be NULL: then any amount is fine. The end gives
 * back what no body has taken over. Outside of a call nothing is counted. */
void api_reserve_begin(api_memory *memory);
void api_reserve_end(void);

/* Reserve until the call ends. False: there is no room now, or never, which was added to
 * reterr; `what` follows "memory for". */
bool api_reserve(uint64_t bytes, const char *what, pe_error *reterr);

/* The same for what the next body made by api_body_from_source holds until it is freed. */
bool api_reserve_lasting(uint64_t bytes, const char *what, pe_error *reterr);

/* For the body: take over what was reserved so. */
api_share api_reserve_transfer(void);

/* Give a share back; it holds nothing then. */
void api_share_release(api_share *share);

#endif
