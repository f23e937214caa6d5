/* Tables for printing numbers: powers of ten, and the text of exponents. */
#include "numerics/decimal.h"

#include "locks.h"

#include <string.h>

pe_print_tables pe_print_shared;

#define BIG_LIMBS 15 /* 960 bits: 5^324 has 753, 2^959 / 5^292 keeps 280 */

/* The leading 128 bits of a number of BIG_LIMBS limbs, rounded up if `inexact` or bits below
 * them are set. */
static pe_power leading_bits(const uint64_t *big, bool inexact)
{
    pe_leading leading = pe_limbs_leading(big, BIG_LIMBS);
    pe_power power = {.high = leading.high, .low = leading.low};
    if (inexact || leading.cut_off) {
        power.low++;
        power.high += power.low == 0;
    }
    return power;
}

static void make_powers(void)
{
    uint64_t big[BIG_LIMBS] = {1};
    pe_power *powers = pe_print_shared.powers;
    for (int k = 0; k <= PE_POWER_MAX; k++) { /* 5^k has the leading bits of 10^k */
        powers[k - PE_POWER_MIN] = leading_bits(big, false);
        pe_limbs_mul_small(big, BIG_LIMBS, 5);
    }
    memset(big, 0, sizeof big);
    big[BIG_LIMBS - 1] = 1ULL << 63;
    for (int k = -1; k >= PE_POWER_MIN; k--) { /* floor(2^959 / 5^-k) */
        pe_limbs_div_small(big, BIG_LIMBS, 5);
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

int pe_count_significant(const char *text)
{
    int count = 0, last = 0;
    for (; *text && *text != 'e'; text++)
        if (*text >= '0' && *text <= '9') {
            count += *text != '0' || count > 0;
            last = *text != '0' ? count : last;
        }
    return last;
}
