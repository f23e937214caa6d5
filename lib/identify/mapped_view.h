/* A table whose elements are mapped as they are read, as a view like any other. */
#ifndef PE_MAPPED_VIEW_H
#define PE_MAPPED_VIEW_H

#include "posenc.h"

typedef enum pe_mapping {
    PE_MAP_COSINE, /* of an element, in radians */
    PE_MAP_SINE,
    PE_MAP_NEGATE,
    PE_MAP_NEGATE_FINITE, /* masks stay */
    PE_MAP_SCALE,         /* (element - constant) / factor; masks stay */
    PE_MAP_WHOLE,         /* the same, rounded where the element is a whole number's */
    PE_MAP_MADE           /* the same, rounded where that makes exactly the element */
} pe_mapping;

typedef struct pe_mapped_view {
    pe_view source;
    pe_mapping mapping;
    double factor, constant;
    double unit;         /* of the source */
    pe_dtype own, dtype; /* its elements' and those of the view */
} pe_mapped_view;

/* The dtype that numbers of an element are mapped in: float64 of whole ones. */
pe_dtype pe_get_mapped_dtype(pe_element element);

/* The whole number of which an element is exactly the multiple, plus the constant, rounded to a
 * dtype. False: it is none. */
bool pe_find_whole_number(double element, double factor, double constant, pe_dtype dtype,
                          double *ret_whole);

/* View a table with its elements mapped and rounded to its dtype, or float32 if that is shorter
 * and they are scaled; whole numbers become float64. `mapped` must not move; it and the
 * source's context outlive the view. */
void pe_mapped_view_init(pe_mapped_view *mapped, const pe_view *source, pe_mapping mapping,
                         double factor, double constant, pe_view *ret_view);

#endif
