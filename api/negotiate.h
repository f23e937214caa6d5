/* Choosing a representation: `format` beats Accept, Accept is read with q-values and
 * specificity. */
#ifndef API_NEGOTIATE_H
#define API_NEGOTIATE_H

#include "coding.h"
#include "formats.h"

/* The quality from 0 to 1000 that an Accept value gives a media type, or an Accept-Encoding
 * value a coding: that of the most specific range that matches, 0 if none does. NULL accepts
 * everything. ret_specificity: 3 if that range names the type, 2 if it ends in a star, 1 if it
 * is any type, 0 if there is none. */
unsigned api_accept_quality(const char *accept, const char *media_type, int *ret_specificity);

typedef enum api_choice {
    API_CHOSEN,
    API_CHOICE_NOT_ACCEPTABLE, /* nothing that Accept or the codings admit can carry this */
    API_CHOICE_TOO_LARGE,      /* the format asked for by name is over its limit */
    API_CHOICE_REFUSED,        /* the format asked for by name cannot carry the dtype */
    API_CHOICE_WRONG,          /* its options, or those of all that are accepted, are wrong */
} api_choice;

/* Choose a format for the selected tensors. `asked` is the format named by the request, or
 * NULL. ret_reason is a sentence for the failures; of API_CHOICE_WRONG `error` tells instead.
 */
api_choice api_choose_format(const api_format *asked, const char *accept, api_codings codings,
                             const api_selection *selection, const api_host *host,
                             const api_format **ret_format, char *ret_reason,
                             size_t reason_size, pe_error *error);

#endif
