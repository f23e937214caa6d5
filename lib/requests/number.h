/* Reading numbers in JSON's grammar, whatever the locale. posenc.h declares the functions of
 * kernels/print.c, which write them. */
#ifndef PE_NUMBER_H
#define PE_NUMBER_H

#include <stdbool.h>
#include <stddef.h>

/* Read all of text[0, length) as a number in JSON's grammar, which allows no blank, plus sign,
 * leading zero, hex, NaN or infinity. *ret_number is the nearest double, or ±HUGE_VAL for a
 * number beyond the range of double. Returns false if the text is no such number.
 *
 * text[length] must exist and must not continue the number: a NUL or a separator. */
bool pe_parse_number(const char *text, size_t length, double *ret_number);

#endif
