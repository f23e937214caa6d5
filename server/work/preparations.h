/* Long preparations of tables and their progress. */
#ifndef PREPARATIONS_H
#define PREPARATIONS_H

#include "bytes/text.h"

typedef struct preparation_set preparation_set;

preparation_set *preparations_new(void);               /* NULL if memory ran out */
void preparations_free(preparation_set *preparations); /* when no preparation is under way */

/* Note the progress of this thread's preparation, as pe_runner.go_on tells it: `done` is 0 at
 * the beginning, then the share done, and 1 at the end. `scheme` is the name that
 * pe_scheme_describe has for a scheme or a similarity. */
void preparations_note(preparation_set *preparations, const char *scheme, double done);

/* Write the progress of the slowest preparation as Prometheus text, for every scheme of which
 * one has begun since the set was new. */
void preparations_write(preparation_set *preparations, api_text *out);

#endif
