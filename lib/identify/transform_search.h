/* Searching for what made a table that was transformed after it was made: repeated axes, two
 * tensors in one, angles, masks, zeros, factors. */
#ifndef PE_TRANSFORM_SEARCH_H
#define PE_TRANSFORM_SEARCH_H

#include "posenc.h"

typedef struct pe_searcher {
    void *context;
    /* Find the request that made a view; its status is PE_IDENTITY_UNKNOWN if there is none.
     * False: the search was ended, or a problem was added. */
    bool (*search)(void *context, const pe_view *view, pe_identity *ret_found);
    /* Compare the request that was found last, with another query and tensor, with a view.
     * False: as above. */
    bool (*check)(void *context, const pe_view *view, const pe_scheme *scheme,
                  const char *query, const char *tensor, pe_identity *ret_found);
    pe_identity *best; /* what is found; it begins as unknown */
    pe_error *reterr;
} pe_searcher;

/* Whether what was found of a table says more than what was found before. */
bool pe_identity_is_better(const pe_identity *one, const pe_identity *other);

/* Find what made a table, undoing transforms where nothing fits it as it is. *ret_last
 * is the table without its repetitions. False: as above. */
bool pe_search_transforms(const pe_searcher *searcher, const pe_view *view, pe_view *ret_last);

#endif
