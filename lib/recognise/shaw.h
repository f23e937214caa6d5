/* Recognising tables of Shaw's relative position representations. */
#ifndef PE_RECOGNISE_SHAW_H
#define PE_RECOGNISE_SHAW_H

#include "scheme.h"

/* The hook of the scheme (pe_scheme.recognise): rows of the tables are read as indices, or
 * found in the tables of the first seeds; where they stop rising or falling, distances are
 * clipped. A matrix does not tell the window from the limits: the default window is preferred.
 */
void pe_shaw_recognise(pe_seen *seen, pe_proposals *proposals);

#endif
