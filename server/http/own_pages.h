/* Answers in place of libmicrohttpd's own pages.
 *
 * It refuses some requests before or between the calls of the handler: a Content-Length that is
 * no number, a chunk whose size cannot be read. Its answer is a page of HTML, whose head 0.9.75
 * sends twice. But it writes a line to its log first, on the event thread that serves the
 * connection: that is the moment to send an answer of our own and to shut down the sending
 * side, so that the page is never sent. */
#ifndef HTTP_OWN_PAGES_H
#define HTTP_OWN_PAGES_H

#include "http/answer.h"

#include <stdarg.h>

/* What libmicrohttpd's log is given to, so that it knows whose requests it serves. */
typedef struct own_pages {
    http_connections *connections;
} own_pages;

/* libmicrohttpd's logger (MHD_OPTION_EXTERNAL_LOGGER); `cls` is an own_pages. A request is
 * answered only where it is certain which one is refused: the only one of this thread whose
 * head is complete and has not been handed over, or the only one that sends chunks. */
void own_pages_log(void *cls, const char *format, va_list arguments);

#endif
