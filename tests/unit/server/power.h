/* A disk whose power fails: under SQLite, files lose what was not synced. */
#ifndef UNIT_POWER_H
#define UNIT_POWER_H

#include <stdbool.h>
#include <stddef.h>

/* From now on SQLite's files are on such a disk; the power fails at write number `after`, and
 * from then on every operation does. */
void power_begin(size_t after);
bool power_has_failed(void);

/* SQLite is on the plain disk again. If the power has failed, the files are as they would be
 * found: what was synced is there, of what was written since then some sectors are. */
void power_end(void);

#endif
