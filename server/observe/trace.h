/* Ids that connect a request with the logs of other services: a request id, and the traceparent
 * header of W3C Trace Context. */
#ifndef TRACE_H
#define TRACE_H

#include "api.h"

#include <stdbool.h>

#define TRACE_ID_MAX 128 /* characters of a request id */
#define TRACE_PARENT 55  /* characters of a traceparent of version 00 */

/* Whether a request id is accepted: 1 to TRACE_ID_MAX letters, digits and ._:/+=@- */
bool trace_id_is_legal(const char *id);

/* Make an id that no other request has. */
void trace_new_id(char ret_id[TRACE_ID_MAX + 1]);

/* Read a traceparent of any version and write it as version 00 (Trace Context, section 3.2).
 * False if the text is not a traceparent. */
bool trace_read_parent(const char *text, char ret_parent[TRACE_PARENT + 1]);

/* Copy the ids of the trace and the span from a traceparent of version 00. */
void trace_split_parent(const char *parent, char ret_trace[33], char ret_span[17]);

/* Header fields that only this request's response has: at most X-Request-Id and traceparent,
 * then one without a name. Their values point into the struct. */
typedef struct trace_echo {
    api_field fields[3];
    char id[TRACE_ID_MAX + 1], parent[TRACE_PARENT + 1];
} trace_echo;

/* Choose the ids that the response repeats, of a request's X-Request-Id and traceparent, which
 * may be NULL. A legal id is kept and an illegal one replaced; an illegal traceparent is
 * ignored. A request without an id gets one only if it is `needed`. */
void trace_choose_echo(const char *id, const char *parent, bool needed, trace_echo *ret_echo);

#endif
