/* Bits of integers as the elements 0 and 1, eight or sixteen at a time. */
#include "kernels/bits.h"

#include "kernels/instruction_set.h"

#include <string.h>

extern pe_spread_bits PE_FOR_SET(pe_spread_bits);

#define UP_8    1, 2, 4, 8, 16, 32, 64, 128
#define DOWN_8  128, 64, 32, 16, 8, 4, 2, 1
#define UP_16   UP_8, 1 << 8, 1 << 9, 1 << 10, 1 << 11, 1 << 12, 1 << 13, 1 << 14, 1 << 15
#define DOWN_16 DOWN_8, 1 << 15, 1 << 14, 1 << 13, 1 << 12, 1 << 11, 1 << 10, 1 << 9, 1 << 8

/* One function per size of an element: all lanes look at the same 8 or 16 bits, each at one of
 * them. */
#define SPREAD(name, type, lanes)                                                              \
    typedef type name##_lanes __attribute__((vector_size(lanes * sizeof(type))));              \
    static void name(const uint64_t *keys, size_t rows, size_t width, bool falling, type one,  \
                     unsigned char *dst)                                                       \
    {                                                                                          \
        const name##_lanes up = {UP_##lanes}, down = {DOWN_##lanes};                           \
        const name##_lanes bits = falling ? down : up;                                         \
        for (size_t r = 0; r < rows; r++, dst += width * sizeof(type)) {                       \
            uint64_t key = keys[r];                                                            \
            for (size_t column = 0; column < width; column += lanes, key >>= lanes) {          \
                name##_lanes some = ((name##_lanes){0} + (type)key) & bits;                    \
                some = (name##_lanes)(some == bits) & one;                                     \
                memcpy(dst + column * sizeof(type), &some, sizeof some);                       \
            }                                                                                  \
        }                                                                                      \
    }
SPREAD(spread_2, uint16_t, 16)
SPREAD(spread_4, uint32_t, 16)
SPREAD(spread_8, uint64_t, 8)

void PE_FOR_SET(pe_spread_bits)(const uint64_t *keys, size_t rows, size_t width, bool falling,
                                uint64_t one, size_t size, void *dst)
{
    if (size == 2)
        spread_2(keys, rows, width, falling, (uint16_t)one, dst);
    else if (size == 4)
        spread_4(keys, rows, width, falling, (uint32_t)one, dst);
    else
        spread_8(keys, rows, width, falling, one, dst);
}
