/* A line of a bias of attention scores: what one query adds to its keys. */
#ifndef PE_BIAS_LINE_H
#define PE_BIAS_LINE_H

#include "recognise/observation.h"

/* A straight line that rises to a peak of 0 or falls from it. */
typedef struct pe_bias_line {
    bool masked;  /* keys after the query have -inf */
    double slope; /* per key, above 0 */
    int64_t zero; /* the key at which the line is 0, which may lie outside */
} pe_bias_line;

/* Read the last query's line of the first head of a bias [heads, keys] or [heads, queries,
 * keys]. False: it is not straight, or cannot be read. */
bool pe_bias_line_read(const pe_view *view, pe_bias_line *ret_line);

#endif
