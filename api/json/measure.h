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

/* Reserve what reading the text takes, and `copies` more bytes for each of its own; false, and
 * a problem, if there is no room. */
bool api_json_reserve(const api_json_measure *found, size_t size, size_t copies,
                      pe_error *reterr);

#endif
