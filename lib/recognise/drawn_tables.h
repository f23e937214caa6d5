/* Proposing requests for tables that are drawn from a small seed by the default settings. */
#ifndef PE_RECOGNISE_DRAWN_TABLES_H
#define PE_RECOGNISE_DRAWN_TABLES_H

#include "scheme.h"

/* The `recognise` of these schemes: see pe_scheme. */
void pe_learned_recognise(pe_seen *seen, pe_proposals *proposals);
void pe_hierarchical_recognise(pe_seen *seen, pe_proposals *proposals);
void pe_floater_recognise(pe_seen *seen, pe_proposals *proposals);
void pe_resized_recognise(pe_seen *seen, pe_proposals *proposals);
void pe_complex_order_recognise(pe_seen *seen, pe_proposals *proposals);
void pe_random_fourier_recognise(pe_seen *seen, pe_proposals *proposals);

#endif
