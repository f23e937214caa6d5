/* The kernels: the inner loops that are compiled once per instruction set. They rotate and
 * round sines and cosines, print numbers, multiply matrices, compare pairs of rows, add up
 * weighted rows, apply encodings to rows and draw random numbers.
 *
 * They are plain C that compilers vectorise, with intrinsics where those are faster. Every
 * build gives the same bits. Anchors and sums use a fixed order of operations without fused
 * multiply-add and without library functions. Entries are rounded correctly or reported as
 * uncertain, so the order of operations does not show. */
#ifndef PE_KERNEL_H
#define PE_KERNEL_H

#include "kernels/applying.h"
#include "kernels/bits.h"
#include "kernels/curves.h"
#include "kernels/draw.h"
#include "kernels/lines.h"
#include "kernels/matrix.h"
#include "kernels/overlay.h"
#include "kernels/pairs.h"
#include "kernels/print_batch.h"
#include "kernels/scale.h"
#include "kernels/small.h"
#include "kernels/weigh.h"
#include "posenc.h"

#include <stdalign.h>

/* Sines and cosines of the same angles, in two arrays. */
typedef struct pe_sincos {
    const double *sin, *cos;
} pe_sincos;

#define PE_KERNEL_PAIRS 64 /* the most pairs of one call, and the size of its arrays */
#define PE_KERNEL_ROWS  64 /* the most rows on one side of one call */

/* Tables from this many bytes on are written with non-temporal stores: they would evict
 * everything else from the processor's caches and still not fit. */
#define PE_NONTEMPORAL_MIN (8 << 20)

/* Where rotated rows are stored. Row r has its sines at sines + r·stride and its cosines at
 * cosines + r·stride. If cosines is NULL, row r holds pairs (sin, cos, sin, cos, …) at
 * sines + r·stride, or sines alone. */
typedef struct pe_rows {
    unsigned char *sines, *cosines;
    ptrdiff_t stride; /* bytes */
    bool alone;       /* sines alone; for cosines, rotate angles a quarter turn ahead */
} pe_rows;

/* How rows are rounded and stored. */
typedef struct pe_rounding {
    int exponent;     /* no entry exceeds 2^exponent, PE_EXPONENT_MIN … PE_EXPONENT_MAX */
    bool nontemporal; /* store past the caches (non-temporal stores) */
} pe_rounding;

/* An entry is uncertain if it lies within 2^(exponent - PE_CERTAIN_BITS) of a rounding
 * boundary. */
#define PE_CERTAIN_BITS 50
#define PE_EXPONENT_MIN (-80)
#define PE_EXPONENT_MAX 13

/* The rows that have an uncertain entry: bit r stands for row r. */
typedef struct pe_unsettled {
    uint64_t ahead, behind;
} pe_unsettled;

/* Rotate the `count` pairs of a by each of b[0] … b[rows - 1], round to the dtype and store:
 * sin(a + b[r]) and cos(a + b[r]) in row r of `ahead`, sin(a - b[r]) and cos(a - b[r]) in row r
 * of `behind`, unless that is NULL. Returns the rows that the caller must compute again,
 * because an entry is uncertain. */
typedef pe_unsettled pe_rotate(pe_sincos a, const pe_sincos *b, size_t rows, size_t count,
                               const pe_rows *ahead, const pe_rows *behind,
                               pe_rounding rounding);

/* Sines and cosines of some angles. */
typedef struct pe_anchors {
    alignas(64) double sin[PE_KERNEL_PAIRS]; /* no vector straddles two cache lines */
    double cos[PE_KERNEL_PAIRS];
} pe_anchors;

static inline pe_sincos pe_sincos_init(const pe_anchors *anchors)
{
    return (pe_sincos){anchors->sin, anchors->cos};
}

/* The same in double-double. */
typedef struct pe_anchors_f64 {
    alignas(64) double sin[PE_KERNEL_PAIRS];
    double sin_rest[PE_KERNEL_PAIRS], cos[PE_KERNEL_PAIRS], cos_rest[PE_KERNEL_PAIRS];
} pe_anchors_f64;

typedef struct pe_kernel {
    const char *name;

    /* Compute sin and cos of 2π·phase/2^64, each with an error below 0.62·2^-53. */
    void (*anchor)(const uint64_t *phases, size_t count, double *ret_sin, double *ret_cos);

    /* sin and cos of 2π·phase/2^128, each within 2^-101. */
    void (*anchor_f64)(const uint64_t *high, const uint64_t *low, size_t count,
                       pe_anchors_f64 *ret_anchors);

    /* As `rotate` for f64: what a and b give is known to within `error`; rows in which that may
     * change a rounding are doubtful. */
    pe_unsettled (*rotate_f64)(const pe_anchors_f64 *a, const pe_anchors_f64 *b, size_t rows,
                               size_t count, const pe_rows *ahead, const pe_rows *behind,
                               double error, bool nontemporal);

    /* Add a 128-bit step to each 128-bit phase, modulo 2^128. */
    void (*advance)(uint64_t *high, uint64_t *low, const uint64_t *step_high,
                    const uint64_t *step_low, size_t count);

    pe_rotate *rotate[PE_DTYPE_COUNT]; /* NULL for i32; that of f64 stores doubles as they come,
                                        * sines and cosines apart and not past the caches, for
                                        * rows that the kernel does not round */

    /* Copy with non-temporal stores, where the processor has them. Call `fence` after the last
     * of a series of such copies. */
    void (*stream)(void *dst, const void *src, size_t size);
    void (*fence)(void);

    const pe_print_batches *print;
    pe_matrix_multiply *multiply;
    pe_pairs *pairs;
    pe_spread_bits *spread_bits;
    const pe_lines *lines;
    const pe_curves *curves;
    pe_small *small;
    pe_draw_many *draw;
    pe_draw_variables *normals, *truncated;
    pe_draw_variables *near_normals;   /* within PE_NEAR_NORMAL, NaN where u is 0 */
    pe_draw_variables *near_truncated; /* within PE_NEAR_TRUNCATED */
    pe_scale *scale;
    pe_bracket *bracket;
    pe_weigh *weigh;
    pe_overlay *overlay;
    const pe_applying *applying;
} pe_kernel;

/* The kernel in use: the fastest one for this processor, unless pe_kernel_use chose another. */
const pe_kernel *pe_kernel_get(void);

/* For tests and measurements: list all kernels that this processor can run, slowest first, and
 * choose one. NULL chooses the fastest again. */
size_t pe_kernel_list(const pe_kernel *ret_kernels[8]);
void pe_kernel_use(const pe_kernel *kernel);

#endif
