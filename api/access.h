/* Who may use the store. */
#ifndef API_ACCESS_H
#define API_ACCESS_H

#include "service.h"

/* The refusal of a request for the store, NULL if it is let through. With a key every request
 * must bring it as a bearer token. Without one the server must listen locally, and then what a
 * web page may have sent is refused: requests with an Origin, and those for a host that is not
 * a loopback name, whose page has made its name lead here (DNS rebinding). */
api_reply *api_refuse_access(const api_call *call);

/* Whether a Host value is a loopback name or address, with or without a port. */
bool api_is_loopback_host(const char *host);

#endif
