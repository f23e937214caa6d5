#include "observe/trace.h"

#include "locks.h"

#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
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

/* ---- new ids: 64 random bits of this process, then a counter ---- */

static uint64_t process_bits;

/* Random bits; without a random source, from the time. */
static void draw_process_bits(void)
{
    struct timespec now;
    if (getentropy(&process_bits, sizeof process_bits) == 0)
        return;
    clock_gettime(CLOCK_REALTIME, &now);
    process_bits = (uint64_t)now.tv_sec << 32 ^ (uint64_t)now.tv_nsec;
}

void trace_new_id(char ret_id[TRACE_ID_MAX + 1])
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    static atomic_ullong count;
    pthread_once(&once, draw_process_bits);
    snprintf(ret_id, TRACE_ID_MAX + 1, "%016llx%016llx", (unsigned long long)process_bits,
             atomic_fetch_add_explicit(&count, 1, memory_order_relaxed) + 1);
}

/* ---- traceparent: VERSION-TRACE-SPAN-FLAGS in lower-case hexadecimal ---- */

/* Whether the digits at the start of the text are exactly `digits` many. ret_nonzero: whether
 * one of them is not 0. */
static bool is_hex(const char *text, size_t digits, bool *ret_nonzero)
{
    *ret_nonzero = strspn(text, "0") < digits;
    return strspn(text, HEX_DIGITS) == digits;
}

bool trace_read_parent(const char *text, char ret_parent[TRACE_PARENT + 1])
{
    enum { TRACE = 3, SPAN = 36, FLAGS = 53 }; /* where these parts begin */
    bool version, trace, span, flags;          /* whether they are not zero */
    if (strlen(text) < TRACE_PARENT || strncmp(text, "ff", 2) == 0)
        return false;
    bool is_hyphenated =
        text[TRACE - 1] == '-' && text[SPAN - 1] == '-' && text[FLAGS - 1] == '-';
    if (!is_hyphenated || !is_hex(text, 2, &version) || !is_hex(text + TRACE, 32, &trace) ||
        !is_hex(text + SPAN, 16, &span) || !is_hex(text + FLAGS, 2, &flags))
        return false;
    if (!trace || !span)
        return false;
    bool has_more_parts = text[TRACE_PARENT] != '\0'; /* only versions after 00 may have them */
    if (has_more_parts && (!version || text[TRACE_PARENT] != '-'))
        return false;
    snprintf(ret_parent, TRACE_PARENT + 1, "00%s", text + 2);
    return true;
}

void trace_split_parent(const char *parent, char ret_trace[33], char ret_span[17])
{
    snprintf(ret_trace, 33, "%s", parent + 3);
    snprintf(ret_span, 17, "%s", parent + 36);
}

/* ---- both, in a response ---- */

void trace_choose_echo(const char *id, const char *parent, bool needed, trace_echo *ret_echo)
{
    size_t count = 0;
    ret_echo->id[0] = ret_echo->parent[0] = '\0';
    if (id && trace_id_is_legal(id))
        memcpy(ret_echo->id, id, strlen(id) + 1);
    else if (id || needed)
        trace_new_id(ret_echo->id);
    if (ret_echo->id[0])
        ret_echo->fields[count++] = (api_field){"X-Request-Id", ret_echo->id};
    if (parent && trace_read_parent(parent, ret_echo->parent))
        ret_echo->fields[count++] = (api_field){"traceparent", ret_echo->parent};
    ret_echo->fields[count] = (api_field){NULL, NULL};
}
