/* Tables for printing numbers: powers of ten, and how exponents are spelt. */
#include "print.h"

#include <pthread.h>
#include <string.h>

pe_print_tables pe_print_shared;

#define BIG_LIMBS 15 /* 960 bits: 5^324 has 753, 2^959 / 5^292 keeps 280 */

/* The leading 128 bits of a big number (least significant limb first), rounded up if `inexact`
 * or anything is left below them. */
static pe_power leading_bits(const uint64_t *big, bool inexact)
{
    int top = BIG_LIMBS - 1;
    while (big[top] == 0)
        top--;
    unsigned zeros = (unsigned)__builtin_clzll(big[top]);
    uint64_t limbs[3] = {big[top], top > 0 ? big[top - 1] : 0, top > 1 ? big[top - 2] : 0};
    pe_power bits = {limbs[0], limbs[1]};
    if (zeros > 0) {
        bits.high = limbs[0] << zeros | limbs[1] >> (64 - zeros);
        bits.low = limbs[1] << zeros | limbs[2] >> (64 - zeros);
    }
    inexact = inexact || (limbs[2] << zeros) != 0;
    for (int i = 0; i < top - 2; i++)
        inexact = inexact || big[i] != 0;
    if (inexact && ++bits.low == 0)
        bits.high++;
    return bits;
}

static void make_powers(void)
{
    uint64_t big[BIG_LIMBS] = {1};
    pe_power *powers = pe_print_shared.powers;
    for (int k = 0; k <= PE_POWER_MAX; k++) { /* 5^k has the leading bits of 10^k */
        powers[k - PE_POWER_MIN] = leading_bits(big, false);
        uint64_t carry = 0;
        for (int i = 0; i < BIG_LIMBS; i++) {
            pe_uint128 product = (pe_uint128)big[i] * 5 + carry;
            big[i] = (uint64_t)product;
            carry = (uint64_t)(product >> 64);
        }
    }
    memset(big, 0, sizeof big);
    big[BIG_LIMBS - 1] = 1ULL << 63;
    for (int k = -1; k >= PE_POWER_MIN; k--) { /* 2^959 / 5^-k, floors of floors */
        uint64_t rest = 0;
        for (int i = BIG_LIMBS - 1; i >= 0; i--) {
            pe_uint128 part = (pe_uint128)rest << 64 | big[i];
            big[i] = (uint64_t)(part / 5);
            rest = (uint64_t)(part % 5);
        }
        powers[k - PE_POWER_MIN] = leading_bits(big, true);
    }
    for (int i = 0; i <= PE_POWER_MAX - PE_POWER_MIN; i++)
        pe_print_shared.narrow[i] = powers[i].high + (powers[i].low != 0);
}

static void make_suffixes(void)
{
    for (int exponent = PE_SUFFIX_MIN; exponent <= PE_SUFFIX_MAX; exponent++) {
        char *at = pe_print_shared.suffixes[exponent - PE_SUFFIX_MIN];
        int magnitude = exponent < 0 ? -exponent : exponent;
        if (exponent != 0) {
            *at++ = 'e';
            *at++ = exponent < 0 ? '-' : '+';
            if (magnitude >= 100)
                *at++ = (char)('0' + magnitude / 100);
            *at++ = (char)('0' + magnitude / 10 % 10);
            *at++ = (char)('0' + magnitude % 10);
        }
        *at = ',';
    }
}

static void make_tables(void)
{
    make_powers();
    make_suffixes();
}

void pe_print_prepare(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, make_tables);
}
