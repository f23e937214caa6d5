/* Text of --help. */
#ifndef WRAPPED_TEXT_H
#define WRAPPED_TEXT_H

#include <stddef.h>
#include <stdio.h>

/* Print words in lines of at most `width` characters. All lines but the first are indented. */
void wrapped_text_print(const char *text, int indent, size_t width, FILE *out);

#endif
