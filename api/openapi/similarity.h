/* Which schemes have a similarity: distances or correlations between their rows. */
#ifndef API_SIMILARITY_H
#define API_SIMILARITY_H

#include "api.h"

#define API_SIMILARITY_QUERY_MAX 256

/* Whether the rows of a scheme can be compared as its example makes them: the primary tensor of
 * the example is a matrix of reals. Without memory it returns false and spoils the JSON
 * document that is being made. */
bool api_has_similarity(const pe_scheme *scheme, const pe_limits *limits);

/* Writes a query that the similarity of a scheme answers: the scheme's example with a metric,
 * and where its primary tensor is no matrix of reals, with the first choice of a parameter that
 * makes it one, such as form=compact. Returns false if no single choice does. Without memory as
 * api_has_similarity. */
bool api_similarity_example(const pe_scheme *scheme, const pe_limits *limits,
                            char ret_query[API_SIMILARITY_QUERY_MAX]);

#endif
