#include "observe/process_figures.h"

#include "observe/process_memory.h"

#include <dirent.h>
#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

/* A clock's time in seconds; 0 if the clock cannot be read. */
static double read_clock(clockid_t clock)
{
    struct timespec time;
    return clock_gettime(clock, &time) == 0 ? (double)time.tv_sec + (double)time.tv_nsec / 1e9
                                            : 0;
}

double process_start_time(void)
{
    return read_clock(CLOCK_REALTIME);
}

/* The number of open descriptors. Without memory to count them the whole text fails. */
static double open_descriptors(api_text *out)
{
    DIR *directory = opendir("/proc/self/fd");
    double count = 0;
    if (!directory) {
        out->failed = out->failed || errno == ENOMEM;
        return 0;
    }
    while (readdir(directory))
        count++;
    closedir(directory);
    return count - 3; /* for . and .. and the descriptor of the directory */
}

static double descriptor_limit(void)
{
    struct rlimit limit;
    return getrlimit(RLIMIT_NOFILE, &limit) == 0 ? (double)limit.rlim_cur : 0;
}

void process_figures_write(double started, api_text *out)
{
    const process_memory memory = process_memory_now();
    const struct {
        const char *name, *type, *help;
        double value;
    } rows[] = {
        {"process_cpu_seconds_total", "counter", "User and system CPU time in seconds.",
         read_clock(CLOCK_PROCESS_CPUTIME_ID)},
        {"process_open_fds", "gauge", "Open file descriptors.", open_descriptors(out)},
        {"process_max_fds", "gauge", "Maximum number of open file descriptors.",
         descriptor_limit()},
        {"process_virtual_memory_bytes", "gauge", "Virtual memory size in bytes.",
         (double)memory.mapped},
        {"process_resident_memory_bytes", "gauge", "Resident memory size in bytes.",
         (double)memory.resident},
        {"process_start_time_seconds", "gauge", "Start time since the epoch in seconds.",
         started},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        api_text_add(out, "# HELP %s %s\n# TYPE %s %s\n%s %.15g\n", rows[i].name, rows[i].help,
                     rows[i].name, rows[i].type, rows[i].name, rows[i].value);
}
