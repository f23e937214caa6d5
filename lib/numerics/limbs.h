/* Natural numbers as arrays of 64-bit limbs, least significant limb first: the operations that
 * wide fractions, fixed-point reals, exact sums, buckets and powers of ten have in common. They
 * are inline, so that the compiler unrolls a constant count of limbs. */
#ifndef PE_LIMBS_H
#define PE_LIMBS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

__extension__ typedef unsigned __int128 pe_uint128;

/* The upper limb of high:low shifted left by `bits` < 64 (a funnel shift). */
static inline uint64_t pe_funnel_left(uint64_t high, uint64_t low, unsigned bits)
{
    return bits == 0 ? high : high << bits | low >> (64 - bits);
}

/* The lower limb of high:low shifted right by `bits` < 64. */
static inline uint64_t pe_funnel_right(uint64_t high, uint64_t low, unsigned bits)
{
    return bits == 0 ? low : low >> bits | high << (64 - bits);
}

/* a += b. Returns the carry out of the top limb, 0 or 1. */
static inline uint64_t pe_limbs_add(uint64_t *a, const uint64_t *b, size_t count)
{
    uint64_t carry = 0;
    for (size_t i = 0; i < count; i++) {
        pe_uint128 sum = (pe_uint128)a[i] + b[i] + carry;
        a[i] = (uint64_t)sum;
        carry = (uint64_t)(sum >> 64);
    }
    return carry;
}

/* a -= b. Returns the borrow, 1 if b was larger than a. */
static inline uint64_t pe_limbs_sub(uint64_t *a, const uint64_t *b, size_t count)
{
    uint64_t borrow = 0;
    for (size_t i = 0; i < count; i++) {
        pe_uint128 difference = (pe_uint128)a[i] - b[i] - borrow;
        a[i] = (uint64_t)difference;
        borrow = (uint64_t)(difference >> 64) & 1;
    }
    return borrow;
}

/* a *= factor. Returns the limb above the top. */
static inline uint64_t pe_limbs_mul_small(uint64_t *a, size_t count, uint64_t factor)
{
    uint64_t carry = 0;
    for (size_t i = 0; i < count; i++) {
        pe_uint128 product = (pe_uint128)a[i] * factor + carry;
        a[i] = (uint64_t)product;
        carry = (uint64_t)(product >> 64);
    }
    return carry;
}

/* a /= divisor, rounded down. Returns the remainder. */
static inline uint64_t pe_limbs_div_small(uint64_t *a, size_t count, uint64_t divisor)
{
    uint64_t remainder = 0;
    for (size_t i = count; i-- > 0;) {
        pe_uint128 part = (pe_uint128)remainder << 64 | a[i];
        a[i] = (uint64_t)(part / divisor);
        remainder = (uint64_t)(part % divisor);
    }
    return remainder;
}

/* -1, 0 or 1 as a is less than, equal to or greater than b. */
static inline int pe_limbs_compare(const uint64_t *a, const uint64_t *b, size_t count)
{
    for (size_t i = count; i-- > 0;)
        if (a[i] != b[i])
            return a[i] < b[i] ? -1 : 1;
    return 0;
}

static inline bool pe_limbs_are_zero(const uint64_t *a, size_t count)
{
    uint64_t any = 0;
    for (size_t i = 0; i < count; i++)
        any |= a[i];
    return any == 0;
}

/* The leading 128 bits of a number. high:low is the number times 2^(128 - length), rounded
 * down, so that the top bit of `high` is set; all members are 0 for the number 0. */
typedef struct pe_leading {
    uint64_t high, low;
    int length;   /* the number's length in bits */
    bool cut_off; /* whether a bit below the leading 128 is set */
} pe_leading;

static inline pe_leading pe_limbs_leading(const uint64_t *a, size_t count)
{
    while (count > 0 && a[count - 1] == 0)
        count--;
    if (count == 0)
        return (pe_leading){0};
    uint64_t first = a[count - 1];
    uint64_t second = count > 1 ? a[count - 2] : 0, third = count > 2 ? a[count - 3] : 0;
    unsigned zeros = (unsigned)__builtin_clzll(first);
    return (pe_leading){
        .high = pe_funnel_left(first, second, zeros),
        .low = pe_funnel_left(second, third, zeros),
        .length = (int)(64 * count - zeros),
        .cut_off = third << zeros != 0 || (count > 3 && !pe_limbs_are_zero(a, count - 3)),
    };
}

#endif
