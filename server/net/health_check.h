/* The client of the health check (--healthcheck). */
#ifndef HEALTH_CHECK_H
#define HEALTH_CHECK_H

#include "settings/settings.h"

/* Ask the server that the settings describe for /health/ready. False, and one line with the
 * reason on `errors`, if the response is not 200. */
bool probe_server(const server_settings *settings, FILE *errors);

#endif
