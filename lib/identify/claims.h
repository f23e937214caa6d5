/* What is claimed of a table that no request was found for: each claim is evaluated on the
 * table, or on the first rows that it names, before it is made. */
#ifndef PE_CLAIMS_H
#define PE_CLAIMS_H

#include "identify/search_runner.h"
#include "recognise/observation.h"

/* Put the claims that hold into the identity, the most telling one first; of a table that a
 * request was found for only that it is constant, and then the request only if it makes the
 * bits. Fewer without memory, if the view cannot be read, or if the runner ends it. */
void pe_claims_find(const pe_view *view, pe_search_runner *runner, pe_identity *identity);

#endif
