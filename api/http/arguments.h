/* Reading the arguments of a request, from a query string or a JSON body. */
#ifndef API_ARGUMENTS_H
#define API_ARGUMENTS_H

#include "api.h"

#include <jansson.h>

#define API_ARGUMENTS_MAX 64
#define API_NAMES_MAX     64

typedef struct api_arguments {
    pe_argument items[API_ARGUMENTS_MAX];
    size_t count;
    char *text;                       /* holds the names and texts of the items */
    const char *names[API_NAMES_MAX]; /* of options that an endpoint takes, ended by NULL */
} api_arguments;

/* Add the names of rows that an endpoint takes besides the parameters of a scheme. */
void api_arguments_add_names(api_arguments *arguments, const pe_parameter *rows, size_t count);

/* Take the rows of options out of the arguments, and add their names. */
pe_options *api_options_take(const pe_parameter *rows, size_t count, api_arguments *arguments,
                             pe_error *reterr);

/* Read a raw query, the part of the target after the `?`, or NULL: percent-decoded, with `+`
 * for a blank, in UTF-8. Every name needs a value. Problems are added to reterr; the other
 * arguments are still read, and a name whose value cannot be read is an argument without text.
 */
void api_arguments_from_query(const char *query, api_arguments *ret_arguments,
                              pe_error *reterr);

/* A pair of a raw query, name=value, where it stands. */
typedef struct api_query_pair {
    const char *text;
    size_t size, name; /* bytes of it, and of its name */
} api_query_pair;

/* Take the next pair of a raw query, of which `rest` is what is left. False at its end, or if
 * it is NULL. */
bool api_query_next(const char **rest, api_query_pair *ret_pair);

/* Read one flat JSON object of numbers, strings, booleans and arrays of numbers. False if the
 * body is not a JSON object: then a problem was added, and api_arguments_done need not be
 * called. */
bool api_arguments_from_json(const char *body, size_t size, api_arguments *ret_arguments,
                             pe_error *reterr);

/* The most values of a JSON body beside numbers: those of a full batch, and some more. */
#define API_BODY_CONTAINERS 8192
#define API_BODY_STRINGS    16384

/* Parse JSON, numbers as reals, in memory that has been reserved; problems say that the body
 * must be `what`. NULL if it is no JSON: then a problem was added. */
json_t *api_json_parse(const char *text, size_t size, const char *what, pe_error *reterr);

/* Read a JSON object, numbers as reals. NULL if the body is none: then a problem was added. */
json_t *api_object_from_json(const char *body, size_t size, pe_error *reterr);

/* Read the members of an object that api_object_from_json has read. */
void api_arguments_from_object(const json_t *object, api_arguments *ret_arguments,
                               pe_error *reterr);

void api_arguments_done(api_arguments *arguments);

/* The argument of a name; NULL if there is none. */
const pe_argument *api_argument_find(const pe_argument *arguments, size_t count,
                                     const char *name);

/* Whether text[0, size) is UTF-8 without a NUL. */
bool api_is_utf8(const char *text, size_t size);

#endif
