/* Recognising biases and vectors that are drawn from a seed. */
#ifndef PE_RECOGNISE_DRAWN_BIASES_H
#define PE_RECOGNISE_DRAWN_BIASES_H

#include "scheme.h"

/* The hooks of the schemes kerple, fire, urpe and decomposed (pe_scheme.recognise). An entry or
 * a row of the tables of the first seeds turns most seeds down; of FIRE only the usual network
 * is proposed, of decomposed no resized tables, of URPE's line of distances that of a square
 * matrix. */
void pe_kerple_recognise(pe_seen *seen, pe_proposals *proposals);
void pe_fire_recognise(pe_seen *seen, pe_proposals *proposals);
void pe_urpe_recognise(pe_seen *seen, pe_proposals *proposals);
void pe_decomposed_recognise(pe_seen *seen, pe_proposals *proposals);

#endif
