/* Rotary laws of published settings, tried as they are: what they make is found wherever its
 * positions lie. */
#ifndef PE_ROTARY_PUBLISHED_H
#define PE_ROTARY_PUBLISHED_H

#include "recognise/rotary_text.h"

/* Propose the published laws by which the rows of a table have positions. */
void pe_rotary_propose_published(const pe_observation *seen, const pe_rotary_table *table,
                                 pe_proposals *proposals);

/* The same of one law. */
void pe_rotary_propose_positions(const pe_observation *seen, const pe_rotary_table *table,
                                 const pe_rotary *rotary, pe_proposals *proposals);

#endif
