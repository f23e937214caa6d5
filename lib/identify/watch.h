/* Whether a search may go on. Its computations ask the runner themselves; so does whatever
 * reads the table, as all loops over its rows do. Once the runner has said no, all of them end.
 */
#ifndef PE_WATCH_H
#define PE_WATCH_H

#include "posenc.h"

typedef struct pe_watch {
    pe_runner runner;       /* for all computations of the search */
    const pe_runner *asked; /* the caller's; or NULL */
    pe_view view;           /* the table; read_watched reads it */
    size_t unasked;         /* bytes that have been read since the runner was asked */
    bool ended;             /* the runner has said no */
} pe_watch;

/* Watch over a search. The watch must not move. */
void pe_watch_init(pe_watch *watch, const pe_runner *asked);

/* A view of the same elements that cannot be read any more when the search has been ended. */
pe_view pe_watch_view(pe_watch *watch, const pe_view *view);

/* Ask the runner between computations. */
bool pe_watch_may_continue(pe_watch *watch);

#endif
