/* What was measured of a table, and why no request was found for it. */
#ifndef PE_OBSTACLE_H
#define PE_OBSTACLE_H

#include "recognise/observation.h"

/* Note in the identity which columns are waves. */
void pe_note_waves(pe_observation *seen, pe_identity *identity);

/* Say why in the identity, as far as the beginning of the table tells it. */
void pe_obstacle_find(const pe_view *view, pe_identity *identity);

#endif
