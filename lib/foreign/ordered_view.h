/* A matrix whose columns come in another order, as a view like any other. */
#ifndef PE_ORDERED_VIEW_H
#define PE_ORDERED_VIEW_H

#include "posenc.h"

typedef struct pe_ordered_view {
    pe_view source;        /* the matrix as it is */
    const uint16_t *order; /* [columns]: which column of the source each column is */
    uint64_t at_once;      /* rows that `rows` has room for */
    unsigned char *rows;   /* of the source, which are held: */
    uint64_t first, end;   /* from one on, before another one */
} pe_ordered_view;

/* View a matrix with its columns in another order: row-major and in native byte order. Some
 * rows at a time are read and held, so one thread may read the view. The source's context and
 * `order` outlive it. False: memory ran out; `ordered` may be done then, too. */
bool pe_ordered_view_init(pe_ordered_view *ordered, const pe_view *source,
                          const uint16_t *order, pe_view *ret_view);
void pe_ordered_view_done(pe_ordered_view *ordered);

#endif
