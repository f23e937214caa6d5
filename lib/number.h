/* Numbers as text: JSON's grammar in, shortest decimals out; never the locale's. */
#ifndef PE_NUMBER_H
#define PE_NUMBER_H

#include <stdbool.h>
#include <stddef.h>

/* Read the number that is the whole of text[0, length), in JSON's grammar (no blank, plus sign,
 * leading zero, hex, NaN or infinity), as the nearest double. False if it is none. A number
 * beyond the range of double comes back as ±HUGE_VAL. */
bool pe_parse_number(const char *text, size_t length, double *ret_number);

#endif
