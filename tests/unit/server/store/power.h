/* A disk whose power fails: SQLite's files lose writes that were not synced. */
#ifndef UNIT_POWER_H
#define UNIT_POWER_H

#include <stdbool.h>
#include <stddef.h>

/* Put SQLite's files on such a disk. The power fails at write number `after`; from then on
 * every operation fails. */
void power_begin(size_t after);
bool power_has_failed(void);

/* Return SQLite to the plain disk. If the power has failed, the files become what a restarted
 * machine would find: everything that was synced, and some sectors of what was written later.
 */
void power_end(void);

#endif
