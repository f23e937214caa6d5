/* Worker threads: shared work, and the end of jobs, which are else tested through the server
 * (tests/http). */
#include "../../../server/workers.h"

#include "../unit.h"

#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
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

typedef struct ending_job {
    worker_job job; /* first */
    sem_t ended, go_on;
} ending_job;

static bool run_at_once(worker_job *job)
{
    (void)job;
    return true;
}

/* From here on the job may be gone. */
static void spoil(worker_job *job)
{
    ending_job *ending = (ending_job *)job;
    ending->job.key = (const char *)1;
    sem_post(&ending->ended);
    sem_wait(&ending->go_on);
}

static void end_at_once(worker_job *job)
{
    sem_post(&((ending_job *)job)->ended);
}

START_TEST(a_job_that_has_ended_is_not_looked_at_again)
{
    worker_set *workers = workers_start(2, 4);
    ending_job first = {.job = {.key = "a", .run = run_at_once, .end = spoil}};
    ending_job second = {.job = {.key = "a", .run = run_at_once, .end = end_at_once}};
    sem_init(&first.ended, 0, 0);
    sem_init(&first.go_on, 0, 0);
    sem_init(&second.ended, 0, 0);
    ck_assert(workers_submit(workers, &first.job));
    sem_wait(&first.ended);
    ck_assert(workers_submit(workers, &second.job)); /* compares its key with those in hand */
    sem_wait(&second.ended);
    sem_post(&first.go_on);
    workers_free(workers);
}
END_TEST

Suite *workers_suite(void)
{
    const TTest *const tests[] = {each_part_is_done_once_and_by_several_threads,
                                  several_split_at_once_and_after_the_stop,
                                  a_job_that_has_ended_is_not_looked_at_again, NULL};
    return unit_suite("workers", tests);
}
