/* Bringing the tables of a database to the version that this release reads and writes. */
#ifndef POSTGRES_SCHEMA_H
#define POSTGRES_SCHEMA_H

#include "store/postgres_link.h"

typedef enum schema_outcome {
    SCHEMA_READY,
    SCHEMA_UNREACHABLE, /* the database cannot be asked; see the link's reason */
    SCHEMA_TOO_NEW,     /* a later release has changed the tables */
    SCHEMA_REFUSED,     /* the tables cannot be made; see the link's reason */
} schema_outcome;

/* Make or migrate the tables, unless they are as they should be. Servers that start together do
 * it one after the other. Never goes back to an older version. */
schema_outcome postgres_schema_prepare(postgres_link *link);

#endif
