/* Tables in texts, JSON or CSV: their numbers are read into memory as elements. */
#ifndef API_TEXT_TABLE_H
#define API_TEXT_TABLE_H

#include "files/table_file.h"

/* The numbers of a text while they are read. */
typedef struct api_numbers {
    char *elements; /* from malloc */
    pe_dtype dtype;
    uint64_t count, room;
} api_numbers;

/* All of a file with a NUL behind it, from malloc. NULL, and a problem, if there is no memory
 * for it or the file cannot be read. */
char *api_text_load(const api_file *file, pe_error *reterr);

/* Make room for at most `room` numbers; false, and a problem, if these are more than `most`, or
 * there is no memory for them. The dtype has been set. */
bool api_numbers_begin(api_numbers *numbers, uint64_t room, uint64_t most, pe_error *reterr);

/* Append the number that text[0, length) is: one in JSON's grammar, or nan, inf or infinity
 * with or without a sign, in any case. A NUL or what continues no number follows it. False: it
 * is something else, there is no room, or no element of the dtype is such a number. */
bool api_numbers_read(api_numbers *numbers, const char *text, size_t length);
bool api_numbers_add(api_numbers *numbers, double number);

/* View the numbers as a table of the shape that a view has, and hand them over. False, and a
 * problem, if they are not as many. */
bool api_numbers_view(api_numbers *numbers, const pe_view *shape, api_segment *ret_elements,
                      pe_view *ret_view, pe_error *reterr);

#endif
