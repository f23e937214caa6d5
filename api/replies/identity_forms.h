/* Saying what a table went through before it is a tensor. */
#ifndef API_IDENTITY_FORMS_H
#define API_IDENTITY_FORMS_H

#include "bytes/text.h"

#include <jansson.h>
#include <posenc.h>

/* Add the forms to a sentence: ", which axis 0 has 2 times". */
void api_forms_add(const pe_identity *identity, api_text *text);

/* The forms, the last one first: kind, place and text. */
json_t *api_forms_list(const pe_identity *identity);

#endif
