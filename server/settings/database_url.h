/* URLs of databases. */
#ifndef DATABASE_URL_H
#define DATABASE_URL_H

#include <stdbool.h>

/* What the value of a setting must be. */
#define DATABASE_URL_FORM                                                                      \
    "a URL postgresql://USER:PASSWORD@HOST:PORT/DATABASE: any other @ is %40, a slash in a "   \
    "password %2F"

/* Whether a URL begins with postgresql:// and can be read in one way only: an @ stands only
 * before the hosts, which end at the next slash, and ports are numbers. With another @ or a
 * slash in a password libpq takes a part of it for a host or a port, and its messages show
 * that. */
bool database_url_is_clear(const char *url);

#endif
