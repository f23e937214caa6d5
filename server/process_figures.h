/* What the kernel knows of this process, under the names that Prometheus has for it. */
#ifndef PROCESS_FIGURES_H
#define PROCESS_FIGURES_H

#include "text.h"

/* The time since the epoch, in seconds, at which the process started; 0 if nobody knows. */
double process_start_time(void);

/* The figures as Prometheus text; `started` is process_start_time. */
void process_figures_write(double started, api_text *out);

#endif
