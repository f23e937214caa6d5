/* Reading and making ids. */
#include "trace.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

static const char ID_CHARACTERS[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
                                    "0123456789._:/+=@-";
static const char HEX_DIGITS[] = "0123456789abcdef";

bool trace_id_is_legal(const char *id)
{
    size_t length = strspn(id, ID_CHARACTERS);
    return length >= 1 && length <= TRACE_ID_MAX && id[length] == '\0';
}

/* ---- new ids: random bits of this process, and a count ---- */

static uint64_t process_bits;

static void draw_process_bits(void)
{
    struct timespec now;
    if (getrandom(&process_bits, sizeof process_bits, 0) == sizeof process_bits)
        return;
    clock_gettime(CLOCK_REALTIME, &now);
    process_bits =
        (uint64_t)now.tv_sec << 32 ^ (uint64_t)now.tv_nsec << 16 ^ (uint64_t)getpid();
}

void trace_new_id(char ret_id[TRACE_ID_MAX + 1])
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    static atomic_ullong count;
    pthread_once(&once, draw_process_bits);
    snprintf(ret_id, TRACE_ID_MAX + 1, "%016llx%016llx", (unsigned long long)process_bits,
             atomic_fetch_add_explicit(&count, 1, memory_order_relaxed) + 1);
}

/* ---- traceparent: version-trace-parent-flags, in lower case hexadecimal ---- */

/* Whether text begins with exactly so many digits; ret_nonzero if not all are 0. */
static bool is_hex(const char *text, size_t digits, bool *ret_nonzero)
{
    *ret_nonzero = strspn(text, "0") < digits;
    return strspn(text, HEX_DIGITS) == digits;
}

bool trace_read_parent(const char *given, char ret_parent[TRACE_PARENT + 1])
{
    enum { TRACE = 3, SPAN = 36, FLAGS = 53 };
    bool version, trace, span, flags;
    size_t length = strlen(given);
    if (length < TRACE_PARENT || strncmp(given, "ff", 2) == 0 || !is_hex(given, 2, &version) ||
        (length > TRACE_PARENT && (!version || given[TRACE_PARENT] != '-')) ||
        given[TRACE - 1] != '-' || !is_hex(given + TRACE, 32, &trace) || !trace ||
        given[SPAN - 1] != '-' || !is_hex(given + SPAN, 16, &span) || !span ||
        given[FLAGS - 1] != '-' || !is_hex(given + FLAGS, 2, &flags))
        return false;
    snprintf(ret_parent, TRACE_PARENT + 1, "00%s", given + 2);
    return true;
}

void trace_of_parent(const char *parent, char ret_trace[33], char ret_span[17])
{
    snprintf(ret_trace, 33, "%s", parent + 3);
    snprintf(ret_span, 17, "%s", parent + 36);
}
