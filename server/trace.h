/* What ties a request to others' logs: its id, and its place in a trace (W3C Trace Context). */
#ifndef TRACE_H
#define TRACE_H

#include <stdbool.h>

#define TRACE_ID_MAX 128 /* characters of a request id */
#define TRACE_PARENT 55  /* of a traceparent of version 00 */

/* Whether a request id is taken as it is: 1 to TRACE_ID_MAX of letters, digits and ._:/+=@- */
bool trace_id_is_legal(const char *id);

/* An id that no other request has. */
void trace_new_id(char ret_id[TRACE_ID_MAX + 1]);

/* Read a traceparent: false if it is none. Ours is of version 00, whatever version it came in
 * (Trace Context, section 3.2). */
bool trace_read_parent(const char *given, char ret_parent[TRACE_PARENT + 1]);

/* The trace and the span that a traceparent of version 00 names. */
void trace_of_parent(const char *parent, char ret_trace[33], char ret_span[17]);

#endif
