/* Recognising tables of LeViT's attention bias. */
#ifndef PE_RECOGNISE_LEVIT_H
#define PE_RECOGNISE_LEVIT_H

#include "scheme.h"

/* The hook of the scheme (pe_scheme.recognise): rows of the table are read as indices, or found
 * in the tables of the first seeds; those of some queries say the width of the grid. */
void pe_levit_recognise(pe_seen *seen, pe_proposals *proposals);

#endif
