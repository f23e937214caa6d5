/* Requests as the queries that schemes propose. */
#ifndef PE_IDENTIFY_QUERY_H
#define PE_IDENTIFY_QUERY_H

#include "scheme.h"

/* Make the request of a query and a dtype; NULL if it is refused. */
pe_request *pe_parse_query(const pe_scheme *scheme, const char *query, const char *dtype,
                           const pe_limits *limits);

/* Find the set of a name, which may be NULL. False: a problem was added. */
bool pe_find_query_set(const pe_limits *limits, const char *name, pe_set **ret_set,
                       pe_error *reterr);

/* Write a value as the text of an argument; false if it is too long for one. */
bool pe_write_value_text(const pe_parameter *row, const pe_value *value,
                         char dst[PE_PRINT_MAX]);

/* The text of an argument of the query, in `dst`; NULL if it has none of that name. */
const char *pe_find_query_text(const char *query, const char *name,
                               char dst[PE_IDENTITY_QUERY_MAX]);

/* Write the query with another text of a parameter, or without it if the text is NULL. */
void pe_change_query(const char *query, const char *name, const char *text,
                     char dst[PE_IDENTITY_QUERY_MAX]);

/* The tensor of a name, if it has the shape of the view, which has no axes of size 1; -1 if
 * there is none. */
int pe_find_query_tensor(const pe_request *request, const char *name, const pe_view *view);

#endif
