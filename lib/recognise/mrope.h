/* Proposing requests for rotary tables of text with pictures and videos. */
#ifndef PE_RECOGNISE_MROPE_H
#define PE_RECOGNISE_MROPE_H

#include "scheme.h"

/* The `recognise` of mrope: see pe_scheme. */
void pe_mrope_recognise(pe_seen *seen, pe_proposals *proposals);

#endif
