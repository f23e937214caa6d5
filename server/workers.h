/* Worker threads for what takes longer than an event thread may: a bounded queue, and a place
 * for jobs that wait for another job's result. */
#ifndef WORKERS_H
#define WORKERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What the table kernels need, and more than some C libraries give: bytes. */
#define WORKERS_STACK ((size_t)2 << 20)

typedef struct worker_set worker_set;

/* A job lies in the caller's storage. It ends with `end`, once run has returned true, or with
 * `abandon`; when these are called the workers touch it no longer. */
typedef struct worker_job {
    struct worker_job *next; /* the workers' own */
    uint64_t seen;           /* workers_landings before the job last found that it must wait */
    const char *key;         /* equal keys need one computation; NULL: unlike any other */
    bool (*run)(struct worker_job *job); /* false: it must wait for another job; run it again */
    void (*end)(struct worker_job *job);
    void (*abandon)(struct worker_job *job);
} worker_job;

/* NULL if threads or memory ran out. At most `queue_limit` jobs wait for a thread. */
worker_set *workers_start(unsigned threads, size_t queue_limit);

/* Have a job run; false if the queue is full. A job whose key another one has that waits or
 * runs waits for that one instead, and takes no place in the queue. */
bool workers_submit(worker_set *workers, worker_job *job);

/* Have a job run once something has landed since job->seen. */
void workers_await(worker_set *workers, worker_job *job);

/* Something has been computed: jobs that wait for others try again. */
void workers_landed(worker_set *workers);
uint64_t workers_landings(worker_set *workers);

/* Call task(of, i) for all i < count on the caller's thread and those without a job, and return
 * when all calls have returned. */
void workers_split(worker_set *workers, void (*task)(void *of, size_t i), void *of,
                   size_t count);

/* Jobs that wait, for a thread or for another job. */
size_t workers_waiting(worker_set *workers);

/* Let the jobs under way end, abandon those that wait, and join the threads. Jobs that come
 * from now on are refused or abandoned at once. */
void workers_stop(worker_set *workers);

/* Stop, if that was not done, and free. NULL is fine. */
void workers_free(worker_set *workers);

#endif
