/* The texts of problem documents: what is wrong, what is allowed and what to do, in terms of
 * the query string or JSON body that the request was written in. */
#ifndef API_WORDING_H
#define API_WORDING_H

#include "api.h"
#include "bytes/text.h"

/* Append a phrase that completes "the parameter must be ...". */
void api_word_allowed(const pe_error *error, const pe_problem *problem, api_text *text);

/* Append a whole sentence about one problem. */
void api_word_message(const pe_error *error, const pe_problem *problem, api_text *text);

/* Append a sentence about all problems of an error, which has at least one. */
void api_word_detail(const pe_error *error, api_text *text);

#endif
