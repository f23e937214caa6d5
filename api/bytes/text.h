/* Text that grows as it is appended to: for bodies that are too large, or asked for too often,
 * to be made by a JSON library. */
#ifndef API_TEXT_H
#define API_TEXT_H

#include <stdbool.h>
#include <stddef.h>

typedef struct api_text {
    char *data;
    size_t size, capacity;
    bool block;           /* the data is from pe_buffer_allocate, not from malloc */
    struct pe_pool *pool; /* of the block, or NULL */
    bool failed;          /* memory ran out: further calls add nothing */
} api_text;

/* Begin a text of about `expected` bytes. A large one lies in a block of pe_buffer_allocate, as
 * tables do, of a pool or NULL. A text that is set to zeros needs no beginning. */
void api_text_begin(api_text *text, struct pe_pool *pool, size_t expected);

/* Make room for `more` bytes and return the end of the text; NULL without memory. The caller
 * writes there and adds the bytes that it wrote to `size`. */
char *api_text_room(api_text *text, size_t more);

/* Append by a printf format. */
void api_text_add(api_text *text, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Append `length` bytes. */
void api_text_put(api_text *text, const char *string, size_t length);

/* Append a number as a query would write it: integers without a point. */
void api_text_add_number(api_text *text, double number);

/* Hand over the data, from malloc and ended by NUL, and leave the text empty; NULL without
 * memory. The text must have begun as zeros, so that it is not a block. */
char *api_text_take(api_text *text);

/* Free the data and leave the text empty. */
void api_text_done(api_text *text);

#endif
