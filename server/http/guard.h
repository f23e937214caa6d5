/* The rules of framing. A head that obeys them is read as the same message by every proxy
 * between the client and this server, which prevents request smuggling (RFC 9112, sections 3, 6
 * and 11.2). A request that breaks a rule is refused and its connection closed, since the end
 * of the request is uncertain. */
#ifndef GUARD_H
#define GUARD_H

#include "api.h"

#include <stdbool.h>
#include <stddef.h>

/* Of several broken rules the first one in this order is reported. */
typedef enum guard_rule {
    GUARD_LINES, /* every line begins with a name and ends in CR LF */
    GUARD_METHOD,
    GUARD_TARGET,
    GUARD_NUL,
    GUARD_FRAGMENT,
    GUARD_AUTHORITY, /* of a target in absolute form */
    GUARD_NAME,
    GUARD_VALUE,
    GUARD_LENGTH, /* Content-Length is a decimal number */
    GUARD_ONE_HOST,
    GUARD_HOST,
    GUARD_ONE_LENGTH,
    GUARD_TWO_FRAMINGS,
    GUARD_ONE_CODING,
    GUARD_OLD_CODING,
    GUARD_CODING,
    GUARD_FINE,
} guard_rule;

/* What has been read of a head. */
typedef struct guard_head {
    unsigned broken;                  /* a bit for each rule */
    unsigned hosts, lengths, codings; /* fields: Host, Content-Length, Transfer-Encoding */
    bool is_http_1_0;                 /* which has no Transfer-Encoding and needs no Host */
} guard_head;

/* Read the request line, with the target as the client sent it; then each field; then the end,
 * which returns the first rule that is broken, or GUARD_FINE. */
void guard_line(guard_head *ret_head, const char *method, const char *target,
                const char *version);
void guard_field(guard_head *head, const char *name, size_t name_size, const char *value,
                 size_t value_size);
guard_rule guard_end(guard_head *head);

/* Where the authority is in a target in absolute form, http://AUTHORITY/PATH?QUERY (RFC 9112,
 * section 3.2.2), and its size; NULL if the target has another form. */
const char *guard_authority(const char *target, size_t *ret_size);

/* What follows the authority of a target in absolute form; any other target itself. */
const char *guard_path(const char *target);

/* Cut an admitted target in absolute form down to its path and query. ret_host is its
 * authority, from malloc, which counts in place of the Host field (RFC 9112, section 3.2.2);
 * NULL for other forms. False if memory ran out. */
bool guard_take_host(char *target, char **ret_host);

/* Mark a rule as broken. */
void guard_break(guard_head *head, guard_rule rule);

/* What a rule demands, for the client. */
const char *guard_text(guard_rule rule);

/* Whether a request that breaks the rule may be valid, but needs something that this server
 * does not implement: it is answered 501 and not 400. */
bool guard_is_unimplemented(guard_rule rule);

/* The problem document for a request that breaks the rule. */
api_reply *guard_refuse(api_service *service, guard_rule rule);

#endif
