/* Figures from /proc, limits and clocks. */
#include "process_figures.h"

#include "heap.h"

#include <dirent.h>
#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

static double seconds_of(clockid_t clock)
{
    struct timespec time;
    return clock_gettime(clock, &time) == 0 ? (double)time.tv_sec + (double)time.tv_nsec / 1e9
                                            : 0;
}

/* Field 22 of /proc/self/stat is the start in ticks since boot; the second one is a name in
 * parentheses, which may hold anything. */
static double start_since_boot(void)
{
    enum { AFTER_NAME = 20 }; /* blanks from there to field 22 */
    char text[1024];
    heap_read_file("/proc/self/stat", text, sizeof text);
    char *at = strrchr(text, ')');
    for (int i = 0; at && i < AFTER_NAME; i++)
        at = strchr(at + 1, ' ');
    return at ? strtod(at, NULL) / (double)sysconf(_SC_CLK_TCK) : 0;
}

double process_start_time(void)
{
    double since_boot = start_since_boot();
    return since_boot > 0 ? seconds_of(CLOCK_REALTIME) - seconds_of(CLOCK_BOOTTIME) + since_boot
                          : seconds_of(CLOCK_REALTIME);
}

/* What lacks for want of memory spoils the text. */
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
    return count - 3; /* . and .. and the directory's own */
}

static double most_descriptors(void)
{
    struct rlimit limit;
    return getrlimit(RLIMIT_NOFILE, &limit) == 0 ? (double)limit.rlim_cur : 0;
}

void process_figures_write(double started, api_text *out)
{
    const heap_figures heap = heap_figures_now();
    const struct {
        const char *name, *type, *help;
        double value;
    } rows[] = {
        {"process_cpu_seconds_total", "counter", "User and system CPU time in seconds.",
         seconds_of(CLOCK_PROCESS_CPUTIME_ID)},
        {"process_open_fds", "gauge", "Open file descriptors.", open_descriptors(out)},
        {"process_max_fds", "gauge", "The most file descriptors that may be open.",
         most_descriptors()},
        {"process_virtual_memory_bytes", "gauge", "Virtual memory size in bytes.",
         (double)heap.mapped},
        {"process_resident_memory_bytes", "gauge", "Resident memory size in bytes.",
         (double)heap.resident},
        {"process_start_time_seconds", "gauge", "Start time since the epoch in seconds.",
         started},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        api_text_add(out, "# HELP %s %s\n# TYPE %s %s\n%s %.15g\n", rows[i].name, rows[i].help,
                     rows[i].name, rows[i].type, rows[i].name, rows[i].value);
}
