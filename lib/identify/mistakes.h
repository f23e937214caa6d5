/* The usual mistakes of requests, each tried on a table. */
#ifndef PE_MISTAKES_H
#define PE_MISTAKES_H

#include "identify/trial.h"

/* Find out which mistake explains a table of the right shape. False: none does. */
bool pe_find_mistake(pe_trial *trial);

/* Of these: rows that are shifted, and angles that were rounded to 16 bits. */
bool pe_find_shift(pe_trial *trial);
bool pe_find_narrow_angles(pe_trial *trial);

#endif
