/* Recognising tables of ALiBi. */
#ifndef PE_RECOGNISE_ALIBI_H
#define PE_RECOGNISE_ALIBI_H

#include "scheme.h"

/* The hook of the scheme (pe_scheme.recognise): biases by the last line of the first head, of
 * which the slope and the position of the query are read; slopes by the first of them. */
void pe_alibi_recognise(pe_seen *seen, pe_proposals *proposals);

#endif
