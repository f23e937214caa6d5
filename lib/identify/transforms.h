/* Transforms that a table may have gone through after it was made: undoing them, and seeing
 * soon where there was none. */
#ifndef PE_TRANSFORMS_H
#define PE_TRANSFORMS_H

#include "identify/mapped_view.h"

/* A table on its way back. */
typedef struct pe_undone {
    pe_view view;                  /* without axes of size 1 */
    size_t axes[PE_VIEW_RANK_MAX]; /* which axis of the given table each of its axes was */
    size_t count;
    pe_transform transforms[PE_TRANSFORMS_MAX];
} pe_undone;

/* Begin with a table as it is given. */
pe_undone pe_undone_begin(const pe_view *view);

/* Add a transform, whose axis is one of the view; false if there are too many. */
bool pe_undone_add(pe_undone *undone, pe_transform transform);

/* Undo all repetitions along axes. False: the view cannot be read, or memory ran out. */
bool pe_undo_repeats(pe_undone *undone);

/* Make the first axes one: *ret_done, if they lie such that strides can say it. */
void pe_undo_grid(pe_undone *undone, bool *ret_done);

/* Leave out columns of zeros at the end of a matrix, or rows of zeros at either end. False: as
 * above. */
bool pe_undo_zero_columns(pe_undone *undone, bool *ret_done);
bool pe_undo_zero_rows(pe_undone *undone, bool *ret_done);

/* The two tensors that a table may have, cosines and sines by the look of it: the sum of their
 * squares is constant. There are PE_PAIRS places to look at, of which most are none. */
typedef struct pe_pair {
    pe_view views[2];
    pe_transform transform;
} pe_pair;

#define PE_PAIRS (PE_VIEW_RANK_MAX + 3)

/* False: as above. */
bool pe_find_pair(const pe_undone *undone, size_t place, pe_pair *ret_pair, bool *ret_found);

/* The factor of a table that has sines and cosines of the same angles among its columns; 0 if
 * it has none, or no factor. False: as above. */
bool pe_find_factor(const pe_view *view, double *ret_factor);

/* Whether a matrix may be angles: most columns grow steadily. False: as above. */
bool pe_detect_angles(const pe_view *view, bool *ret_angles);

/* What the keys after the query have in a bias, if it is the same for all: *ret_found. False:
 * as above. */
bool pe_find_mask(const pe_view *view, double *ret_mask, bool *ret_found);

#endif
