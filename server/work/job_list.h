/* Lists of jobs, for the queue of the workers and for the jobs that wait. No locks: a list
 * belongs to one worker_set, which has one. */
#ifndef JOB_LIST_H
#define JOB_LIST_H

#include "work/workers.h"

typedef struct job_list {
    worker_job *first, **end;
    size_t count;
} job_list;

void job_list_init(job_list *list);
void job_list_append(job_list *list, worker_job *job);
worker_job *job_list_take_first(job_list *list);       /* NULL if the list is empty */
bool job_list_remove(job_list *list, worker_job *job); /* false: it is not in the list */

/* Take the job that is due first; the older one of two that are due together. With `only_cheap`
 * dear jobs are passed over. NULL if there is none. */
worker_job *job_list_take_due(job_list *list, bool only_cheap);

/* Whether the job costs WORKERS_CHEAP or more. A job that has waited for another one costs
 * little: it first looks whether the result is there. */
bool job_is_dear(const worker_job *job);

/* The number of dear jobs, or of the others. */
size_t job_list_count(const job_list *list, bool dear);

/* Whether the job has this key; false if either is NULL. */
bool job_has_key(const worker_job *job, const char *key);

/* Whether the list has a job with this key. */
bool job_list_has(const job_list *list, const char *key);

#endif
