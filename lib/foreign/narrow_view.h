/* Tables whose numbers were rounded to a shorter format and stored in a longer one. */
#ifndef PE_NARROW_VIEW_H
#define PE_NARROW_VIEW_H

#include "posenc.h"

typedef struct pe_narrow_view {
    pe_view source;  /* the table as it is stored */
    pe_dtype dtype;  /* that of its numbers */
    int digits;      /* of these, significant bits: fewer than the dtype's of TF32 */
    bool decimals;   /* they were read from the shortest decimals of the dtype's elements */
    uint64_t others; /* numbers that are not of it: few */
} pe_narrow_view;

/* Find the shortest real format that has all numbers of a table of reals, if that is shorter
 * than the table's dtype, and the numbers need all of its digits: small whole numbers and their
 * halves are in every format. Where no format has them, they may be what the shortest decimals
 * of elements of one read as, as in a text of the table that was read in a longer dtype: if
 * each of them is, and some need more decimal digits than the format can tell apart at least.
 * Few numbers may be others. False: there is none, or the view cannot be read. The first
 * entries decide of most tables. */
bool pe_narrow_view_find(const pe_view *view, pe_narrow_view *ret_narrow);

/* View a table as elements of the dtype that was found. `narrow`, and the source's context,
 * outlive it. */
pe_view pe_narrow_view_make(pe_narrow_view *narrow);

/* Find to how many decimal places, at most 8, all finite numbers of a table of reals were
 * rounded, but for few: the least k such that each is the element nearest to a multiple of
 * 10^-k, and elements near it are nearer to each other than that. Nothing is found, with
 * *ret_found false, if too few of them tell: 1/32 must be no fractions of a power of two.
 * False: the view cannot be read, or memory ran out. */
bool pe_view_find_decimals(const pe_view *view, int *ret_decimals, bool *ret_found);

#endif
