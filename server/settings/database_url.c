/* Whether a URL of a database can be read in one way only. */
#include "settings/database_url.h"

#include <stddef.h>
#include <string.h>

#define SCHEME "postgresql://"

/* Whether what follows a host is nothing, or a colon and the digits of a port. */
static bool is_port(const char *text, size_t size)
{
    return size == 0 || (text[0] == ':' && strspn(text + 1, "0123456789") >= size - 1);
}

/* Whether a list of hosts, joined by commas, has no ports but numbers. */
static bool are_hosts(const char *text, size_t size)
{
    for (size_t at = 0; at <= size; at++) {
        size_t host = at;
        if (at < size && text[at] == '[')
            host += strcspn(text + at, "]");
        host += strcspn(text + host, ":,/?");
        size_t end = host + strcspn(text + host, ",/?");
        if (!is_port(text + host, end - host))
            return false;
        at = end;
    }
    return true;
}

bool database_url_is_clear(const char *url)
{
    if (strncmp(url, SCHEME, strlen(SCHEME)) != 0)
        return false;
    const char *authority = url + strlen(SCHEME), *hosts = authority;
    size_t size = strcspn(authority, "/?");
    const char *user_end = memchr(authority, '@', size);
    if (user_end)
        hosts = user_end + 1;
    return !strchr(hosts, '@') && are_hosts(hosts, size - (size_t)(hosts - authority));
}
