/* Values that were not given. */
#ifndef PE_DEFAULTS_H
#define PE_DEFAULTS_H

#include "requests/reading.h"

/* Fill in the values that were not given: from the preset, the defaults and the set.
 * Refuse parameters that are missing, excluded by others, or not legal with the choices made.
 */
void pe_apply_defaults(pe_reading *reading, pe_error *reterr);

#endif
