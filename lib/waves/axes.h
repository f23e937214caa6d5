/* Rows of cosines or sines whose frequencies belong to several axes: each axis has a position
 * of its own in every row, and turns some of the pairs. */
#ifndef PE_AXES_H
#define PE_AXES_H

#include "waves/wave.h"

#define PE_AXES_MAX 4

/* The columns of the entry of pair p, of `count` pairs. */
typedef enum pe_pair_layout {
    PE_PAIRS_ONCE,              /* p */
    PE_PAIRS_IN_HALVES,         /* p and count + p */
    PE_PAIRS_ADJACENT,          /* 2p and 2p + 1 */
    PE_PAIRS_IN_HALVES_OF_AXES, /* j and n + j of the columns of its axis, as its pair j of n;
                                 * the pairs of an axis are neighbours */
} pe_pair_layout;

/* The pairs of one axis, in ascending order. */
typedef struct pe_axis_pairs {
    size_t count, still; /* pairs; the last `still` of them have frequency 0 */
    pe_wide *frequencies;
    uint32_t *columns; /* of the first entry of each pair */
    size_t copy;       /* from there to the second entry; 0 if there is none */
} pe_axis_pairs;

typedef struct pe_axes {
    size_t count;          /* axes, at most PE_AXES_MAX */
    size_t pairs;          /* with those that no axis turns */
    int32_t *axis_of_pair; /* -1: none */
    pe_wide *frequencies;  /* of each pair, in turns per position */
    pe_pair_layout layout;
    dd amplitude; /* every entry is multiplied by it */
    pe_dtype dtype;

    /* set by pe_axes_ready */
    pe_axis_pairs axes[PE_AXES_MAX + 1]; /* the one after the last has the pairs of no axis */
    pe_wide *sorted;                     /* the frequencies axis by axis */
    uint32_t *columns;                   /* the columns axis by axis */
} pe_axes;

/* Allocate the arrays for axes->pairs pairs, which belong to no axis and have frequency 0.
 * False if memory ran out. */
bool pe_axes_init(pe_axes *axes, pe_pace *pace);

/* Sort the pairs by their axes, once layout, axis_of_pair and frequencies are set. */
void pe_axes_ready(pe_axes *axes);

size_t pe_axes_row_bytes(const pe_axes *axes);

/* Write the entries of one axis in rows [first, first + rows) of its positions, the columns of
 * other axes left alone. Row `first` begins at `dst`, each other one `stride` bytes after the
 * one before it. */
void pe_axes_write(const pe_axes *axes, size_t axis, bool cosine, const pe_positions *positions,
                   uint64_t first, uint64_t rows, unsigned char *dst, size_t stride);

/* Copy the entries of one axis, or of no axis (axes->count), from a row to `rows` others. */
void pe_axes_repeat(const pe_axes *axes, size_t axis, const unsigned char *row, uint64_t rows,
                    unsigned char *dst, size_t stride);

/* Write a row whose angles are all 0. */
void pe_axes_write_still(const pe_axes *axes, bool cosine, unsigned char *row);

#endif
