/* The value of a format's option in one request. */
#ifndef API_OPTION_H
#define API_OPTION_H

#include "writers/format.h"

#define API_OPTIONS_MAX  8                 /* names of options, of all formats together */
#define API_OPTION_ITEMS (PE_RANK_MAX - 2) /* the most items of a list */

/* The options that a request gives. The first one whose row is NULL ends them. */
typedef struct api_options {
    struct {
        const pe_parameter *row;
        pe_value value;                 /* absent if the text that is given cannot be read */
        double items[API_OPTION_ITEMS]; /* of a list; the value points to them */
    } given[API_OPTIONS_MAX];
} api_options;

/* The value of the option that `row` describes: the one that is given, or the default. */
pe_value api_option(const api_selection *selection, const pe_parameter *row);

#endif
