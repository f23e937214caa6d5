/* Who recognises the tables of which scheme: recognisers.def. A scheme knows nothing of it. */
#ifndef PE_RECOGNISERS_H
#define PE_RECOGNISERS_H

#include "recognise/proposal.h"

/* Propose requests of one scheme that may have made a table. It proves nothing: what is
 * proposed is compared entry by entry. */
typedef void pe_recogniser(pe_observation *seen, pe_proposals *proposals);

/* Collect the proposals of a scheme's recogniser; none if it has no recogniser. */
void pe_collect_proposals(const pe_scheme *scheme, pe_observation *seen,
                          pe_proposals *ret_proposals);

#define RECOGNISER(scheme) pe_recogniser pe_recognise_##scheme;
#include "recognise/recognisers.def"
#undef RECOGNISER

#endif
