/* Text that grows, for bodies too large or too hot for a JSON library. */
#ifndef API_TEXT_H
#define API_TEXT_H

#include <stdbool.h>
#include <stddef.h>

typedef struct api_text {
    char *data; /* from malloc; of a block from pe_buffer_allocate */
    size_t size, capacity;
    bool block;
    bool failed; /* memory ran out; further writes do nothing */
} api_text;

/* Begin a text of about so many bytes: in a block, as tables are, if that is large. */
void api_text_begin(api_text *text, size_t expected);

/* Room for `more` bytes at the end; NULL without memory. The caller adds to size what it used.
 */
char *api_text_room(api_text *text, size_t more);

void api_text_add(api_text *text, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* The same without a format. */
void api_text_put(api_text *text, const char *string, size_t length);

/* Append a number as a query would write it: integers without a point. */
void api_text_add_number(api_text *text, double number);

/* The text, from malloc and ended by NUL, where nothing was expected of it at its beginning and
 * something was added; NULL without memory. The text is empty then. */
char *api_text_take(api_text *text);

/* Free the data. */
void api_text_done(api_text *text);

#endif
