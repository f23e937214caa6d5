/* The bitwise or of rows. */
#include "kernels/overlay.h"

#include "kernels/instruction_set.h"

extern pe_overlay PE_FOR_SET(pe_overlay);

void PE_FOR_SET(pe_overlay)(const unsigned char *a, size_t a_stride, const unsigned char *b,
                            size_t b_stride, size_t count, size_t bytes,
                            unsigned char *restrict dst, size_t dst_stride)
{
    for (size_t r = 0; r < count; r++, a += a_stride, b += b_stride, dst += dst_stride)
        for (size_t i = 0; i < bytes; i++)
            dst[i] = a[i] | b[i];
}
