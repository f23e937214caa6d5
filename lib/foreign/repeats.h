/* Tables that were repeated along an axis, as what a batch or all heads share is. */
#ifndef PE_REPEATS_H
#define PE_REPEATS_H

#include "posenc.h"

/* How the indices of an axis repeat: index i has the elements of i mod `period`, and each
 * element of the period comes `run` times in a row. period 1: all indices are the same. */
typedef struct pe_repeats {
    uint64_t period;    /* indices before they begin again; the extent if they do not */
    uint64_t run;       /* equal indices side by side; 1 if they are not */
    uint64_t differing; /* entries that are not those of the first time */
} pe_repeats;

/* Find how an axis repeats, but for the view's grain and few entries. Only one of both is
 * looked for: the period first. False: the view cannot be read, or memory ran out. */
bool pe_repeats_find(const pe_view *view, size_t axis, pe_repeats *ret_repeats);

/* Whether all indices of an axis are the same, which is all that one reading tells. False: as
 * above. */
bool pe_repeats_are_constant(const pe_view *view, size_t axis, bool *ret_constant);

/* Whether two views of one shape and element type have the same elements, but for their grain
 * and few of them, whose number is added to *differing. False: as above. */
bool pe_views_compare(const pe_view *one, const pe_view *other, bool *ret_same,
                      uint64_t *differing);

/* The view with each of its indices once; an axis of one index stays. */
pe_view pe_repeats_once(const pe_view *view, size_t axis, const pe_repeats *repeats);

/* The view without axes along which it is constant, such that a shape is left that has no axes
 * of size 1 either. *ret_fits: there is such a choice of axes; else ret_view is unset. False:
 * as above. */
bool pe_repeats_fit(const pe_view *view, const pe_view *shape, bool *ret_fits,
                    pe_view *ret_view);

#endif
