/* The inner loops of the trigonometric tables, compiled once for each instruction set.
 *
 * Plain C that compilers vectorise, and intrinsics where they do better. Every build of them,
 * and every instruction set, gives the same bits: seeds and f64 entries are products and sums
 * in a fixed order, without a fused multiply-add or a library function; the other dtypes are
 * rounded correctly or reported as doubtful, so how they were computed does not show. */
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

#define PE_KERNEL_PAIRS 64 /* the most pairs of one call, and room for in every array */
#define PE_KERNEL_ROWS  64 /* the most rows on one side */

#define PE_STREAMED_FROM (8 << 20) /* bytes at once that no cache would keep anyway */

/* Where rotated rows go: row r at sines + r·stride and cosines + r·stride, or by turns (sin,
 * cos, sin, …) at sines + r·stride where cosines is NULL. */
typedef struct pe_rows {
    unsigned char *sines, *cosines;
    ptrdiff_t stride; /* bytes */
} pe_rows;

/* How rows are rounded and stored. */
typedef struct pe_rounding {
    int exponent;  /* no entry exceeds 2^exponent, PE_EXPONENT_MIN … PE_EXPONENT_MAX */
    bool streamed; /* past the caches */
} pe_rounding;

/* An entry within 2^(exponent - PE_CERTAIN_BITS) of a rounding boundary counts as uncertain. */
#define PE_CERTAIN_BITS 50
#define PE_EXPONENT_MIN (-80)
#define PE_EXPONENT_MAX 13

/* Rows of which an entry is uncertain: bit r of row r. */
typedef struct pe_doubts {
    uint64_t ahead, behind;
} pe_doubts;

/* Rotate a by each of b[0 … rows) for `count` pairs, round to the dtype and store: sin(a + b),
 * cos(a + b) in the rows `ahead`, and sin(a - b), cos(a - b) in the rows `behind` unless that
 * is NULL. The caller makes the rows of the result anew. */
typedef pe_doubts pe_rotate(pe_sincos a, const pe_sincos *b, size_t rows, size_t count,
                            const pe_rows *ahead, const pe_rows *behind, pe_rounding rounding);

typedef struct pe_kernel {
    const char *name;

    /* sin and cos of 2π·phase/2^64, each within 0.62 of 2^-53. */
    void (*seed)(const uint64_t *phases, size_t count, double *ret_sin, double *ret_cos);

    /* Add 128-bit steps to 128-bit phases, modulo 2^128. */
    void (*advance)(uint64_t *high, uint64_t *low, const uint64_t *step_high,
                    const uint64_t *step_low, size_t count);

    pe_rotate *rotate[PE_DTYPE_COUNT]; /* NULL for i32; f64 is never uncertain */

    /* Copy past the caches where the processor can; `fence` ends a series of such stores. */
    void (*stream)(void *dst, const void *src, size_t size);
    void (*fence)(void);

    const pe_print_batches *print;
    pe_matrix_multiply *multiply;
    pe_pairs *pairs;
} pe_kernel;

/* sin 2πj/64 for j = 0 … 79, and what rounding left of it; cos 2πj/64 is at j + 16. */
extern const double pe_kernel_sines[80], pe_kernel_rests[80];

/* The best kernel for this processor. */
const pe_kernel *pe_kernel_get(void);

/* All kernels that this processor can run, worst first, and the means to choose one: for tests
 * and measurements. NULL goes back to the best. */
size_t pe_kernel_list(const pe_kernel *ret_kernels[8]);
void pe_kernel_use(const pe_kernel *kernel);

#endif
