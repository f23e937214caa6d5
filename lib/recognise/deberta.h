/* Recognising DeBERTa's indices of relative positions. */
#ifndef PE_RECOGNISE_DEBERTA_H
#define PE_RECOGNISE_DEBERTA_H

#include "scheme.h"

/* The hook of the scheme (pe_scheme.recognise): where buckets stop having one distance each,
 * and where they begin from there on, says how many there are and the largest distance. */
void pe_deberta_recognise(pe_seen *seen, pe_proposals *proposals);

#endif
