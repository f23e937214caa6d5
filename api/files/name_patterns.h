/* Lists of names and patterns, joined by commas: which tensors of a file are asked for. */
#ifndef API_NAME_PATTERNS_H
#define API_NAME_PATTERNS_H

#include "posenc.h"

#include <jansson.h>

#define API_NAME_PATTERNS_MAX 64 /* each is compared with every tensor of a file */

typedef struct api_names {
    char *text;    /* that of the list, with a NUL behind each item */
    json_t *exact; /* names without a star, as the keys of an object */
    const char *patterns[API_NAME_PATTERNS_MAX]; /* in which a star stands for any text */
    size_t end_sizes[API_NAME_PATTERNS_MAX]; /* of those that are a star and an end; else 0 */
    size_t pattern_count;
} api_names;

/* Read the list of an option. False: a problem was added. Call api_names_done in any case. */
bool api_names_read(const char *list, const char *option, api_names *ret_names,
                    pe_error *reterr);
void api_names_done(api_names *names);

/* Whether a name is in the list, or fits a pattern of it. */
bool api_names_have(const api_names *names, const char *name);

/* The tensor of a file whose name shares most letters with the first of the list, at its
 * beginning and at its end; NULL: none shares any. */
const char *api_names_nearest(const api_names *names, const json_t *header);

#endif
