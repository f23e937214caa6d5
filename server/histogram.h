/* Histograms of durations, as Prometheus has them. */
#ifndef HISTOGRAM_H
#define HISTOGRAM_H

#include "text.h"

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#define HISTOGRAM_BOUNDS 10

/* Zeros to begin with. Times are counted in nanoseconds. */
typedef struct histogram {
    atomic_ullong counts[HISTOGRAM_BOUNDS + 1]; /* not cumulative; the last one: beyond all */
    atomic_ullong sum;
} histogram;

/* Count one duration. Any thread. */
void histogram_add(histogram *of, uint64_t nanoseconds);

/* How many were counted. */
uint64_t histogram_count(histogram *of);

/* The samples of one histogram in seconds, without HELP and TYPE. `labels` is a list such as
 * `a="b",c="d"`, or "". */
void histogram_write(histogram *of, const char *name, const char *labels, api_text *out);

#endif
