/* Preparations under way: how far they are, and when they have to end. */
#ifndef PREPARATIONS_H
#define PREPARATIONS_H

#include "text.h"

#include <stdbool.h>
#include <stdint.h>

/* Times are counted in nanoseconds. */
typedef struct preparation_set preparation_set;

/* Each preparation may take `seconds`. NULL if memory ran out. */
preparation_set *preparations_new(uint64_t seconds);
void preparations_free(preparation_set *preparations); /* none may be under way */

/* What a runner's go_on is told, on the preparation's thread: `done` is 0 at its beginning and
 * 1 at its end. `scheme` is a constant. Returns whether to go on. */
bool preparations_go_on(preparation_set *preparations, const char *scheme, double done,
                        uint64_t now);

/* Let none go on from this time on. */
void preparations_end_at(preparation_set *preparations, uint64_t time);

/* The progress of each scheme's slowest preparation, as Prometheus text. */
void preparations_write(preparation_set *preparations, api_text *out);

#endif
