/* The bitwise or of rows, in vectors as wide as the instruction set has them. */
#include "kernels/overlay.h"

#include "kernels/instruction_set.h"

#include <stdint.h>

#if defined(__AVX512BW__)
#define WIDTH 64
#elif defined(__AVX2__)
#define WIDTH 32
#else
#define WIDTH 16
#endif

extern pe_overlay PE_FOR_SET(pe_overlay);

/* Some bytes at any place. A memcpy of them would be a call where the compiler checks sizes. */
typedef uint64_t vector __attribute__((vector_size(WIDTH), aligned(1), may_alias));
typedef uint64_t word __attribute__((aligned(1), may_alias));

static inline void combine(const unsigned char *a, const unsigned char *b, unsigned char *to)
{
    *(vector *)to = *(const vector *)a | *(const vector *)b;
}

/* A row that is shorter than a vector. */
static inline void combine_short(const unsigned char *a, const unsigned char *b, size_t bytes,
                                 unsigned char *to)
{
    size_t at = 0;
    for (; at + sizeof(word) <= bytes; at += sizeof(word))
        *(word *)(to + at) = *(const word *)(a + at) | *(const word *)(b + at);
    for (; at < bytes; at++)
        to[at] = a[at] | b[at];
}

void PE_FOR_SET(pe_overlay)(const unsigned char *a, size_t a_stride, const unsigned char *b,
                            size_t b_stride, size_t count, size_t bytes, unsigned char *dst,
                            size_t dst_stride)
{
    for (size_t r = 0; r < count; r++, a += a_stride, b += b_stride, dst += dst_stride) {
        size_t at = 0;
        for (; at + WIDTH <= bytes; at += WIDTH)
            combine(a + at, b + at, dst + at);
        if (at == bytes)
            continue;
        if (bytes < WIDTH) {
            combine_short(a, b, bytes, dst);
            continue;
        }
        at = bytes - WIDTH; /* some bytes once more */
        combine(a + at, b + at, dst + at);
    }
}
