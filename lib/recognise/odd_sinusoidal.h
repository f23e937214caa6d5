/* Sinusoidal encodings whose columns form no pairs. */
#ifndef PE_ODD_SINUSOIDAL_H
#define PE_ODD_SINUSOIDAL_H

#include "recognise/proposal.h"

/* Propose sinusoidal encodings of an odd number of columns, and those that have a frequency for
 * each column. */
void pe_propose_odd_sinusoidal(pe_observation *seen, pe_proposals *proposals);

#endif
