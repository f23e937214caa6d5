/* Worker threads: shared work, and jobs with keys; the rest of jobs is tested through the
 * server (tests/http). */
#include "../../../server/workers.h"

#include "../unit.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <time.h>

#define PARTS 1000

typedef struct tally {
    atomic_int calls[PARTS];
    atomic_int inside, most_inside;
} tally;

static void count_call(void *of, size_t i)
{
    tally *counts = of;
    int inside = atomic_fetch_add(&counts->inside, 1) + 1;
    int most = atomic_load(&counts->most_inside);
    while (inside > most && !atomic_compare_exchange_weak(&counts->most_inside, &most, inside))
        continue;
    const struct timespec moment = {.tv_nsec = 10000};
    nanosleep(&moment, NULL);
    atomic_fetch_add(&counts->calls[i], 1);
    atomic_fetch_sub(&counts->inside, 1);
}

static void check_tally(const tally *counts, size_t parts)
{
    for (size_t i = 0; i < PARTS; i++)
        unit_assert(atomic_load(&counts->calls[i]) == (i < parts));
    unit_assert(atomic_load(&counts->inside) == 0);
}

START_TEST(each_part_is_done_once_and_by_several_threads)
{
    static const size_t counts_of_parts[] = {0, 1, 2, 3, PARTS};
    for (unsigned threads = 1; threads <= 4; threads++) {
        worker_set *workers = workers_start(threads, 4);
        for (size_t i = 0; i < UNIT_COUNT(counts_of_parts); i++) {
            tally counts = {0};
            workers_split(workers, count_call, &counts, counts_of_parts[i]);
            check_tally(&counts, counts_of_parts[i]);
            if (counts_of_parts[i] == PARTS)
                ck_assert_int_gt(atomic_load(&counts.most_inside), 1);
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
    struct keyed_job *other; /* submitted while this one runs, under the name `renamed` has */
    char key[8];
    const char *renamed;
    atomic_bool ended;
    bool other_ended_first;
} keyed_job;

static bool end_at_once(worker_job *job)
{
    atomic_store(&((keyed_job *)job)->ended, true);
    return true;
}

/* Let the memory of the key be another text, as after the end of the job. */
static bool submit_other(worker_job *job)
{
    keyed_job *mine = (keyed_job *)job;
    const struct timespec moment = {.tv_nsec = 1000 * 1000};
    memcpy(mine->key, mine->renamed, 4);
    workers_submit(mine->workers, &mine->other->job);
    for (int i = 0; i < 200 && !atomic_load(&mine->other->ended); i++)
        nanosleep(&moment, NULL);
    mine->other_ended_first = atomic_load(&mine->other->ended);
    return end_at_once(job);
}

static void never(worker_job *job)
{
    (void)job;
}

/* Whether a job of key `second` runs while one runs that had the key "one" at its start. */
static bool runs_beside(const char *renamed, const char *second)
{
    worker_set *workers = workers_start(2, 4);
    keyed_job other = {.job = {.key = second, .run = end_at_once, .abandon = never}};
    keyed_job first = {.job = {.run = submit_other, .abandon = never},
                       .workers = workers,
                       .other = &other,
                       .key = "one",
                       .renamed = renamed};
    const struct timespec moment = {.tv_nsec = 1000 * 1000};
    first.job.key = first.key;
    ck_assert(workers_submit(workers, &first.job));
    for (int i = 0; i < 10000 && !(atomic_load(&first.ended) && atomic_load(&other.ended)); i++)
        nanosleep(&moment, NULL);
    workers_free(workers);
    ck_assert(atomic_load(&first.ended) && atomic_load(&other.ended));
    return first.other_ended_first;
}

START_TEST(a_job_waits_for_the_key_that_runs_and_nobody_reads_that_key_again)
{
    ck_assert(runs_beside("one", "two"));
    ck_assert(!runs_beside("one", "one"));
    ck_assert(runs_beside("two", "two"));
    ck_assert(!runs_beside("two", "one"));
}
END_TEST

Suite *workers_suite(void)
{
    const TTest *const tests[] = {
        each_part_is_done_once_and_by_several_threads, several_split_at_once_and_after_the_stop,
        a_job_waits_for_the_key_that_runs_and_nobody_reads_that_key_again, NULL};
    return unit_suite("workers", tests);
}
