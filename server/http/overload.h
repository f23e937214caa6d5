/* Answers to connections above the limit, which never reach libmicrohttpd. */
#ifndef HTTP_OVERLOAD_H
#define HTTP_OVERLOAD_H

#include "api.h"
#include "observe/metrics.h"

/* A reply as an HTTP response, from malloc, after which the connection closes; NULL if memory
 * ran out. `own` are fields of this response alone, up to one without a name, or NULL. */
char *overload_write_response(api_reply *reply, const api_field *own);

/* The HTTP response that turns a connection away, from malloc; NULL if memory ran out. */
char *overload_refusal(api_service *service);

/* The HTTP response, from malloc, to a request for a health check or the metrics, which are
 * answered under any load. Any other request is turned away and counted: NULL, as without
 * memory. `method` and `target` are NULL if the client has sent no request line. `target` may
 * be changed. */
char *overload_answer(api_service *service, server_metrics *metrics, const char *method,
                      char *target);

#endif
