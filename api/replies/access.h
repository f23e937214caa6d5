/* Access control of the store. */
#ifndef API_ACCESS_H
#define API_ACCESS_H

#include "service.h"

/* The guard of the store. Where the server has a key, every request must bring it as a bearer
 * token. Where it has none, it must listen on loopback or a Unix socket, and requests that a
 * web page may have sent are refused: those with an Origin, and those whose Host is no loopback
 * name, since a page's own host name may have been made to resolve to this machine (DNS
 * rebinding). */
api_guard api_refuse_access;

/* The same, but the pages of this server may ask: an Origin is let in if it is http:// and the
 * Host of the request, which must be a loopback name all the same. For what changes nothing. */
api_guard api_refuse_others;

/* Whether the value of a Host header is a loopback name or address, with or without a port. */
bool api_is_loopback_host(const char *host);

#endif
