/* The worker set: one mutex, a queue, a list of waiting jobs. */
#include "workers.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

typedef struct job_list {
    worker_job *first, **end;
    size_t count;
} job_list;

/* Work that whoever has time takes part in; it lies on the stack of the thread that split it.
 */
typedef struct shared_work {
    struct shared_work *next;
    void (*task)(void *of, size_t i);
    void *of;
    size_t taken, count;
    size_t under_way; /* calls that other threads have not returned from */
} shared_work;

struct worker_set {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    pthread_cond_t part_done; /* of some shared work */
    job_list queue, waiting;
    shared_work *shared; /* with parts that nobody has taken */
    size_t queue_limit;
    atomic_ullong landings; /* changed with the lock held, read without */
    bool stopping;
    unsigned thread_count;
    pthread_t *threads;
    worker_job **running; /* one for each thread */
};

typedef struct thread_start {
    worker_set *workers;
    unsigned index;
} thread_start;

static void append(job_list *list, worker_job *job)
{
    job->next = NULL;
    *list->end = job;
    list->end = &job->next;
    list->count++;
}

static worker_job *take_first(job_list *list)
{
    worker_job *job = list->first;
    if (!job)
        return NULL;
    list->first = job->next;
    if (!list->first)
        list->end = &list->first;
    list->count--;
    return job;
}

/* Put a job where it belongs; lock held. */
static void place(worker_set *workers, worker_job *job, bool must_wait)
{
    append(must_wait ? &workers->waiting : &workers->queue, job);
    pthread_cond_signal(&workers->changed);
}

/* Let all waiting jobs try again; lock held. */
static void wake_waiting(worker_set *workers)
{
    workers->landings++;
    for (worker_job *job; (job = take_first(&workers->waiting));)
        append(&workers->queue, job);
    pthread_cond_broadcast(&workers->changed);
}

static void run_one(worker_set *workers, unsigned index, worker_job *job)
{
    workers->running[index] = job;
    job->seen = workers->landings;
    pthread_mutex_unlock(&workers->lock);
    bool ended = job->run(job);
    pthread_mutex_lock(&workers->lock);
    workers->running[index] = NULL; /* nobody looks at its key any more */
    if (!ended) {
        place(workers, job, job->seen == workers->landings);
        return;
    }
    wake_waiting(workers); /* some may have waited for this job by its key */
    pthread_mutex_unlock(&workers->lock);
    job->end(job);
    pthread_mutex_lock(&workers->lock);
}

/* ---- shared work; lock held at entry and exit ---- */

static void unlink_shared(worker_set *workers, shared_work *work)
{
    shared_work **at = &workers->shared;
    while (*at != work)
        at = &(*at)->next;
    *at = work->next;
}

/* Do one part of shared work that has one left. */
static void take_part(worker_set *workers, shared_work *work)
{
    size_t part = work->taken++;
    if (work->taken == work->count)
        unlink_shared(workers, work);
    work->under_way++;
    pthread_mutex_unlock(&workers->lock);
    work->task(work->of, part);
    pthread_mutex_lock(&workers->lock);
    if (--work->under_way == 0 && work->taken == work->count)
        pthread_cond_broadcast(&workers->part_done);
}

void workers_split(worker_set *workers, void (*task)(void *of, size_t i), void *of,
                   size_t count)
{
    shared_work work = {.task = task, .of = of, .count = count};
    if (count == 0)
        return;
    pthread_mutex_lock(&workers->lock);
    work.next = workers->shared;
    workers->shared = &work;
    pthread_cond_broadcast(&workers->changed);
    while (work.taken < work.count)
        take_part(workers, &work);
    while (work.under_way > 0)
        pthread_cond_wait(&workers->part_done, &workers->lock);
    pthread_mutex_unlock(&workers->lock);
}

static void *work(void *argument)
{
    thread_start start = *(thread_start *)argument;
    worker_set *workers = start.workers;
    free(argument);
    pthread_mutex_lock(&workers->lock);
    while (!workers->stopping) {
        worker_job *job = take_first(&workers->queue);
        if (job)
            run_one(workers, start.index, job);
        else if (workers->shared)
            take_part(workers, workers->shared);
        else
            pthread_cond_wait(&workers->changed, &workers->lock);
    }
    pthread_mutex_unlock(&workers->lock);
    return NULL;
}

static bool start_thread(worker_set *workers, unsigned index)
{
    thread_start *start = malloc(sizeof *start);
    if (!start)
        return false;
    *start = (thread_start){workers, index};
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, WORKERS_STACK);
    bool started = pthread_create(&workers->threads[index], &attributes, work, start) == 0;
    pthread_attr_destroy(&attributes);
    if (!started)
        free(start);
    return started;
}

worker_set *workers_start(unsigned threads, size_t queue_limit)
{
    worker_set *made = calloc(1, sizeof *made);
    if (!made)
        return NULL;
    pthread_mutex_init(&made->lock, NULL);
    pthread_cond_init(&made->changed, NULL);
    pthread_cond_init(&made->part_done, NULL);
    made->queue.end = &made->queue.first;
    made->waiting.end = &made->waiting.first;
    made->queue_limit = queue_limit;
    made->threads = calloc(threads, sizeof *made->threads);
    made->running = calloc(threads, sizeof *made->running);
    while (made->threads && made->running && made->thread_count < threads &&
           start_thread(made, made->thread_count))
        made->thread_count++;
    if (made->thread_count == threads)
        return made;
    workers_free(made);
    return NULL;
}

/* Whether a job with the key waits for a thread or runs; lock held. */
static bool is_in_hand(const worker_set *workers, const char *key)
{
    for (const worker_job *job = workers->queue.first; job; job = job->next)
        if (job->key && strcmp(job->key, key) == 0)
            return true;
    for (unsigned i = 0; i < workers->thread_count; i++)
        if (workers->running[i] && workers->running[i]->key &&
            strcmp(workers->running[i]->key, key) == 0)
            return true;
    return false;
}

bool workers_submit(worker_set *workers, worker_job *job)
{
    pthread_mutex_lock(&workers->lock);
    bool must_wait = job->key && is_in_hand(workers, job->key);
    bool accepted =
        !workers->stopping && (must_wait || workers->queue.count < workers->queue_limit);
    if (accepted)
        place(workers, job, must_wait);
    pthread_mutex_unlock(&workers->lock);
    return accepted;
}

void workers_await(worker_set *workers, worker_job *job)
{
    pthread_mutex_lock(&workers->lock);
    bool stopping = workers->stopping;
    if (!stopping)
        place(workers, job, job->seen == workers->landings);
    pthread_mutex_unlock(&workers->lock);
    if (stopping)
        job->abandon(job);
}

void workers_landed(worker_set *workers)
{
    pthread_mutex_lock(&workers->lock);
    wake_waiting(workers);
    pthread_mutex_unlock(&workers->lock);
}

uint64_t workers_landings(worker_set *workers)
{
    return atomic_load(&workers->landings);
}

size_t workers_waiting(worker_set *workers)
{
    pthread_mutex_lock(&workers->lock);
    size_t count = workers->queue.count + workers->waiting.count;
    pthread_mutex_unlock(&workers->lock);
    return count;
}

void workers_stop(worker_set *workers)
{
    pthread_mutex_lock(&workers->lock);
    workers->stopping = true;
    pthread_cond_broadcast(&workers->changed);
    pthread_mutex_unlock(&workers->lock);
    for (unsigned i = 0; i < workers->thread_count; i++)
        pthread_join(workers->threads[i], NULL);
    workers->thread_count = 0;
    pthread_mutex_lock(&workers->lock);
    wake_waiting(workers);
    worker_job *job = workers->queue.first;
    workers->queue = (job_list){.end = &workers->queue.first};
    pthread_mutex_unlock(&workers->lock);
    for (worker_job *next; job; job = next) {
        next = job->next; /* the job is gone once it is abandoned */
        job->abandon(job);
    }
}

void workers_free(worker_set *workers)
{
    if (!workers)
        return;
    workers_stop(workers);
    pthread_cond_destroy(&workers->changed);
    pthread_cond_destroy(&workers->part_done);
    pthread_mutex_destroy(&workers->lock);
    free(workers->threads);
    free(workers->running);
    free(workers);
}
