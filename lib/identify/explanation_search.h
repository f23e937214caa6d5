/* The search for the explanation of a table that has the least price: which request made it,
 * and what forms it went through since. */
#ifndef PE_EXPLANATION_SEARCH_H
#define PE_EXPLANATION_SEARCH_H

#include "identify/search_runner.h"

/* What a search is given. */
typedef struct pe_search_terms {
    const pe_limits *limits;
    const pe_scheme *only; /* the one scheme, or NULL */
    const char *set_name;  /* that the table may be made of, or NULL */
    const pe_set *set;
} pe_search_terms;

/* Find the explanation. False: the search was ended, or a problem was added. */
bool pe_search_explanations(const pe_search_terms *terms, const pe_view *view,
                            pe_search_runner *runner, pe_identity *ret_best, pe_error *reterr);

#endif
