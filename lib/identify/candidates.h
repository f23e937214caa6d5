/* The requests that all schemes propose for a table, by price. */
#ifndef PE_CANDIDATES_H
#define PE_CANDIDATES_H

#include "recognise/proposal.h"

typedef struct pe_candidate {
    const pe_scheme *scheme;
    double bits;           /* of the request */
    size_t place;          /* in the order of proposals, which ties are told in */
    pe_proposal *proposal; /* of which only the text of the query is held */
} pe_candidate;

typedef struct pe_candidates {
    pe_candidate *items; /* the least price first */
    size_t count, room;
    pe_proposals proposals; /* of one scheme */
} pe_candidates;

/* Collect the requests of a scheme, or of all if that is NULL, each once. False: memory ran
 * out. pe_candidates_done frees them either way; the struct begins as zeros. */
bool pe_candidates_collect(pe_candidates *candidates, const pe_scheme *only,
                           pe_observation *seen);
void pe_candidates_done(pe_candidates *candidates);

#endif
