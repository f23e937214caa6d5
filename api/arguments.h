/* Arguments of a request, from a query string or a JSON body. */
#ifndef API_ARGUMENTS_H
#define API_ARGUMENTS_H

#include "api.h"

#define API_ARGUMENTS_MAX 64

typedef struct api_arguments {
    pe_argument items[API_ARGUMENTS_MAX];
    size_t count;
    char *text; /* what the items point into */
} api_arguments;

/* Read a raw query (what follows the `?`, or NULL): percent-decoding, `+` as a blank, UTF-8.
 * Every name needs a value. Problems go to reterr; the rest is still read, and what is
 * unreadable is an argument without text. */
void api_arguments_from_query(const char *query, api_arguments *ret_arguments,
                              pe_error *reterr);

/* Read one flat JSON object of numbers, strings, booleans and arrays of numbers. False if the
 * body is no JSON object at all: then there is nothing to finish. */
bool api_arguments_from_json(const char *body, size_t size, api_arguments *ret_arguments,
                             pe_error *reterr);

/* Take an argument out by name, of any kind; false if there is none to read. A second one of
 * the name is a problem. */
bool api_arguments_take_any(api_arguments *arguments, const char *name,
                            pe_argument *ret_argument, pe_error *reterr);

/* Take an argument out by name: its text, or NULL if there is none to read. A second one of the
 * name, or one that JSON did not write as a string, is a problem. */
const char *api_arguments_take(api_arguments *arguments, const char *name, pe_error *reterr);

void api_arguments_done(api_arguments *arguments);

/* Whether text[0, size) is UTF-8 without NUL. */
bool api_is_utf8(const char *text, size_t size);

#endif
