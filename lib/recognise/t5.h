/* Recognising tables of T5's buckets. */
#ifndef PE_RECOGNISE_T5_H
#define PE_RECOGNISE_T5_H

#include "scheme.h"

/* The hook of the scheme (pe_scheme.recognise): the buckets are read, of a bias from the rows
 * of the tables of the first seeds; where they begin says how many there are, the largest
 * distance and the window. */
void pe_t5_recognise(pe_seen *seen, pe_proposals *proposals);

#endif
