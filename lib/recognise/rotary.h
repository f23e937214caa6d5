/* Proposing requests for rotary tables and inverse frequencies. */
#ifndef PE_RECOGNISE_ROTARY_H
#define PE_RECOGNISE_ROTARY_H

#include "scheme.h"

/* The `recognise` of rope: see pe_scheme. */
void pe_rotary_recognise(pe_seen *seen, pe_proposals *proposals);

#endif
