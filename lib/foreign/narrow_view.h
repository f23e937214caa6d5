/* Tables whose numbers were rounded to a shorter format and stored in a longer one. */
#ifndef PE_NARROW_VIEW_H
#define PE_NARROW_VIEW_H

#include "posenc.h"

typedef struct pe_narrow_view {
    pe_view source; /* the table as it is stored */
    pe_dtype dtype; /* that of its numbers */
    int digits;     /* of these, significant bits: fewer than the dtype's of TF32 */
} pe_narrow_view;

/* Find the shortest real format that has all numbers of a table of reals, if that is shorter
 * than the table's dtype, and the numbers need all of its digits: small whole numbers and their
 * halves are in every format. False: there is none, or the view cannot be read. The first
 * entries decide of most tables. */
bool pe_narrow_view_find(const pe_view *view, pe_narrow_view *ret_narrow);

/* View a table as elements of the dtype that was found. `narrow`, and the source's context,
 * outlive it. */
pe_view pe_narrow_view_make(pe_narrow_view *narrow);

#endif
