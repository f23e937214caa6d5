/* Long preparations of tables: their progress and their deadlines. Times are in nanoseconds. */
#ifndef PREPARATIONS_H
#define PREPARATIONS_H

#include "text.h"

#include <stdbool.h>
#include <stdint.h>

typedef struct preparation_set preparation_set;

/* `seconds` is how long one preparation may take. NULL if memory ran out. */
preparation_set *preparations_new(uint64_t seconds);
void preparations_free(preparation_set *preparations); /* when no preparation is under way */

/* Report the progress of this thread's preparation, for pe_runner.go_on: `done` is 0 at the
 * beginning, then the share done, and 1 at the end. `scheme` must outlive the preparation.
 * Returns whether it may go on; false: it must end because its time is over. */
bool preparations_go_on(preparation_set *preparations, const char *scheme, double done,
                        uint64_t now);

/* From this time on no preparation may go on. */
void preparations_end_at(preparation_set *preparations, uint64_t time);

/* Write the progress of every scheme's slowest preparation as Prometheus text. */
void preparations_write(preparation_set *preparations, api_text *out);

#endif
