/* Numbers in an arithmetic progression, and rounding many doubles to a dtype: the inner loops
 * of encodings that are positions themselves. */
#ifndef PE_LINES_H
#define PE_LINES_H

#include "posenc.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PE_LINE_MAX 512 /* the most numbers of one call */

/* A double that is "rounded to odd" rounds to every shorter dtype as the exact number does: it
 * is the number cut off, with the last bit set if anything was cut off. */
typedef struct pe_lines {
    /* first + i·step for i < count, where these and all i·step are doubles. */
    void (*exact)(double first, double step, size_t count, double *ret_numbers);

    /* The same rounded to f16 or bf16, where these and all i·step are floats. */
    void (*exact_16)(pe_dtype dtype, float first, float step, size_t count, uint16_t *dst);

    /* offset + (row + i)·step in double-double, as pe_position_get computes it, rounded to
     * double or to odd. The last bits of the products may not underflow. */
    void (*sums)(double offset, double step, double row, size_t count, bool odd,
                 double *ret_numbers);

    /* (row + i) / divisor rounded to double or to odd, for whole numbers with
     * 0 <= row + i <= divisor < PE_DIVISOR_MAX and divisor > 0. */
    void (*quotients)(double row, double divisor, size_t count, bool odd, double *ret_numbers);

    /* Round finite numbers, none of which overflows: nearest element, ties to even, zeros to
     * +0, as pe_round_row does. Not for i32. */
    void (*round)(pe_dtype dtype, const double *numbers, size_t count, void *dst);

    /* Round numbers[i] - error, of up to PE_LINE_MAX numbers. Returns whether all of
     * numbers[i] + error round to the same elements. */
    bool (*round_about)(pe_dtype dtype, const double *numbers, double error, size_t count,
                        void *dst);
} pe_lines;

#define PE_DIVISOR_MAX 0x1p50

#endif
