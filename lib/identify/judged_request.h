/* One request that may have made a table, compared with all of it. */
#ifndef PE_JUDGED_REQUEST_H
#define PE_JUDGED_REQUEST_H

#include "identify/search_runner.h"
#include "recognise/proposal.h"

/* Judging requests of one table. */
typedef struct pe_judge {
    const pe_limits *limits;
    pe_search_runner *runner;
    pe_observation *seen; /* of the table */
    bool noisy;           /* what is left must be noise */
    bool paired;          /* there are sines beside cosines, or the other way round */
    bool unordered;       /* the columns of the table are those of a request in any order */
    pe_error *reterr;
} pe_judge;

/* Compare a proposal with the table: its status, its arithmetic and what does not fit. Some of
 * its lines are compared first. `tensor` is that of the proposal, or another one.
 * PE_IDENTITY_UNKNOWN: it did not make the table. False: the search was ended, or a problem was
 * added. */
bool pe_judge_request(const pe_judge *judge, const pe_scheme *scheme,
                      const pe_proposal *proposal, const char *tensor, pe_identity *ret_found);

#endif
