/* The rules of framing: what a request's head must be like so that everyone on its way here
 * has read the same message in it (RFC 9112, sections 3, 6 and 11.2). A request that breaks
 * one is refused, and its connection closes: where its end lies is uncertain. */
#ifndef GUARD_H
#define GUARD_H

#include <stdbool.h>
#include <stddef.h>

/* In the order in which they are reported. */
typedef enum guard_rule {
    GUARD_LINES, /* the head is lines, each ended by CR LF and begun by a name */
    GUARD_METHOD,
    GUARD_TARGET,
    GUARD_NUL,
    GUARD_FRAGMENT,
    GUARD_NAME,
    GUARD_VALUE,
    GUARD_ONE_HOST,
    GUARD_HOST,
    GUARD_ONE_LENGTH,
    GUARD_TWO_FRAMINGS,
    GUARD_ONE_CODING,
    GUARD_OLD_CODING,
    GUARD_CODING,
    GUARD_FINE,
} guard_rule;

/* One head while it is read. */
typedef struct guard_head {
    unsigned broken; /* a bit for each rule */
    unsigned hosts, lengths, codings;
    bool old; /* HTTP/1.0, which knows neither Host nor codings */
} guard_head;

/* Begin with the request line, whose target is as it came; then each field; then the end,
 * which is GUARD_FINE or the first rule that is broken. */
void guard_line(guard_head *ret_head, const char *method, const char *target,
                const char *version);
void guard_field(guard_head *head, const char *name, size_t name_size, const char *value,
                 size_t value_size);
guard_rule guard_end(guard_head *head);

/* Note that a rule is broken. */
void guard_break(guard_head *head, guard_rule rule);

/* What a rule asks for, as a sentence for the client. */
const char *guard_text(guard_rule rule);

/* Whether what breaks the rule may be sound, but is unknown here: 501 and not 400. */
bool guard_is_unknown(guard_rule rule);

#endif
