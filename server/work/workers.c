/* One mutex guards everything: the queue, the waiting jobs and the shared work.
 *
 * The clock of the queue is the work that has been taken from it, in multiply-adds. A job is
 * due when its own price has been taken since its arrival. So a job is overtaken by no more
 * later work than it is itself, and the order of two jobs never changes. */
#include "work/job_list.h"

#include "clock.h"

#include <pthread.h>
#include <stdlib.h>

#define LEAST_PRICE UINT64_C(1000000)   /* any job takes about a millisecond */
#define MOST_PRICE  (UINT64_C(1) << 48) /* some days; dearer jobs are due together */

/* Work in parts, which idle threads share. It is a local variable of the thread that split it.
 */
typedef struct shared_work {
    struct shared_work *next;
    void (*task)(void *argument, size_t i);
    void *argument;
    worker_job *job;     /* of the thread that split it; or NULL */
    size_t taken, count; /* parts */
    size_t under_way;    /* calls of `task` that have not returned */
} shared_work;

struct worker_set {
    pthread_mutex_t lock;
    pthread_cond_t changed;   /* threads have something to do, or should stop */
    pthread_cond_t part_done; /* the last part of some shared work has returned */
    job_list queue, waiting;
    shared_work *shared; /* all work with parts that no thread has taken */
    size_t queue_limit;
    uint64_t taken;            /* price of all jobs taken from the queue */
    atomic_ullong completions; /* written with the lock held, read without */
    bool stopping;
    unsigned thread_count;
    pthread_t *threads;
    worker_job **running; /* one for each thread */
};

typedef struct thread_start {
    worker_set *workers;
    unsigned index;
    bool only_cheap;
} thread_start;

static _Thread_local worker_job *current; /* whose work the thread does; or NULL */

/* ---- the queue; lock held at entry and exit ---- */

/* What a job costs by the clock of the queue. */
static uint64_t job_cost(const worker_job *job)
{
    if (job->waited || job->price < LEAST_PRICE)
        return LEAST_PRICE;
    return job->price < MOST_PRICE ? job->price : MOST_PRICE;
}

static void enqueue_job(worker_set *workers, worker_job *job)
{
    job->due = job->arrival + job_cost(job);
    job_list_append(&workers->queue, job);
}

/* Append a job to the queue, or to the waiting jobs. */
static void place_job(worker_set *workers, worker_job *job, bool must_wait)
{
    if (must_wait) {
        job->waited = true;
        job_list_append(&workers->waiting, job);
        return;
    }
    enqueue_job(workers, job);
    pthread_cond_broadcast(&workers->changed); /* one thread may not be one that takes it */
}

static bool has_place(const worker_set *workers, const worker_job *job)
{
    return job_list_count(&workers->queue, job_is_dear(job)) < workers->queue_limit;
}

static worker_job *take_job(worker_set *workers, bool only_cheap)
{
    worker_job *job = job_list_take_due(&workers->queue, only_cheap);
    workers->taken += job ? job_cost(job) : 0;
    return job;
}

/* Move all waiting jobs to the queue. */
static void requeue_waiting(worker_set *workers)
{
    workers->completions++;
    for (worker_job *job; (job = job_list_take_first(&workers->waiting));)
        enqueue_job(workers, job);
    pthread_cond_broadcast(&workers->changed);
}

/* Whether a job with the key is queued or runs. */
static bool has_job(const worker_set *workers, const char *key)
{
    for (unsigned i = 0; i < workers->thread_count; i++)
        if (workers->running[i] && job_has_key(workers->running[i], key))
            return true;
    return job_list_has(&workers->queue, key);
}

/* Put a job back that has run and not ended. */
static void requeue_job(worker_set *workers, worker_job *job, job_progress progress)
{
    job->used += clock_now() - job->began;
    if (progress == JOB_PRICED) {
        job->used = 0;
        job->waited = false;
        place_job(workers, job, has_job(workers, job->key));
        return;
    }
    job->waited = true;
    place_job(workers, job, job->completions == workers->completions);
}

/* Run a job and decide what becomes of it. */
static void run_job(worker_set *workers, unsigned index, worker_job *job)
{
    workers->running[index] = current = job;
    job->completions = workers->completions;
    job->began = clock_now();
    pthread_mutex_unlock(&workers->lock);
    job_progress progress = job->run(job);
    pthread_mutex_lock(&workers->lock);
    workers->running[index] = current = NULL; /* from here on no thread reads the job's key */
    if (progress != JOB_ENDED && !atomic_load(&job->cancelled)) {
        requeue_job(workers, job, progress);
        return;
    }
    requeue_waiting(workers); /* for the jobs with the same key */
    pthread_mutex_unlock(&workers->lock);
    (progress == JOB_ENDED ? job->end : job->abandon)(job);
    pthread_mutex_lock(&workers->lock);
}

/* ---- shared work; lock held at entry and exit ---- */

static void unlink_shared_work(worker_set *workers, shared_work *work)
{
    shared_work **link = &workers->shared;
    while (*link != work)
        link = &(*link)->next;
    *link = work->next;
}

/* Do the next part of some shared work, which has one left. */
static void run_shared_part(worker_set *workers, shared_work *work)
{
    size_t part = work->taken++;
    if (work->taken == work->count)
        unlink_shared_work(workers, work);
    work->under_way++;
    pthread_mutex_unlock(&workers->lock);
    worker_job *own = current;
    current = work->job;
    work->task(work->argument, part);
    current = own;
    pthread_mutex_lock(&workers->lock);
    if (--work->under_way == 0 && work->taken == work->count)
        pthread_cond_broadcast(&workers->part_done);
}

/* Some shared work that a thread may help with; NULL if there is none. A thread for cheap jobs
 * takes no dear parts: a job that comes meanwhile would wait for their end. */
static shared_work *find_shared_work(const worker_set *workers, bool only_cheap)
{
    shared_work *work = workers->shared;
    while (work && only_cheap && work->job && work->job->price / work->count >= WORKERS_CHEAP)
        work = work->next;
    return work;
}

void workers_split(worker_set *workers, void (*task)(void *argument, size_t i), void *argument,
                   size_t count)
{
    shared_work work = {.task = task, .argument = argument, .job = current, .count = count};
    if (count == 0)
        return;
    pthread_mutex_lock(&workers->lock);
    work.next = workers->shared;
    workers->shared = &work;
    pthread_cond_broadcast(&workers->changed);
    while (work.taken < work.count)
        run_shared_part(workers, &work);
    while (work.under_way > 0)
        pthread_cond_wait(&workers->part_done, &workers->lock);
    pthread_mutex_unlock(&workers->lock);
}

/* A worker's thread: jobs first, then shared work. */
static void *run_worker(void *argument)
{
    thread_start start = *(thread_start *)argument;
    worker_set *workers = start.workers;
    shared_work *shared;
    free(argument);
    pthread_mutex_lock(&workers->lock);
    while (!workers->stopping) {
        worker_job *job = take_job(workers, start.only_cheap);
        if (job)
            run_job(workers, start.index, job);
        else if ((shared = find_shared_work(workers, start.only_cheap)))
            run_shared_part(workers, shared);
        else
            pthread_cond_wait(&workers->changed, &workers->lock);
    }
    pthread_mutex_unlock(&workers->lock);
    return NULL;
}

static bool start_thread(worker_set *workers, unsigned index, bool only_cheap)
{
    thread_start *start = malloc(sizeof *start);
    if (!start)
        return false;
    *start = (thread_start){.workers = workers, .index = index, .only_cheap = only_cheap};
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, WORKERS_STACK);
    bool started =
        pthread_create(&workers->threads[index], &attributes, run_worker, start) == 0;
    pthread_attr_destroy(&attributes);
    if (!started)
        free(start);
    return started;
}

worker_set *workers_start(unsigned threads, size_t queue_limit)
{
    worker_set *workers = calloc(1, sizeof *workers);
    if (!workers)
        return NULL;
    pthread_mutex_init(&workers->lock, NULL);
    pthread_cond_init(&workers->changed, NULL);
    pthread_cond_init(&workers->part_done, NULL);
    job_list_init(&workers->queue);
    job_list_init(&workers->waiting);
    workers->queue_limit = queue_limit;
    workers->threads = calloc(threads, sizeof *workers->threads);
    workers->running = calloc(threads, sizeof *workers->running);
    while (
        workers->threads && workers->running && workers->thread_count < threads &&
        start_thread(workers, workers->thread_count, threads > 1 && workers->thread_count == 0))
        workers->thread_count++;
    if (workers->thread_count == threads)
        return workers;
    workers_free(workers);
    return NULL;
}

static bool submit_job(worker_set *workers, worker_job *job, bool limited)
{
    pthread_mutex_lock(&workers->lock);
    bool must_wait = has_job(workers, job->key);
    bool accepted = !workers->stopping && (must_wait || !limited || has_place(workers, job));
    job->arrival = workers->taken;
    if (accepted)
        place_job(workers, job, must_wait);
    pthread_mutex_unlock(&workers->lock);
    return accepted;
}

bool workers_submit(worker_set *workers, worker_job *job)
{
    return submit_job(workers, job, true);
}

bool workers_continue(worker_set *workers, worker_job *job)
{
    return submit_job(workers, job, false);
}

void workers_await(worker_set *workers, worker_job *job)
{
    pthread_mutex_lock(&workers->lock);
    bool stopping = workers->stopping;
    job->arrival = workers->taken;
    job->waited = true;
    if (!stopping)
        place_job(workers, job, job->completions == workers->completions);
    pthread_mutex_unlock(&workers->lock);
    if (stopping)
        job->abandon(job);
}

/* ---- jobs that nobody needs any more ---- */

/* Whether another job with the key needs a cancelled job's computation; lock held. */
static bool is_shared(const worker_set *workers, const worker_job *job)
{
    for (unsigned i = 0; i < workers->thread_count; i++) {
        worker_job *other = workers->running[i];
        if (other && other != job && job_has_key(other, job->key) &&
            !atomic_load(&other->cancelled))
            return true;
    }
    return job_list_has(&workers->queue, job->key) || job_list_has(&workers->waiting, job->key);
}

static bool is_running(const worker_set *workers, const worker_job *job)
{
    for (unsigned i = 0; i < workers->thread_count; i++)
        if (workers->running[i] == job)
            return true;
    return false;
}

bool workers_cancel(worker_set *workers, worker_job *job)
{
    pthread_mutex_lock(&workers->lock);
    bool queued = job_list_remove(&workers->queue, job);
    bool removed = queued || job_list_remove(&workers->waiting, job);
    bool running = is_running(workers, job);
    if (running)
        atomic_store(&job->cancelled, true);
    if (queued && job_list_has(&workers->waiting, job->key))
        requeue_waiting(workers); /* they waited for this job */
    pthread_mutex_unlock(&workers->lock);
    if (removed)
        job->abandon(job);
    return removed || running;
}

bool workers_may_continue(worker_set *workers)
{
    if (!current || !atomic_load(&current->cancelled))
        return true;
    pthread_mutex_lock(&workers->lock);
    bool shared = is_shared(workers, current);
    pthread_mutex_unlock(&workers->lock);
    return shared;
}

uint64_t workers_time_used(uint64_t now)
{
    return current ? current->used + (now - current->began) : 0;
}

void workers_completed(worker_set *workers)
{
    pthread_mutex_lock(&workers->lock);
    requeue_waiting(workers);
    pthread_mutex_unlock(&workers->lock);
}

uint64_t workers_completions(worker_set *workers)
{
    return atomic_load(&workers->completions);
}

bool workers_have_place(worker_set *workers, uint64_t price)
{
    const worker_job job = {.price = price};
    pthread_mutex_lock(&workers->lock);
    bool place = has_place(workers, &job);
    pthread_mutex_unlock(&workers->lock);
    return place;
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
    pthread_mutex_lock(&workers->lock);
    workers->thread_count = 0;
    requeue_waiting(workers);
    worker_job *job = workers->queue.first;
    job_list_init(&workers->queue);
    pthread_mutex_unlock(&workers->lock);
    for (worker_job *next; job; job = next) {
        next = job->next; /* `abandon` may free the job */
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
