/* Stands for the PostgreSQL engine in builds without it. */
#include "store/engine.h"

#include <stdio.h>

bool postgres_engine_accepts(const char *url, char *reterr, size_t size)
{
    (void)url;
    snprintf(reterr, size,
             "database-url: this posenc-server was built without PostgreSQL; build it with "
             "`make POSTGRES=1`, or leave the setting out");
    return false;
}

bool postgres_engine_open(const char *url, const engine_events *events,
                          store_engine *ret_engine, char *reterr, size_t size)
{
    (void)events, (void)ret_engine;
    return postgres_engine_accepts(url, reterr, size);
}
