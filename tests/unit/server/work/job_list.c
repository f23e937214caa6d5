/* The order of jobs by price and age, and what the thread for cheap jobs takes: through the
 * workers. */
#include "work/workers.h"

#include "held_job.h"
#include "unit.h"

START_TEST(the_cheapest_job_comes_first_and_the_older_one_of_two)
{
    static const uint64_t prices[] = {5000000000, 30000000, 0, 1000000000, 0, 5000000000};
    static const unsigned order[] = {2, 4, 1, 3, 0, 5};
    atomic_uint counter = 0;
    worker_set *workers = workers_start(1, 64);
    held_job plug = held_job_new(workers, 0, NULL), jobs[UNIT_COUNT(prices)];
    held_job_begin(workers, &plug);
    for (size_t i = 0; i < UNIT_COUNT(jobs); i++) {
        jobs[i] = held_job_new(workers, prices[i], NULL);
        jobs[i].counter = &counter;
        atomic_store(&jobs[i].released, true);
        ck_assert(workers_submit(workers, &jobs[i].job));
    }
    held_job_release(&plug);
    for (unsigned i = 0; i < UNIT_COUNT(jobs); i++) {
        held_job_await(&jobs[order[i]].ended);
        ck_assert_uint_eq(jobs[order[i]].position, i);
    }
    workers_free(workers);
}
END_TEST

#define CHAIN 100

typedef struct chained_job {
    held_job held; /* first; a released one */
    struct chained_job *next;
} chained_job;

/* Each job submits the next one, so that there always is one. */
static job_progress submit_next(worker_job *job)
{
    chained_job *mine = (chained_job *)job;
    if (mine->next)
        workers_submit(mine->held.workers, &mine->next->held.job);
    return held_job_run(job);
}

/* How many of endless later jobs overtake one, all with prices of their own. */
static unsigned count_overtakers(uint64_t price, uint64_t later)
{
    atomic_uint counter = 0;
    worker_set *workers = workers_start(1, 64);
    held_job plug = held_job_new(workers, 0, NULL), dear = held_job_new(workers, price, NULL);
    static chained_job chain[CHAIN];
    for (size_t i = 0; i < CHAIN; i++) {
        chain[i] = (chained_job){held_job_new(workers, later, NULL),
                                 i + 1 < CHAIN ? chain + i + 1 : NULL};
        chain[i].held.job.run = submit_next;
        chain[i].held.counter = &counter;
        atomic_store(&chain[i].held.released, true);
    }
    dear.counter = &counter;
    atomic_store(&dear.released, true);
    held_job_begin(workers, &plug);
    unit_assert(workers_submit(workers, &dear.job));
    unit_assert(workers_submit(workers, &chain[0].held.job));
    held_job_release(&plug);
    held_job_await(&dear.ended);
    held_job_await(&chain[CHAIN - 1].held.ended);
    workers_free(workers);
    return dear.position;
}

START_TEST(a_job_is_overtaken_by_as_much_work_as_it_is_itself)
{
    ck_assert_uint_eq(count_overtakers(100000000, 10000000), 9);
    ck_assert_uint_eq(count_overtakers(100000000, 50000000), 1);
    ck_assert_uint_eq(count_overtakers(50000000, 0), 49); /* any job counts as a millisecond */
    ck_assert_uint_eq(count_overtakers(1000000, 1000000), 0);
    ck_assert_uint_eq(count_overtakers(UINT64_MAX, UINT64_MAX), 0);
}
END_TEST

START_TEST(one_thread_takes_only_cheap_jobs)
{
    for (unsigned threads = 2; threads <= 3; threads++) {
        worker_set *workers = workers_start(threads, 64);
        held_job dear[3], cheap = held_job_new(workers, WORKERS_CHEAP - 1, NULL);
        for (unsigned i = 0; i < threads; i++)
            dear[i] = held_job_new(workers, WORKERS_CHEAP, NULL);
        for (unsigned i = 0; i + 1 < threads; i++)
            held_job_begin(workers, &dear[i]);
        ck_assert(workers_submit(workers, &dear[threads - 1].job));
        held_job_begin(workers, &cheap);
        held_job_release(&cheap);
        ck_assert(!atomic_load(&dear[threads - 1].begun));
        for (unsigned i = 0; i < threads; i++)
            held_job_release(&dear[i]);
        workers_free(workers);
    }
}
END_TEST

START_TEST(dear_and_cheap_jobs_have_a_queue_each)
{
    worker_set *workers = workers_start(1, 2);
    held_job plug = held_job_new(workers, 0, NULL), jobs[6];
    held_job_begin(workers, &plug);
    for (size_t i = 0; i < UNIT_COUNT(jobs); i++) {
        jobs[i] = held_job_new(workers, i % 2 ? WORKERS_CHEAP : 0, NULL);
        atomic_store(&jobs[i].released, true);
        ck_assert_int_eq(workers_submit(workers, &jobs[i].job), i < 4);
    }
    held_job_release(&plug);
    for (size_t i = 0; i < 4; i++)
        held_job_await(&jobs[i].ended);
    workers_free(workers);
}
END_TEST

/* ---- shared work ---- */

#define PARTS 100

static void visit(void *argument, size_t i)
{
    (void)i;
    crowd_visit(argument);
}

typedef struct splitting_job {
    worker_job job; /* first */
    worker_set *workers;
    crowd crowd;
    atomic_bool ended;
} splitting_job;

static job_progress split(worker_job *job)
{
    splitting_job *mine = (splitting_job *)job;
    workers_split(mine->workers, visit, &mine->crowd, PARTS);
    return JOB_ENDED;
}

static void note_split_end(worker_job *job)
{
    atomic_store(&((splitting_job *)job)->ended, true);
}

/* The most threads that are inside the parts of a job at once, for which the parts wait. */
static int most_inside_of(uint64_t price, int awaited)
{
    worker_set *workers = workers_start(2, 4);
    splitting_job job = {.job = {.price = price, .run = split, .end = note_split_end},
                         .workers = workers,
                         .crowd.awaited = awaited};
    unit_assert(workers_submit(workers, &job.job));
    held_job_await(&job.ended);
    workers_free(workers);
    return atomic_load(&job.crowd.most_inside);
}

START_TEST(the_thread_for_cheap_jobs_takes_no_dear_parts)
{
    ck_assert_int_eq(most_inside_of(PARTS * WORKERS_CHEAP, 0), 1);
    ck_assert_int_eq(most_inside_of(PARTS * WORKERS_CHEAP - 1, 2), 2);
}
END_TEST

Suite *job_list_suite(void)
{
    const TTest *const tests[] = {the_cheapest_job_comes_first_and_the_older_one_of_two,
                                  a_job_is_overtaken_by_as_much_work_as_it_is_itself,
                                  one_thread_takes_only_cheap_jobs,
                                  dear_and_cheap_jobs_have_a_queue_each,
                                  the_thread_for_cheap_jobs_takes_no_dear_parts,
                                  NULL};
    return unit_suite("job_list", tests);
}
