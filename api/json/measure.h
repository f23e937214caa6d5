/* What a JSON text would become, found out without parsing it. */
#ifndef API_JSON_MEASURE_H
#define API_JSON_MEASURE_H

#include "posenc.h"

typedef struct api_json_measure {
    size_t containers, strings, others; /* objects and arrays; with names; numbers and words */
    uint64_t bytes; /* at most as many does jansson allocate to read the text */
} api_json_measure;

/* Count the values of a text in one pass, without memory. Of a text that is not JSON the counts
 * hold for what precedes the mistake, or are larger. */
api_json_measure api_json_count(const char *text, size_t size);

/* A number of a text that a double does not keep (pe_number_is_kept), what it becomes, and the
 * string before it, which is its name where it is a member. */
typedef struct api_rounded_number {
    const char *name, *text;
    size_t name_size, size;
    double number;
} api_rounded_number;

/* Find the first one. False: there is none. */
bool api_json_find_rounded(const char *text, size_t size, api_rounded_number *ret_found);

/* Reserve what reading the text takes, and `copies` more bytes for each of its own; false, and
 * a problem, if there is no room. */
bool api_json_reserve(const api_json_measure *found, size_t size, size_t copies,
                      pe_error *reterr);

#endif
