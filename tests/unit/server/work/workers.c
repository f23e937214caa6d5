/* Worker threads: shared work, and jobs with keys. Other jobs are tested through the server
 * (tests/http). */
#include "work/workers.h"

#include "clock.h"
#include "held_job.h"
#include "unit.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <time.h>

#define PARTS 1000

typedef struct tally {
    atomic_int calls[PARTS];
    crowd crowd;
} tally;

static void count_call(void *argument, size_t i)
{
    tally *counts = argument;
    atomic_fetch_add(&counts->calls[i], 1);
    crowd_visit(&counts->crowd);
}

static void check_tally(const tally *counts, size_t parts)
{
    for (size_t i = 0; i < PARTS; i++)
        unit_assert(atomic_load(&counts->calls[i]) == (i < parts));
    unit_assert(atomic_load(&counts->crowd.inside) == 0);
}

START_TEST(each_part_is_done_once_and_by_several_threads)
{
    static const size_t counts_of_parts[] = {0, 1, 2, 3, PARTS};
    for (unsigned threads = 1; threads <= 4; threads++) {
        worker_set *workers = workers_start(threads, 4);
        for (size_t i = 0; i < UNIT_COUNT(counts_of_parts); i++) {
            tally counts = {.crowd.awaited = counts_of_parts[i] == PARTS ? 2 : 0};
            workers_split(workers, count_call, &counts, counts_of_parts[i]);
            check_tally(&counts, counts_of_parts[i]);
            if (counts_of_parts[i] == PARTS)
                ck_assert_int_gt(atomic_load(&counts.crowd.most_inside), 1);
        }
        workers_free(workers);
    }
}
END_TEST

static void *split_some(void *workers)
{
    for (int i = 0; i < 20; i++) {
        tally counts = {0};
        workers_split(workers, count_call, &counts, 50);
        check_tally(&counts, 50);
    }
    return NULL;
}

START_TEST(several_split_at_once_and_after_the_stop)
{
    worker_set *workers = workers_start(2, 4);
    pthread_t splitters[4];
    for (size_t i = 0; i < UNIT_COUNT(splitters); i++)
        ck_assert_int_eq(pthread_create(&splitters[i], NULL, split_some, workers), 0);
    workers_stop(workers);
    for (size_t i = 0; i < UNIT_COUNT(splitters); i++)
        pthread_join(splitters[i], NULL);
    workers_free(workers);
}
END_TEST

/* ---- jobs with keys ---- */

typedef struct keyed_job {
    worker_job job; /* first: a job is cast to this */
    worker_set *workers;
    struct keyed_job *other; /* submitted while this one runs */
    atomic_bool ended;
    int patience; /* milliseconds */
    bool other_ended_first;
} keyed_job;

static job_progress run_at_once(worker_job *job)
{
    (void)job;
    return JOB_ENDED;
}

static job_progress submit_other(worker_job *job)
{
    keyed_job *mine = (keyed_job *)job;
    const struct timespec moment = {.tv_nsec = 1000 * 1000};
    workers_submit(mine->workers, &mine->other->job);
    for (int i = 0; i < mine->patience && !atomic_load(&mine->other->ended); i++)
        nanosleep(&moment, NULL);
    mine->other_ended_first = atomic_load(&mine->other->ended);
    return JOB_ENDED;
}

static void note_end(worker_job *job)
{
    atomic_store(&((keyed_job *)job)->ended, true);
}

/* How long a job waits for another one: for one that will run beside it as long as a busy
 * machine takes, for one that will not as long as a fault takes to show. */
enum { WILL_RUN = 60000, WILL_NOT = 200 };

/* Whether a job of one key runs while one of another key runs. */
static bool prompt_beside(const char *key, const char *running, int patience)
{
    worker_set *workers = workers_start(2, 4);
    keyed_job other = {
        .job = {.key = key, .run = run_at_once, .end = note_end, .abandon = note_end}};
    keyed_job first = {
        .job = {.key = running, .run = submit_other, .end = note_end, .abandon = note_end},
        .workers = workers,
        .patience = patience,
        .other = &other};
    const struct timespec moment = {.tv_nsec = 1000 * 1000};
    ck_assert(workers_submit(workers, &first.job));
    for (int i = 0; i < WILL_RUN && !(atomic_load(&first.ended) && atomic_load(&other.ended));
         i++)
        nanosleep(&moment, NULL);
    workers_free(workers);
    ck_assert(atomic_load(&first.ended) && atomic_load(&other.ended));
    return first.other_ended_first;
}

START_TEST(a_job_waits_for_one_that_runs_with_its_key)
{
    char key[] = "one"; /* an equal text at another address */
    ck_assert(!prompt_beside(key, "one", WILL_NOT));
    ck_assert(prompt_beside("two", "one", WILL_RUN));
    ck_assert(prompt_beside(NULL, "one", WILL_RUN));
    ck_assert(prompt_beside(NULL, NULL, WILL_RUN));
}
END_TEST

typedef struct short_job {
    worker_job job; /* first */
    atomic_bool ended;
} short_job;

/* Destroy the key, as an owner that frees the job does: a worker that still reads it crashes.
 */
static void end_for_good(worker_job *job)
{
    job->key = (const char *)1;
    atomic_store(&((short_job *)job)->ended, true);
}

START_TEST(a_job_that_has_ended_is_left_alone)
{
    static const char *const keys[] = {"a", "b", "c", "d"};
    worker_set *workers = workers_start(4, 64);
    short_job jobs[32];
    for (size_t i = 0; i < UNIT_COUNT(jobs); i++)
        atomic_init(&jobs[i].ended, true);
    for (size_t i = 0; i < 100000; i++) {
        short_job *next = &jobs[i % UNIT_COUNT(jobs)];
        while (!atomic_load(&next->ended))
            sched_yield();
        atomic_store(&next->ended, false);
        next->job = (worker_job){.key = keys[i % 4],
                                 .run = run_at_once,
                                 .end = end_for_good,
                                 .abandon = end_for_good};
        unit_assert(workers_submit(workers, &next->job));
    }
    workers_free(workers);
    for (size_t i = 0; i < UNIT_COUNT(jobs); i++)
        ck_assert(atomic_load(&jobs[i].ended));
}
END_TEST

/* ---- the clock of a job ---- */

/* A job that is put back a few times, and what its clock said when a run ended. */
typedef struct timed_job {
    worker_job job; /* first */
    job_progress progress;
    unsigned runs;
    uint64_t used[3];
    atomic_bool ended;
} timed_job;

static job_progress run_timed(worker_job *job)
{
    timed_job *own = (timed_job *)job;
    const uint64_t until = clock_now() + 5 * 1000 * 1000;
    while (clock_now() < until)
        continue;
    own->used[own->runs++] = workers_time_used(clock_now());
    return own->runs == UNIT_COUNT(own->used) ? JOB_ENDED : own->progress;
}

static void end_timed(worker_job *job)
{
    atomic_store(&((timed_job *)job)->ended, true);
}

START_TEST(a_job_has_one_clock_until_it_sets_another_price)
{
    static const job_progress kinds[] = {JOB_WAITS, JOB_PRICED};
    worker_set *workers = workers_start(1, 64);
    for (size_t i = 0; i < UNIT_COUNT(kinds); i++) {
        timed_job job = {.job = {.run = run_timed, .end = end_timed, .abandon = end_timed},
                         .progress = kinds[i]};
        ck_assert(workers_submit(workers, &job.job));
        while (!atomic_load(&job.ended)) {
            workers_completed(workers);
            held_job_rest();
        }
        ck_assert_uint_ge(job.used[0], 5 * 1000 * 1000);
        ck_assert_uint_ge(job.used[2], 5 * 1000 * 1000);
        if (kinds[i] == JOB_WAITS)
            ck_assert_uint_ge(job.used[2], job.used[0] + 10 * 1000 * 1000);
        else
            ck_assert_uint_eq(job.job.used, 0);
    }
    ck_assert_uint_eq(workers_time_used(clock_now()), 0);
    workers_free(workers);
}
END_TEST

/* ---- cancelling ---- */

START_TEST(a_cancelled_job_is_abandoned_or_told_to_end)
{
    worker_set *workers = workers_start(1, 64);
    held_job running = held_job_new(workers, 0, "a"), queued = held_job_new(workers, 0, "b"),
             next = held_job_new(workers, 0, "c");
    running.asks = next.asks = true;
    held_job_begin(workers, &running);
    ck_assert(workers_submit(workers, &queued.job));
    ck_assert(workers_submit(workers, &next.job));
    ck_assert(workers_cancel(workers, &queued.job));
    ck_assert(atomic_load(&queued.abandoned));
    ck_assert_uint_eq(workers_waiting(workers), 1);
    ck_assert(workers_cancel(workers, &running.job));
    held_job_await(&running.ended);
    ck_assert(atomic_load(&running.told_to_end));
    ck_assert(!workers_cancel(workers, &running.job)); /* it has ended */
    held_job_await(&next.begun);
    held_job_release(&next);
    ck_assert(!atomic_load(&next.told_to_end) && !atomic_load(&queued.begun));
    ck_assert(workers_may_continue(workers)); /* a thread without a job */
    workers_free(workers);
}
END_TEST

START_TEST(a_cancelled_job_goes_on_for_those_who_wait_for_it)
{
    worker_set *workers = workers_start(2, 64);
    held_job running = held_job_new(workers, 0, "a"), waiting = held_job_new(workers, 0, "a");
    running.asks = true;
    held_job_begin(workers, &running);
    ck_assert(workers_submit(workers, &waiting.job));
    ck_assert(workers_cancel(workers, &running.job));
    for (int i = 0; i < 20; i++)
        held_job_rest();
    ck_assert(!atomic_load(&running.told_to_end));
    ck_assert(workers_cancel(workers, &waiting.job)); /* the last one */
    held_job_await(&running.ended);
    ck_assert(atomic_load(&running.told_to_end) && atomic_load(&waiting.abandoned));
    workers_free(workers);
}
END_TEST

START_TEST(those_who_wait_for_a_cancelled_job_of_the_queue_take_its_place)
{
    worker_set *workers = workers_start(2, 64);
    held_job plug = held_job_new(workers, WORKERS_CHEAP, NULL),
             queued = held_job_new(workers, WORKERS_CHEAP, "a"),
             waiting = held_job_new(workers, 0, "a");
    held_job_begin(workers, &plug);
    ck_assert(workers_submit(workers, &queued.job));
    ck_assert(workers_submit(workers, &waiting.job));
    ck_assert(workers_cancel(workers, &queued.job));
    held_job_release(&waiting); /* while the other one still runs */
    held_job_release(&plug);
    ck_assert(!atomic_load(&queued.begun));
    workers_free(workers);
}
END_TEST

Suite *workers_suite(void)
{
    const TTest *const tests[] = {
        each_part_is_done_once_and_by_several_threads,
        several_split_at_once_and_after_the_stop,
        a_job_waits_for_one_that_runs_with_its_key,
        a_job_that_has_ended_is_left_alone,
        a_job_has_one_clock_until_it_sets_another_price,
        a_cancelled_job_is_abandoned_or_told_to_end,
        a_cancelled_job_goes_on_for_those_who_wait_for_it,
        those_who_wait_for_a_cancelled_job_of_the_queue_take_its_place,
        NULL};
    return unit_suite("workers", tests);
}
