/* The sets that a call has found: whatever asks for a name again gets the same set, so
 * that a reply made of many requests never mixes two versions of it. */
#ifndef API_FOUND_SETS_H
#define API_FOUND_SETS_H

#include "call.h"

#define API_FOUND_SETS_MAX 64 /* as many as a batch has requests */

typedef struct api_found_set {
    char name[API_STORED_NAME_MAX + 1];
    api_set *set; /* NULL: there was none */
} api_found_set;

typedef struct api_found_sets {
    size_t count;
    api_found_set items[API_FOUND_SETS_MAX];
} api_found_sets;

/* Find a set for an answer that depends on it; ret_set is NULL if no set has the name.
 * The answer will be closed to pages of other origins (api_reply_close), and their requests are
 * refused (api_refuse_reading). False: ret_reply is the answer, NULL without memory or after
 * api_not_yet. */
bool api_read_set(const api_call *call, const char *name, api_set **ret_set,
                  api_reply **ret_reply);

void api_found_sets_done(api_found_sets *found);

#endif
