/* Logarithms and exponentials in loops that compilers vectorise: no branches, and only
 * conversions that every instruction set has. */
#include "kernels/curves.h"

#include "kernels/instruction_set.h"
#include "numerics/nearest.h"

extern const pe_curves PE_FOR_SET(pe_curves);

/* Its sum with a number below 2^51 has the nearest integer at its end. */
#define MAGIC 0x1.8p52

/* ln x = e·ln 2 + ln(1/r) + ln(1 + z) with x = 2^e·m, r an approximation of 1/m from a table,
 * and z = m·r - 1, |z| < 2^-5.9.
 *
 * Errors in units of u = 2^-53. Below 1 + 2^-6, r is 1 and the logarithm is that of 1 + z, with
 * an exact z: 1 for its square, and 1 for each of the sums, all relative. Above, the
 * logarithm is 2^-6.1 at least: z adds 1 for the product m·r, and the three sums add 3 of the
 * logarithm and 3 of the table, which is less than it by no more than half: together less than
 * 2^6.1 + 9 < 2^7 of the logarithm. */
static void logarithms(const double *restrict numbers, size_t count,
                       double *restrict ret_logarithms)
{
    for (size_t i = 0; i < count; i++) {
        uint64_t bits = pe_bits_of_double(numbers[i]), row = bits >> 46 & 63;
        double halved = row >= PE_LOG_HALVED_FROM ? 1 : 0;
        double exponent = pe_double_of_signed((int64_t)(bits >> 52) - 1023) + halved;
        double significand =
            pe_double_of_bits((bits & 0x000fffffffffffff) | 0x3ff0000000000000);
        double reciprocal = pe_double_of_integer(pe_log_reciprocals[row]) * (1.0 / 512);
        double z = significand * reciprocal - 1;
        double of_rest = z - (0.5 * z * z - pe_nearest_log_tail(z));
        ret_logarithms[i] = exponent * PE_LOG_LN2.hi +
                            (pe_log_table[row] + (exponent * PE_LOG_LN2.lo + of_rest));
    }
}

/* e^x = 2^k·e^r, with k the integer nearest to x/ln 2 and |r| < 0.3467: a Taylor polynomial,
 * whose first omitted term is r^14/14! < 2^-57.
 *
 * Errors in units of u = 2^-53: r has 2·|x| (the product of k and the leading part of ln 2, 46
 * bits, and the difference; the other product is below 2^-36, and what ln 2 lacks is below
 * 2^-99·|x|), the polynomial less than 4. */
static void exponentials(const double *restrict numbers, size_t count,
                         double *restrict ret_exponentials)
{
    static const double INVERSES[] = {1.0 / 479001600,
                                      1.0 / 39916800,
                                      1.0 / 3628800,
                                      1.0 / 362880,
                                      1.0 / 40320,
                                      1.0 / 5040,
                                      1.0 / 720,
                                      1.0 / 120,
                                      1.0 / 24,
                                      1.0 / 6,
                                      0.5,
                                      1,
                                      1};
    for (size_t i = 0; i < count; i++) {
        double shifted = numbers[i] * 0x1.71547652b82fep+0 + MAGIC, k = shifted - MAGIC;
        double r = (numbers[i] - k * PE_LOG_LN2.hi) - k * PE_LOG_LN2.lo;
        double sum = 1.0 / 6227020800;
        for (size_t n = 0; n < sizeof INVERSES / sizeof *INVERSES; n++)
            sum = sum * r + INVERSES[n];
        uint64_t power = (pe_bits_of_double(shifted) + 1023) << 52; /* 2^k */
        ret_exponentials[i] = sum * pe_double_of_bits(power);
    }
}

const pe_curves PE_FOR_SET(pe_curves) = {
    .logarithms = logarithms,
    .exponentials = exponentials,
};
