/* The published table that a table is nearest to, where noise, few digits or training have
 * moved every entry. */
#ifndef PE_NEAREST_PUBLISHED_H
#define PE_NEAREST_PUBLISHED_H

#include "identify/search_runner.h"

/* Find the request of usual settings whose exact table is so near that what is left is noise:
 * then the identity becomes PE_IDENTITY_NEAR. `only` as of pe_identify_table. False: the search
 * was ended, or a problem was added. */
bool pe_find_nearest_published(const pe_view *view, const pe_scheme *only,
                               const pe_limits *limits, pe_search_runner *runner,
                               pe_identity *identity, pe_error *reterr);

#endif
