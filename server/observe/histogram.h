/* Histograms of durations in the format of Prometheus. */
#ifndef HISTOGRAM_H
#define HISTOGRAM_H

#include "bytes/text.h"

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

/* The upper bound of a bucket. */
typedef struct histogram_bound {
    uint64_t nanoseconds;
    const char *label; /* the same in seconds */
} histogram_bound;

/* Bounds in ascending order; the last one has no label. */
extern const histogram_bound HISTOGRAM_WORK[];  /* from a cache hit to a long preparation */
extern const histogram_bound HISTOGRAM_STAYS[]; /* what an event thread does at a time */

#define HISTOGRAM_BOUNDS_MAX 12

/* Initially all zero. All calls for a histogram give the same bounds. */
typedef struct histogram {
    atomic_ullong counts[HISTOGRAM_BOUNDS_MAX + 1]; /* for each bucket, not cumulative */
    atomic_ullong sum;                              /* nanoseconds */
} histogram;

/* Count one duration. May be called by any thread. */
void histogram_add(histogram *self, const histogram_bound *bounds, uint64_t nanoseconds);

/* The number of durations counted. */
uint64_t histogram_count(histogram *self);

/* Write the samples in seconds, without HELP and TYPE. `labels` is a list such as
 * `a="b",c="d"`, or "". */
void histogram_write(histogram *self, const histogram_bound *bounds, const char *name,
                     const char *labels, api_text *out);

#endif
