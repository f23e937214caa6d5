/* Text that grows, for bodies too large or too hot for a JSON library. */
#ifndef API_TEXT_H
#define API_TEXT_H

#include <stdbool.h>
#include <stddef.h>

typedef struct api_text {
    char *data; /* from malloc */
    size_t size, capacity;
    bool failed; /* memory ran out; further writes do nothing */
} api_text;

/* Room for `more` bytes at the end; NULL without memory. The caller adds to size what it used.
 */
char *api_text_room(api_text *text, size_t more);

void api_text_add(api_text *text, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Append a number as a query would write it: integers without a point. */
void api_text_add_number(api_text *text, double number);

/* Free the data. */
void api_text_done(api_text *text);

#endif
