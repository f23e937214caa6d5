/* Figures that Prometheus expects of every process: CPU time, descriptors, memory, start. */
#ifndef PROCESS_FIGURES_H
#define PROCESS_FIGURES_H

#include "bytes/text.h"

/* The time in seconds since the epoch, as a process that starts asks for it. */
double process_start_time(void);

/* Write the figures as Prometheus text. `started` is process_start_time. */
void process_figures_write(double started, api_text *out);

#endif
