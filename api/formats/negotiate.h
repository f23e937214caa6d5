/* Choosing a format. The parameter `format` takes precedence over Accept; Accept is read with
 * q-values and specificity. */
#ifndef API_NEGOTIATE_H
#define API_NEGOTIATE_H

#include "formats/format.h"
#include "http/coding.h"

typedef enum api_choice {
    API_CHOSEN,
    API_CHOICE_NOT_ACCEPTABLE, /* no format that Accept and the codings admit can be served */
    API_CHOICE_TOO_LARGE,      /* the format that `format` names is over its limit */
    API_CHOICE_REFUSED,        /* the format that `format` names has no such dtype */
    API_CHOICE_WRONG, /* the options are wrong for that format, or for all that are accepted */
} api_choice;

/* What decides the format of an answer. */
typedef struct api_wish {
    const api_format *asked; /* that the request names; NULL: Accept decides */
    const char *accept;      /* NULL: anything */
    api_codings codings;
    const api_selection *selection;
    const api_host *host;
} api_wish;

#define API_REASON_SIZE 512

/* Choose a format for the selected tensors. Where none can be served, ret_reason says why, a
 * phrase that completes "format must be ..." for API_CHOICE_TOO_LARGE; for API_CHOICE_WRONG,
 * problems are added to `error` instead. */
api_choice api_choose_format(const api_wish *wish, const api_format **ret_format,
                             char ret_reason[API_REASON_SIZE], pe_error *error);

#endif
