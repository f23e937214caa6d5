/* Recognising biases and factors that fall with the distance by fixed formulas. */
#ifndef PE_RECOGNISE_DECAY_H
#define PE_RECOGNISE_DECAY_H

#include "scheme.h"

/* The hooks of the schemes retnet and sandwich (pe_scheme.recognise). A factor of RetNet's
 * first head says its distance; Sandwich's largest bias is that of distance 0 and says dim, the
 * one beside it the base. */
void pe_retnet_recognise(pe_seen *seen, pe_proposals *proposals);
void pe_sandwich_recognise(pe_seen *seen, pe_proposals *proposals);

#endif
