/* Reading a head where libmicrohttpd has left it.
 *
 * 0.9.75 parses the head in place: it ends the method, the target, names and values by NUL, and
 * what it hands out are pointers to them. So the way the head came shows in where they lie: a
 * field begins two bytes (CR LF) after the value before it. Where it does not, there was a bare
 * LF, a NUL that cut the value short, or a folded line, whose text goes to another place. */
#include "http_guard.h"

#include "guard.h"

#include <stdint.h>
#include <string.h>

#define LINE_END 2 /* CR LF */

typedef struct head_scan {
    guard_head head;
    uintptr_t at; /* where the next line must begin */
} head_scan;

bool http_guard_sees_lines(void)
{
    return strcmp(MHD_get_version(), "0.9.75") == 0;
}

static enum MHD_Result visit(void *cls, enum MHD_ValueKind kind, const char *name,
                             size_t name_size, const char *value, size_t value_size)
{
    (void)kind;
    head_scan *scan = cls;
    if (!value)
        value = "";
    if ((uintptr_t)name != scan->at)
        guard_break(&scan->head, GUARD_LINES);
    scan->at = (uintptr_t)value + value_size + LINE_END;
    guard_field(&scan->head, name, name_size, value, value_size);
    return MHD_YES;
}

/* Whether the parts of the request line have one blank between them. */
static bool line_is_whole(const http_head *head)
{
    return head->url == head->method + strlen(head->method) + 1 &&
           head->version == head->url + strlen(head->target) + 1;
}

static guard_rule judge(struct MHD_Connection *connection, const http_head *head)
{
    head_scan scan;
    guard_line(&scan.head, head->method, head->target, head->version);
    scan.at = (uintptr_t)head->version + strlen(head->version) + LINE_END;
    MHD_get_connection_values_n(connection, MHD_HEADER_KIND, visit, &scan);
    const union MHD_ConnectionInfo *size =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_REQUEST_HEADER_SIZE);
    bool ends = size && scan.at + LINE_END == (uintptr_t)head->method + size->header_size;
    if (!ends || !line_is_whole(head))
        guard_break(&scan.head, GUARD_LINES);
    if (scan.head.broken && !http_guard_sees_lines())
        scan.head.broken &= ~(1U << GUARD_LINES);
    return guard_end(&scan.head);
}

/* What must be answered under any load. */
static bool is_probe(const char *target)
{
    return strncmp(target, "/health/", 8) == 0 || strcmp(target, "/metrics") == 0;
}

api_reply *http_admit(api_service *service, struct MHD_Connection *connection,
                      const http_head *head, bool crowded, rejection *ret_why)
{
    guard_rule rule = judge(connection, head);
    if (rule == GUARD_FINE && (!crowded || is_probe(head->target)))
        return NULL;
    *ret_why = rule == GUARD_FINE ? REJECTED_REQUEST_LIMIT : REJECTED_FRAMING;
    if (rule == GUARD_FINE)
        return api_fault_reply_with(service, API_FAULT_OVERLOADED,
                                    "too many requests are under way; try again");
    return api_fault_reply_with(
        service, guard_is_unknown(rule) ? API_FAULT_NOT_IMPLEMENTED : API_FAULT_MALFORMED,
        guard_text(rule));
}
