/* The usual mistakes of requests, each tried on a table. */
#ifndef PE_MISTAKES_H
#define PE_MISTAKES_H

#include "identify/explanation_trial.h"

/* Find out which mistake explains a table of the right shape. False: none does. */
bool pe_find_mistake(pe_trial *trial);

/* Of these: rows that are shifted, with a request that has the shift or without one, and angles
 * that were rounded to 16 bits. */
bool pe_find_shift(pe_trial *trial);
bool pe_find_overlap(pe_trial *trial);
bool pe_find_narrow_angles(pe_trial *trial);

/* Whether a table has fewer indices of the first axis than the exact tensor, whose shape this
 * is, and is its beginning or its end. */
bool pe_find_fewer(pe_trial *trial, const pe_view *shape);

#endif
