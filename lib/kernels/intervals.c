/* Rounding both ends of intervals. */
#include "kernels/intervals.h"

#include "kernels/kernel.h"
#include "numerics/dtype.h"

#include <string.h>

void pe_round_intervals(pe_dtype dtype, const double *low, const double *high, size_t count,
                        pe_settle *settle, const void *context, void *dst)
{
    const pe_lines *lines = pe_kernel_get()->lines;
    const size_t size = pe_dtype_size(dtype);
    unsigned char above[PE_LINE_MAX * sizeof(double)], *to = dst;
    lines->round(dtype, low, count, to);
    lines->round(dtype, high, count, above);
    if (memcmp(to, above, count * size) == 0)
        return;
    for (size_t i = 0; i < count; i++)
        if (memcmp(to + i * size, above + i * size, size) != 0)
            settle(context, i, to + i * size);
}

void pe_round_about(pe_dtype dtype, const double *numbers, double error, size_t count,
                    pe_settle *settle, const void *context, void *dst)
{
    const pe_lines *lines = pe_kernel_get()->lines;
    const size_t size = pe_dtype_size(dtype);
    unsigned char *to = dst;
    if (lines->round_about(dtype, numbers, error, count, dst))
        return;
    for (size_t i = 0; i < count; i++, to += size)
        if (!lines->round_about(dtype, numbers + i, error, 1, to))
            settle(context, i, to);
}
