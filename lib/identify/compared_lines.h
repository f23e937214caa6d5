/* Lines of a table and of the exact one beside each other, for trials. */
#ifndef PE_COMPARED_LINES_H
#define PE_COMPARED_LINES_H

#include "identify/explanation_trial.h"

#include <math.h>

/* Columns of a view: the extent of its last axis. Lines along that, and reading one. */
uint64_t pe_view_columns(const pe_view *view);
uint64_t pe_view_lines(const pe_view *view);
bool pe_view_read_line(const pe_view *view, uint64_t line, double *dst);

/* The tensor of a request, what its entries lose if that is needed, and a line of each. */
typedef struct pe_compared_lines {
    pe_request *request, *lossy;
    size_t tensor;
    pe_stream *stream, *losses;
    uint64_t columns;
    double *found, *exact, *lost;
    unsigned char *elements;
    uint64_t differing; /* entries of the lines that were compared */
    double max_abs;     /* of these */
} pe_compared_lines;

/* Open the tensor, which has the shape of the view; false if there is none, or it may not be
 * computed. pe_compared_lines_close frees what is held either way. */
bool pe_compared_lines_open(pe_compared_lines *lines, pe_trial *trial, const char *query,
                            const char *tensor, const pe_view *view);
void pe_compared_lines_close(pe_compared_lines *self);

/* An entry times a factor; a mask stays, whatever the sign. */
static inline double pe_entry_times(double entry, double factor)
{
    return isinf(entry) ? entry : factor * entry;
}

/* Read a line of the view, and one of the exact tensor. */
bool pe_compared_lines_read(pe_compared_lines *lines, const pe_trial *trial,
                            const pe_view *view, uint64_t line, uint64_t exact_line);

/* Whether these are equal within the tolerance, but for a factor. */
bool pe_compared_lines_fit(pe_compared_lines *lines, const pe_trial *trial, const pe_view *view,
                           uint64_t line, uint64_t exact_line, double factor);

#endif
