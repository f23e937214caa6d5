/* Bits of integers as the elements 0 and 1, eight or sixteen at a time. */
#include "kernels/bits.h"

#include "kernels/instruction_set.h"

#include <string.h>

extern pe_spread_bits PE_FOR_SET(pe_spread_bits);

#define UP_8    1, 2, 4, 8, 16, 32, 64, 128
#define DOWN_8  128, 64, 32, 16, 8, 4, 2, 1
#define UP_16   UP_8, 1 << 8, 1 << 9, 1 << 10, 1 << 11, 1 << 12, 1 << 13, 1 << 14, 1 << 15
#define DOWN_16 DOWN_8, 1 << 15, 1 << 14, 1 << 13, 1 << 12, 1 << 11, 1 << 10, 1 << 9, 1 << 8

/* The bytes of a vector register: gcc keeps longer vectors in memory. */
#if defined(__AVX512BW__)
#define VECTOR 64
#elif defined(__AVX2__)
#define VECTOR 32
#else
#define VECTOR 16
#endif

/* One function per size of an element: `group` columns look at the same 8 or 16 bits, each at
 * one of them, in as many vectors as they take. */
#define SPREAD(name, type, group)                                                              \
    enum {                                                                                     \
        name##_fit = VECTOR / sizeof(type),                                                    \
        name##_count = name##_fit < group ? name##_fit : group,                                \
        name##_parts = group / name##_count                                                    \
    };                                                                                         \
    typedef type name##_lanes __attribute__((vector_size(name##_count * sizeof(type))));       \
    static void name(const uint64_t *keys, size_t rows, size_t width, bool falling, type one,  \
                     unsigned char *dst)                                                       \
    {                                                                                          \
        static const type up[group] = {UP_##group}, down[group] = {DOWN_##group};              \
        name##_lanes bits[name##_parts];                                                       \
        memcpy(bits, falling ? down : up, sizeof bits);                                        \
        for (size_t r = 0; r < rows; r++, dst += width * sizeof(type)) {                       \
            uint64_t key = keys[r];                                                            \
            for (size_t column = 0; column < width; column += group, key >>= group) {          \
                for (size_t p = 0; p < name##_parts; p++) {                                    \
                    name##_lanes some = ((name##_lanes){0} + (type)key) & bits[p];             \
                    some = (name##_lanes)(some == bits[p]) & one;                              \
                    memcpy(dst + (column + p * name##_count) * sizeof(type), &some,            \
                           sizeof some);                                                       \
                }                                                                              \
            }                                                                                  \
        }                                                                                      \
    }
#if VECTOR == 64
#define GROUP_OF_4 16
#else
#define GROUP_OF_4 8
#endif
#define SPREAD_OF(name, type, group) SPREAD(name, type, group)
SPREAD_OF(spread_2, uint16_t, 16)
SPREAD_OF(spread_4, uint32_t, GROUP_OF_4)
SPREAD_OF(spread_8, uint64_t, 8)

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
