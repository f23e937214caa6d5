/* Clocks, in nanoseconds; without another word the monotonic one. */
#ifndef CLOCK_H
#define CLOCK_H

#include <stdint.h>
#include <time.h>

#define CLOCK_SECOND UINT64_C(1000000000) /* nanoseconds */

static inline uint64_t clock_read(clockid_t clock)
{
    struct timespec time;
    clock_gettime(clock, &time);
    return (uint64_t)time.tv_sec * CLOCK_SECOND + (uint64_t)time.tv_nsec;
}

static inline uint64_t clock_now(void)
{
    return clock_read(CLOCK_MONOTONIC);
}

/* The time that the calling thread has spent on a processor. It takes a system call, most of a
 * microsecond. */
static inline uint64_t clock_work(void)
{
    return clock_read(CLOCK_THREAD_CPUTIME_ID);
}

#endif
