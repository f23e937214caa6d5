/* Recognising tables of Swin Transformers' attention biases. */
#ifndef PE_RECOGNISE_SWIN_H
#define PE_RECOGNISE_SWIN_H

#include "scheme.h"

/* The hooks of the schemes swin and swin_v2 (pe_scheme.recognise): the shape of the window
 * follows from the first query's entries, the seed of Swin's biases from a row of its table. Of
 * version 2 the usual network of the first seeds is proposed, and coordinates of any window. */
void pe_swin_recognise(pe_seen *seen, pe_proposals *proposals);
void pe_swin_v2_recognise(pe_seen *seen, pe_proposals *proposals);

#endif
