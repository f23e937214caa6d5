/* The tables of sets in a database that servers share, as SQL for PostgreSQL 12 or
 * later. */
#ifndef SHARED_SCHEMA_H
#define SHARED_SCHEMA_H

#include <stdio.h>

/* What a server of this release reads and writes. */
#define SHARED_SCHEMA_VERSION 1

/* The statements that lead from the version before to this one; 1 is the first. */
const char *shared_schema_step(int version);

/* Print one transaction that makes all tables in a database without them. */
void shared_schema_print(FILE *out);

#endif
