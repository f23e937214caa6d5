/* Sines or cosines of small angles: the inner loop of waves whose last frequencies hardly turn.
 */
#ifndef PE_SMALL_H
#define PE_SMALL_H

#include "numerics/dd.h"
#include "posenc.h"

#include <stdbool.h>
#include <stddef.h>

#define PE_SMALL_ANGLE     0x1p-6 /* the largest angle in radians */
#define PE_SMALL_ANGLE_F64 0x1p-14
#define PE_TINY_ANGLE      0x1p-26 /* below it a sine is nearly its angle */

/* A position, frequencies in radians per position, and an amplitude: each in double-double, of
 * which only f64 reads the second part. */
typedef struct pe_small_angles {
    dd position, amplitude;
    const double *frequencies, *frequency_rests;
    size_t count; /* of frequencies, at most PE_KERNEL_PAIRS */
    bool is_tiny; /* all angles are below PE_TINY_ANGLE */
} pe_small_angles;

/* Compute sines, or cosines, of position times frequency, times the amplitude. Each is known to
 * within 2^-49 of itself, or 2^-78 for f64: what the two ends of that interval round to goes to
 * ret_below and ret_above. Angles of f64 that are so small that products underflow get
 * different numbers, one of them NaN.
 *
 * The position and the amplitude are within 2^-53 of what they stand for, frequencies within
 * 5·2^-53; for f64 all are within 2^-102. */
typedef void pe_small(pe_dtype dtype, const pe_small_angles *angles, bool cosine,
                      void *ret_below, void *ret_above);

#endif
