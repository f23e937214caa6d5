/* Computing the targets of the file of --warm. */
#ifndef WARM_UP_H
#define WARM_UP_H

#include "api.h"
#include "settings/warm_file.h"
#include "work/workers.h"

/* Check that the service will compute every target and that the cache will keep what it
 * computes, without computing. Where the store cannot be read, a target that names a set
 * passes. False: reterr is one line that names the first wrong line of the file and the rule.
 */
bool warm_up_check(const warm_file *file, api_service *service, char *reterr, size_t size);

/* What is told about it, from a worker thread. */
typedef struct warm_up_calls {
    void *context;
    void (*failed)(void *context, const char *reason); /* a target, for this one line */
    void (*ended)(void *context);                      /* after the last target */
} warm_up_calls;

typedef struct warm_up warm_up;

/* Compute the targets one after another on the workers, as a job beside those of clients. The
 * caller keeps `file` and `service` and frees the result when the workers have stopped. NULL if
 * memory ran out. */
warm_up *warm_up_start(const warm_file *file, api_service *service, worker_set *workers,
                       const warm_up_calls *calls);
void warm_up_free(warm_up *warm); /* NULL is fine */

#endif
