/* One axis of a table that is read at other positions than its own, with weights that are exact
 * fractions. Positions and weights are those of PyTorch's `interpolate`.
 *
 * Source cell j lies at j + 1/2, target cell d at (d + 1/2)·ratio; with align_corners the first
 * and the last cells of both lie on each other. A target cell is the weighted sum of the source
 * cells around it, its taps. Cells outside of the source are those at its ends. */
#ifndef PE_RESAMPLE_H
#define PE_RESAMPLE_H

#include "numerics/dd.h"

#include <stdbool.h>
#include <stddef.h>

typedef enum pe_filter {
    PE_NEAREST, /* source cell floor(d · ratio) alone */
    PE_LINEAR,  /* 1 - x at the distance x */
    PE_CUBIC,   /* Keys' cubic convolution with a = -3/4; antialiased with a = -1/2 */
} pe_filter;

#define PE_RESAMPLE_MAX    131072 /* the most cells of an axis */
#define PE_RESAMPLE_SHRINK 15     /* the largest ratio where it is antialiased */
#define PE_RESAMPLE_TAPS   64     /* more than the most taps of a cell */

typedef struct pe_resample {
    pe_filter filter;
    bool align_corners;
    bool antialias; /* widen the filter by the ratio where that is above 1; weights are divided
                     * by their sum */
    uint64_t source, target; /* numbers of cells */
    /* source cells in a target cell, in lowest terms; the numerator has up to 84 bits */
    uint64_t ratio_high, ratio_low, divisor;
} pe_resample;

/* Read `target` cells out of `source`, at the ratio source/target. */
pe_resample pe_resample_to_size(pe_filter filter, bool align_corners, bool antialias,
                                uint64_t source, uint64_t target);

/* The same at the ratio numerator/factor for a factor from 2^-10 to 2^18 and a numerator up to
 * PE_RESAMPLE_MAX; neither antialiased nor with aligned corners. */
pe_resample pe_resample_by_factor(pe_filter filter, uint64_t source, uint64_t target,
                                  uint64_t numerator, double factor);

/* A target cell: tap t < count is source cell first + t, limited to 0 … source - 1, at the
 * distance |t·step - start| / unit. */
typedef struct pe_taps {
    int64_t first;
    size_t count;
    int64_t step, start, unit;
    pe_filter filter;
    bool antialias;
} pe_taps;

pe_taps pe_resample_find_taps(const pe_resample *axis, uint64_t index);

/* The source cell of a tap. */
uint64_t pe_resample_cell(const pe_resample *axis, const pe_taps *taps, size_t tap);

#define PE_WEIGHT_LIMBS 3

/* An integer; the magnitude's least significant limb first. */
typedef struct pe_weight {
    bool negative;
    uint64_t limb[PE_WEIGHT_LIMBS];
} pe_weight;

/* The weight of a tap is weight / total: integers. */
pe_weight pe_taps_weight(const pe_taps *taps, size_t tap);
pe_weight pe_taps_total(const pe_taps *taps);

/* All weights of a cell as double-doubles, with a relative error below 2^-97. Returns whether
 * they are exact, each a single double. */
bool pe_taps_weights(const pe_taps *taps, dd *ret_weights);

#endif
