/* Jobs for the tests of the workers: each runs until its test releases it. */
#ifndef HELD_JOB_H
#define HELD_JOB_H

#include "work/workers.h"

/* A job that runs until it is released or, if it asks, until it may not go on. */
typedef struct held_job {
    worker_job job; /* first */
    worker_set *workers;
    bool asks;
    atomic_bool begun, released, told_to_end, ended, abandoned;
    atomic_uint *counter; /* of jobs that have begun; or NULL */
    unsigned position;    /* this job's */
} held_job;

held_job held_job_new(worker_set *workers, uint64_t price, const char *key);

/* Submit a job and wait until it has begun. */
void held_job_begin(worker_set *workers, held_job *job);

/* Let a job end, and wait until it has. */
void held_job_release(held_job *job);

/* A worker_job's `run`. */
job_progress held_job_run(worker_job *job);

/* How many threads are inside the parts of shared work, and the most that were at once. */
typedef struct crowd {
    atomic_int inside, most_inside;
    atomic_int awaited; /* whoever is inside waits until so many were at once */
} crowd;

/* Stay inside for a moment, or until the others have come; without them for some seconds. */
void crowd_visit(crowd *visited);

/* Wait until something holds, for some seconds at most. */
void held_job_await(const atomic_bool *flag);

/* Let a moment pass. */
void held_job_rest(void);

#endif
