/* Singly linked lists; the longest steps take time in proportion to the length. */
#include "work/job_list.h"

#include <string.h>

void job_list_init(job_list *list)
{
    *list = (job_list){.end = &list->first};
}

void job_list_append(job_list *list, worker_job *job)
{
    job->next = NULL;
    *list->end = job;
    list->end = &job->next;
    list->count++;
}

/* Take out the job that *link points to. */
static worker_job *unlink_job(job_list *list, worker_job **link)
{
    worker_job *job = *link;
    *link = job->next;
    if (!job->next)
        list->end = link;
    list->count--;
    return job;
}

worker_job *job_list_take_first(job_list *list)
{
    return list->first ? unlink_job(list, &list->first) : NULL;
}

bool job_list_remove(job_list *list, worker_job *job)
{
    for (worker_job **link = &list->first; *link; link = &(*link)->next)
        if (*link == job) {
            unlink_job(list, link);
            return true;
        }
    return false;
}

bool job_is_dear(const worker_job *job)
{
    return !job->waited && job->price >= WORKERS_CHEAP;
}

/* Whether a job is due before another. The difference is right even after an overflow. */
static bool is_due_earlier(const worker_job *job, const worker_job *other)
{
    return (int64_t)(job->due - other->due) < 0;
}

worker_job *job_list_take_due(job_list *list, bool only_cheap)
{
    worker_job **best = NULL;
    for (worker_job **link = &list->first; *link; link = &(*link)->next)
        if (!(only_cheap && job_is_dear(*link)) && (!best || is_due_earlier(*link, *best)))
            best = link;
    return best ? unlink_job(list, best) : NULL;
}

size_t job_list_count(const job_list *list, bool dear)
{
    size_t count = 0;
    for (const worker_job *job = list->first; job; job = job->next)
        count += job_is_dear(job) == dear;
    return count;
}

bool job_has_key(const worker_job *job, const char *key)
{
    return job->key && key && strcmp(job->key, key) == 0;
}

bool job_list_has(const job_list *list, const char *key)
{
    for (const worker_job *job = list->first; job; job = job->next)
        if (job_has_key(job, key))
            return true;
    return false;
}
