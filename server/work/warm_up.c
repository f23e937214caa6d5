#include "work/warm_up.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define REASON_SIZE 1024

struct warm_up {
    worker_job job; /* first: a job is cast to this */
    const warm_file *file;
    api_service *service;
    warm_up_calls calls;
    size_t next;      /* target */
    bool priced;      /* the next target has been asked for, and takes longer */
    uint64_t price;   /* of the next target */
    uint64_t arrived; /* the api_moment when it was first asked for */
};

/* ---- checking ---- */

/* Whether a GET of the target is answered with tensors. */
static bool names_tensors(const char *target)
{
    const char *pattern = api_route_name_get(api_route_find("GET", target)).pattern;
    return strcmp(pattern, "/v1/encodings/{scheme}") == 0 ||
           strcmp(pattern, "/v1/similarity/{scheme}") == 0;
}

/* Write why a target is wrong: where it stands, and the detail of the problem document. */
static void write_reason(const warm_file *file, const warm_target *target,
                         const api_reply *reply, char *dst, size_t size)
{
    char detail[REASON_SIZE / 2];
    if (!reply)
        snprintf(detail, sizeof detail,
                 "a target must begin with /v1/encodings/SCHEME or /v1/similarity/SCHEME");
    else if (!api_reply_detail(reply, detail, sizeof detail))
        snprintf(detail, sizeof detail, "the answer is %u", api_reply_status(reply));
    snprintf(dst, size, "warm: %s:%zu: %.200s: %s", file->path, target->line, target->text,
             detail);
}

bool warm_up_check(const warm_file *file, api_service *service, char *reterr, size_t size)
{
    for (size_t i = 0; i < file->count; i++) {
        const warm_target *target = &file->targets[i];
        const api_request request = {.method = "HEAD", .target = target->text, .kept = true};
        api_reply *reply = NULL;
        if (names_tensors(target->text))
            api_handle(service, &request, &reply); /* not quick, so it is API_DONE */
        bool right = reply && (api_reply_status(reply) == 200 ||
                               api_reply_refusal(reply) == API_REFUSAL_STORE_FAILED);
        if (!right)
            write_reason(file, target, reply, reterr, size);
        api_reply_unref(reply);
        if (!right)
            return false;
    }
    return true;
}

/* ---- computing ---- */

/* Ask for the next target. */
static api_progress request_target(warm_up *warm, bool quick)
{
    const warm_target *target = &warm->file->targets[warm->next];
    const api_request request = {.method = "GET",
                                 .target = target->text,
                                 .kept = true,
                                 .quick = quick,
                                 .arrived = warm->arrived,
                                 .ret_price = &warm->price};
    api_reply *reply = NULL;
    api_progress progress = api_handle(warm->service, &request, &reply);
    if (progress == API_DONE && api_reply_status(reply) != 200) {
        char reason[REASON_SIZE];
        write_reason(warm->file, target, reply, reason, sizeof reason);
        warm->calls.failed(warm->calls.context, reason);
    }
    if (progress == API_DONE)
        api_reply_unref(reply);
    return progress;
}

/* Answer the next target, once the queue has been told its price. */
static job_progress run(worker_job *job)
{
    warm_up *warm = (warm_up *)job;
    if (warm->next == warm->file->count)
        return JOB_ENDED;
    bool quick = !warm->priced;
    if (quick)
        warm->arrived = api_moment(warm->service);
    api_progress progress = request_target(warm, quick);
    warm->priced = progress == API_LATER;
    if (progress == API_BUSY)
        return JOB_WAITS;
    warm->next += progress == API_DONE;
    job->price = progress == API_LATER ? warm->price : 0;
    return JOB_PRICED; /* so that jobs of clients come in between */
}

static void end(worker_job *job)
{
    const warm_up *warm = (warm_up *)job;
    warm->calls.ended(warm->calls.context);
}

/* The workers stop. */
static void abandon(worker_job *job)
{
    (void)job;
}

warm_up *warm_up_start(const warm_file *file, api_service *service, worker_set *workers,
                       const warm_up_calls *calls)
{
    warm_up *warm = calloc(1, sizeof *warm);
    if (!warm)
        return NULL;
    warm->file = file;
    warm->service = service;
    warm->calls = *calls;
    warm->job = (worker_job){.run = run, .end = end, .abandon = abandon};
    if (workers_submit(workers, &warm->job))
        return warm;
    free(warm);
    return NULL;
}

void warm_up_free(warm_up *warm)
{
    free(warm);
}
