/* Which schemes have a similarity: distances or correlations between their rows. */
#ifndef API_SIMILARITY_H
#define API_SIMILARITY_H

#include "api.h"

/* Whether the rows of a scheme can be compared as its example makes them: the primary tensor of
 * the example is a matrix of reals. Without memory it returns false and spoils the JSON
 * document that is being made. */
bool api_has_similarity(const pe_scheme *scheme, const pe_limits *limits);

#endif
