/* Whether a search may go on. Its computations ask the runner themselves; so does whatever
 * reads the table, as all loops over its rows do. Once the runner has said no, all of them end.
 */
#ifndef PE_SEARCH_RUNNER_H
#define PE_SEARCH_RUNNER_H

#include "posenc.h"

typedef struct pe_search_runner {
    pe_runner own;          /* for all computations of the search */
    const pe_runner *asked; /* the caller's; or NULL */
    pe_view view;           /* the table; read_watched reads it */
    size_t unasked;         /* bytes that have been read since the runner was asked */
    bool ended;             /* the runner has said no */
} pe_search_runner;

/* Begin a search; its runner must not move. */
void pe_search_runner_init(pe_search_runner *self, const pe_runner *asked);

/* A view of the same elements that cannot be read any more when the search has been ended. */
pe_view pe_search_wrap_view(pe_search_runner *self, const pe_view *view);

/* Ask the runner between computations. */
bool pe_search_may_continue(pe_search_runner *runner);

#endif
