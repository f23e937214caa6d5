/* Worker threads for work that is too slow for an event thread: a bounded queue, and a list of
 * jobs that wait for the result of another job.
 *
 * Jobs have a price. The next job is the one whose price plus the work taken since it was
 * submitted is least: cheap jobs overtake dear ones, but no job is overtaken by later ones that
 * cost more than itself in all. One of several threads takes only cheap jobs, so these
 * never wait for the end of a dear one. */
#ifndef WORKERS_H
#define WORKERS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Bytes of a thread's stack: what the table kernels need. Some C libraries give less. */
#define WORKERS_STACK ((size_t)2 << 20)

typedef struct worker_set worker_set;

/* Jobs below this price, in multiply-adds, are cheap: they take some 20 ms. */
#define WORKERS_CHEAP UINT64_C(20000000)

typedef enum job_progress {
    JOB_ENDED,
    JOB_WAITS,  /* run the job again when another one has completed */
    JOB_PRICED, /* the job has set the price of what it does next: queue it by that, even if the
                 * queue is full. Its time begins anew. */
} job_progress;

/* A job is stored by the caller. It ends with a call of `end`, after run has returned
 * JOB_ENDED, or of `abandon`. From the beginning of that call on the workers no longer use the
 * job. */
typedef struct worker_job {
    struct worker_job *next; /* used by the workers, as are the next two */
    uint64_t arrival, due;   /* in multiply-adds taken by then: see workers.c */
    uint64_t used, began;    /* for workers_time_used; set by the workers */
    uint64_t completions;    /* workers_completions before the job last found it must wait */
    uint64_t price;          /* multiply-adds; 0: unknown, and so cheap */
    const char *key;         /* jobs with equal keys need the same computation; or NULL */
    bool waited;           /* set by the workers: the job may find the result of another, so it
                            * runs as a cheap one. It must do no dear work then. */
    atomic_bool cancelled; /* set by workers_cancel */
    job_progress (*run)(struct worker_job *job);
    void (*end)(struct worker_job *job);
    void (*abandon)(struct worker_job *job);
} worker_job;

/* Start the threads. At most `queue_limit` cheap jobs wait in the queue, and as many dear ones.
 * NULL if memory or threads ran out. */
worker_set *workers_start(unsigned threads, size_t queue_limit);

/* Queue a job; false if the queue is full. While another job with the same key is queued or
 * runs, the job waits for that one instead and takes no place in the queue. */
bool workers_submit(worker_set *workers, worker_job *job);

/* Queue a job that goes on with what has begun, so the queue is never too full for it: the
 * caller limits how many there are. False once the workers stop. */
bool workers_continue(worker_set *workers, worker_job *job);

/* Nobody needs the result of a job any more. A job that is queued or waits is abandoned. One
 * that runs is marked; unless others need the same computation, workers_may_continue tells it
 * to end, and then it ends or is abandoned. False if the job has ended before, or is just about
 * to. The caller makes sure that the job is not freed meanwhile. */
bool workers_cancel(worker_set *workers, worker_job *job);

/* Whether the work that the calling thread does is needed: false if it belongs to a cancelled
 * job with whose key no other job is queued, waits or runs. */
bool workers_may_continue(worker_set *workers);

/* For how many nanoseconds the job whose work the calling thread does has run until `now`, a
 * clock_now: one clock for all that it computes. 0 if the thread works for no job. */
uint64_t workers_time_used(uint64_t now);

/* Run a job as soon as a computation has completed since job->completions was read. */
void workers_await(worker_set *workers, worker_job *job);

/* A computation has completed: run the waiting jobs again. */
void workers_completed(worker_set *workers);

/* The number of such completions, for worker_job.completions. */
uint64_t workers_completions(worker_set *workers);

/* Call task(argument, i) for every i < count, on this thread and on idle workers, and return
 * when all calls have returned. */
void workers_split(worker_set *workers, void (*task)(void *argument, size_t i), void *argument,
                   size_t count);

/* Whether the queue would take a job of that price; for jobs that return JOB_PRICED. */
bool workers_have_place(worker_set *workers, uint64_t price);

/* The number of jobs in the queue and of those that wait for another job. */
size_t workers_waiting(worker_set *workers);

/* Wait for the running jobs, abandon all others, and join the threads. Later jobs are refused
 * by workers_submit and abandoned by workers_await. */
void workers_stop(worker_set *workers);

/* Stop, unless that has been done, and free. NULL is fine. */
void workers_free(worker_set *workers);

#endif
