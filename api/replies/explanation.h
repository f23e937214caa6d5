/* What is wrong with a table, as JSON. */
#ifndef API_EXPLANATION_H
#define API_EXPLANATION_H

#include "http/arguments.h"

#include <jansson.h>

/* Write the arguments of a scheme as explaining takes them; "" if they are longer. */
void api_explained_query(const api_arguments *arguments, char dst[PE_IDENTITY_QUERY_MAX]);

#define API_EXPLAINED_FEW 4 /* entries that are wrong need no explanation */

/* The explanation of a table, or of the result of an application, where the view is NULL: what
 * is wrong in a sentence, the parameters to change, the request that fits, and the figures
 * after the change. NULL or incomplete without memory, which api_document_text notices. */
json_t *api_explanation_document(const pe_explanation *explanation, const pe_scheme *scheme,
                                 const pe_view *view);

#endif
