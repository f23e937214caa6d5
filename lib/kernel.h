/* The inner loops of the trigonometric tables, compiled once for each instruction set.
 *
 * All are plain C that compilers vectorise: products and sums in a fixed order, no fused
 * multiply-add, no library function. So every build of them, and every instruction set, gives
 * the same bits. */
#ifndef PE_KERNEL_H
#define PE_KERNEL_H

#include "matrix.h"
#include "pairs.h"
#include "posenc.h"
#include "print.h"

/* Sines and cosines of some angles, side by side. */
typedef struct pe_sincos {
    const double *sin, *cos;
} pe_sincos;

#define PE_KERNEL_PAIRS 64 /* the most pairs, and the most rows, of one call */
#define PE_KERNEL_ROWS  64

/* Where rotated rows go: row r at sines + r·stride and cosines + r·stride, or by turns (sin,
 * cos, sin, …) at sines + r·stride where cosines is NULL; past the caches if `streamed`. */
typedef struct pe_rows {
    unsigned char *sines, *cosines;
    size_t stride; /* bytes */
    bool streamed;
} pe_rows;

/* Rotate a by each of b[0 … rows) for `count` pairs, round to the dtype and store: sin(a + b)
 * and cos(a + b). Bit r of the result is set if an entry of row r might be rounded wrongly (it
 * lies within 2^-50 of a rounding boundary, or is small): the caller then makes that row anew.
 */
typedef uint64_t pe_rotate(pe_sincos a, const pe_sincos *b, size_t rows, size_t count,
                           const pe_rows *to);

typedef struct pe_kernel {
    const char *name;

    /* sin and cos of 2π·phase/2^64, each within 0.62 of 2^-53. */
    void (*seed)(const uint64_t *phases, size_t count, double *ret_sin, double *ret_cos);

    /* Add 128-bit steps to 128-bit phases, modulo 2^128. */
    void (*advance)(uint64_t *high, uint64_t *low, const uint64_t *step_high,
                    const uint64_t *step_low, size_t count);

    pe_rotate *rotate[PE_DTYPE_COUNT]; /* NULL for i32; f64 is never doubtful */

    /* Copy past the caches where the processor can; `fence` ends a series of such stores. */
    void (*stream)(void *dst, const void *src, size_t size);
    void (*fence)(void);

    const pe_print_batches *print;
    pe_matrix_multiply *multiply;
    pe_pairs *pairs;
} pe_kernel;

/* sin and cos of 2πj/64, and what rounding left of them. */
typedef struct pe_kernel_row {
    double sin, sin_rest, cos, cos_rest;
} pe_kernel_row;
extern const pe_kernel_row pe_kernel_table[64];

/* The best kernel for this processor. */
const pe_kernel *pe_kernel_get(void);

/* All kernels that this processor can run, worst first, and the means to choose one: for tests
 * and measurements. NULL goes back to the best. */
size_t pe_kernel_list(const pe_kernel *ret_kernels[8]);
void pe_kernel_use(const pe_kernel *kernel);

#endif
