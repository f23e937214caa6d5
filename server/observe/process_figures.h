/* Figures that Prometheus expects of every process: CPU time, descriptors, memory, start. */
#ifndef PROCESS_FIGURES_H
#define PROCESS_FIGURES_H

#include "bytes/text.h"

/* When the process started, in seconds since the epoch; 0 if the system does not tell. */
double process_start_time(void);

/* Write the figures as Prometheus text. `started` is process_start_time. */
void process_figures_write(double started, api_text *out);

#endif
