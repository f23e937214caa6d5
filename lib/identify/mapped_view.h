/* A table whose elements have been mapped, as a view like any other. */
#ifndef PE_MAPPED_VIEW_H
#define PE_MAPPED_VIEW_H

#include "posenc.h"

typedef enum pe_mapping {
    PE_MAP_COSINE, /* of an element, in radians */
    PE_MAP_SINE,
    PE_MAP_NEGATE,
    PE_MAP_DIVIDE,       /* by the number */
    PE_MAP_UNMASK,       /* keys after the query get -inf for a masked element */
    PE_MAP_UNMASK_BY_KEY /* the same, what the last query has of their key */
} pe_mapping;

typedef struct pe_mapped_view {
    pe_view source;
    pe_mapping mapping;
    double number; /* what divides; what masks: this or, if it is below 0, at most half of it */
    pe_dtype dtype;
    unsigned char *elements;
} pe_mapped_view;

#define PE_MAPPED_BYTES_MAX ((uint64_t)8 << 20) /* of a table that is mapped */

/* View a table of a real dtype, of at least one axis, with its elements mapped and rounded to
 * its dtype: row-major, in native byte order, and held until pe_mapped_view_done. `mapped` must
 * not move; the source's context outlives it, which is read whenever the view is, so that a
 * search runner goes on to ask. False: it is too large, memory ran out or it cannot be read. */
bool pe_mapped_view_init(pe_mapped_view *mapped, const pe_view *source, pe_mapping mapping,
                         double number, pe_view *ret_view);
void pe_mapped_view_done(pe_mapped_view *mapped);

/* Whether an element masks a key. */
bool pe_mapped_view_masks(double number, double element);

#endif
