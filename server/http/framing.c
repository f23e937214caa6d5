/* Reconstructing the lines of a head from libmicrohttpd's parse of it.
 *
 * Version 0.9.75 parses a head in place: it writes NUL after the method, the target, each name
 * and each value, and returns pointers into the same memory. So the distances between these
 * pointers show how the lines ended: a field must begin two bytes (CR LF) after the end of the
 * value before it. Otherwise the client sent a bare LF, a NUL, which cuts the value short, or a
 * folded line, whose text libmicrohttpd copies to another place.
 *
 * Version 0.9.77 joins folded lines in place, so that nothing shows. Version 1.0 refuses all
 * three if it is strict; it also cuts blanks off the ends of values, so that a field may begin
 * later. */
#include "http/framing.h"

#include <stdint.h>
#include <string.h>

#define LINE_END 2 /* CR LF */

typedef struct head_scan {
    guard_head head;
    http_headers *headers;
    uintptr_t next_line; /* the address where the next line must begin */
} head_scan;

http_line_check http_framing_line_check(void)
{
    const char *version = MHD_get_version();
    if (strcmp(version, "0.9.75") == 0 || strcmp(version, "0.9.76") == 0)
        return HTTP_LINES_BY_GUARD;
    return strncmp(version, "0.", 2) == 0 ? HTTP_LINES_BY_NOBODY : HTTP_LINES_BY_LIBRARY;
}

static enum MHD_Result visit_field(void *cls, enum MHD_ValueKind kind, const char *name,
                                   size_t name_size, const char *value, size_t value_size)
{
    (void)kind;
    head_scan *scan = cls;
    http_headers_note(scan->headers, name, value);
    if (!value)
        value = "";
    if ((uintptr_t)name != scan->next_line)
        guard_break(&scan->head, GUARD_LINES);
    scan->next_line = (uintptr_t)value + value_size + LINE_END;
    guard_field(&scan->head, name, name_size, value, value_size);
    return MHD_YES;
}

/* Whether exactly one blank separates the parts of the request line. */
static bool has_single_blanks(const http_head *head)
{
    return head->url == head->method + strlen(head->method) + 1 &&
           head->version == head->url + strlen(head->target) + 1;
}

/* The first rule that the head breaks, or GUARD_FINE. The headers are noted on the way. */
static guard_rule judge_framing(struct MHD_Connection *connection, const http_head *head,
                                http_headers *headers)
{
    head_scan scan = {.headers = headers};
    guard_line(&scan.head, head->method, head->target, head->version);
    scan.next_line = (uintptr_t)head->version + strlen(head->version) + LINE_END;
    MHD_get_connection_values_n(connection, MHD_HEADER_KIND, visit_field, &scan);
    const union MHD_ConnectionInfo *size =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_REQUEST_HEADER_SIZE);
    bool ends_after_fields =
        size && scan.next_line + LINE_END == (uintptr_t)head->method + size->header_size;
    if (!ends_after_fields || !has_single_blanks(head))
        guard_break(&scan.head, GUARD_LINES);
    if (scan.head.broken && http_framing_line_check() != HTTP_LINES_BY_GUARD)
        scan.head.broken &= ~(1U << GUARD_LINES);
    return guard_end(&scan.head);
}

guard_rule http_judge_fields(struct MHD_Connection *connection, http_headers *headers)
{
    head_scan scan = {.headers = headers};
    MHD_get_connection_values_n(connection, MHD_HEADER_KIND, visit_field, &scan);
    scan.head.broken &= ~(1U << GUARD_LINES); /* it is not known where the first one begins */
    return guard_end(&scan.head);
}

api_reply *http_admit(api_service *service, struct MHD_Connection *connection,
                      const http_head *head, http_headers *headers)
{
    const guard_rule rule = judge_framing(connection, head, headers);
    return rule == GUARD_FINE ? NULL : guard_refuse(service, rule);
}
