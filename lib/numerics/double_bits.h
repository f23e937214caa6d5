/* Doubles and floats as their bits. Inline, and free of branches, so that loops over them
 * vectorise. */
#ifndef PE_DOUBLE_BITS_H
#define PE_DOUBLE_BITS_H

#include <stdint.h>
#include <string.h>

static inline uint64_t pe_bits_of_double(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static inline double pe_double_of_bits(uint64_t bits)
{
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static inline uint32_t pe_bits_of_float(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static inline float pe_float_of_bits(uint32_t bits)
{
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

#endif
