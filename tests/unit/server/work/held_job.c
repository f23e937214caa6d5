/* Jobs that tests hold and release. */
#include "held_job.h"

#include "unit.h"

#include <time.h>

void held_job_rest(void)
{
    const struct timespec moment = {.tv_nsec = 100 * 1000};
    nanosleep(&moment, NULL);
}

void crowd_visit(crowd *visited)
{
    int inside = atomic_fetch_add(&visited->inside, 1) + 1;
    int most = atomic_load(&visited->most_inside);
    while (inside > most && !atomic_compare_exchange_weak(&visited->most_inside, &most, inside))
        continue;
    const struct timespec moment = {.tv_nsec = 10000};
    nanosleep(&moment, NULL);
    for (int i = 0; atomic_load(&visited->most_inside) < atomic_load(&visited->awaited); i++) {
        held_job_rest();
        if (i == 100000)
            atomic_store(&visited->awaited, 0);
    }
    atomic_fetch_sub(&visited->inside, 1);
}

job_progress held_job_run(worker_job *job)
{
    held_job *mine = (held_job *)job;
    mine->position = mine->counter ? atomic_fetch_add(mine->counter, 1) : 0;
    atomic_store(&mine->begun, true);
    while (!atomic_load(&mine->released) && !atomic_load(&mine->told_to_end)) {
        if (mine->asks && !workers_may_continue(mine->workers))
            atomic_store(&mine->told_to_end, true);
        held_job_rest();
    }
    return JOB_ENDED;
}

static void note_held_end(worker_job *job)
{
    atomic_store(&((held_job *)job)->ended, true);
}

static void note_abandon(worker_job *job)
{
    atomic_store(&((held_job *)job)->abandoned, true);
}

held_job held_job_new(worker_set *workers, uint64_t price, const char *key)
{
    return (held_job){.job = {.price = price,
                              .key = key,
                              .run = held_job_run,
                              .end = note_held_end,
                              .abandon = note_abandon},
                      .workers = workers};
}

void held_job_await(const atomic_bool *flag)
{
    for (int i = 0; i < 100000 && !atomic_load(flag); i++)
        held_job_rest();
    unit_assert(atomic_load(flag));
}

void held_job_begin(worker_set *workers, held_job *job)
{
    unit_assert(workers_submit(workers, &job->job));
    held_job_await(&job->begun);
}

void held_job_release(held_job *job)
{
    atomic_store(&job->released, true);
    held_job_await(&job->ended);
}
