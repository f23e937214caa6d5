/* Correctly rounded functions in 256-bit integers, for the arguments that correct.c cannot
 * decide. Errors are below 2^-190 of the value. */
#include "numerics/correct.h"

#include "numerics/limbs.h"
#include "numerics/wide.h"

#include <math.h>
#include <stdbool.h>

/* 256 bits of π/4, truncated. */
static const pe_wide QUARTER_PI = {
    {0x020bbea63b139b22, 0x29024e088a67cc74, 0xc4c6628b80dc1cd1, 0xc90fdaa22168c234}};

/* The double nearest to magnitude · 2^exponent. The exact value is neither a double nor a tie,
 * so that bits follow the leading 64. */
static double round_to_double(pe_wide magnitude, int exponent)
{
    pe_leading leading = pe_limbs_leading(magnitude.limb, 4);
    if (leading.length == 0)
        return 0;
    uint64_t odd = leading.high | 1; /* stands for the bits that follow */
    return ldexp((double)odd, leading.length - 320 + exponent);
}

double pe_wide_correct_log(uint64_t numerator)
{
    int zeros = __builtin_clzll(numerator);
    /* -log2(numerator · 2^-54) is integer + fraction; divided by 64 it is below 1 */
    pe_wide fraction = pe_wide_log2((pe_wide){{0, 0, 0, numerator << zeros}});
    bool whole = (numerator & (numerator - 1)) == 0;
    uint64_t integer = (uint64_t)(zeros - (whole ? 9 : 10));
    pe_wide scaled = pe_wide_shift_right(pe_wide_negate(fraction), 6);
    scaled.limb[3] |= integer << 58;
    return -round_to_double(pe_wide_mul(scaled, pe_wide_ln2), 6);
}

/* x^first / first! - x^(first + 2) / (first + 2)! + … for first 1 or 2 and 0 <= x < 1: sin x,
 * or 1 - cos x. */
static pe_wide alternating_series(pe_wide x, uint64_t first)
{
    pe_wide square = pe_wide_mul(x, x);
    pe_wide term = first == 1 ? x : pe_wide_shift_right(square, 1), sum = term;
    for (uint64_t n = first + 2; n < 60; n += 2) {
        term = pe_wide_div_small(pe_wide_mul(term, square), n * (n - 1));
        sum = (n - first) % 4 == 0 ? pe_wide_add(sum, term) : pe_wide_sub(sum, term);
    }
    return sum;
}

double pe_wide_correct_cos(uint64_t turns)
{
    /* the nearest quarter turn, and the rest in eighths of a turn */
    uint64_t quarter = (turns + (1ULL << 50)) >> 51;
    int64_t rest = (int64_t)(turns - (quarter << 51));
    pe_wide eighths = {{0, 0, 0, (uint64_t)(rest < 0 ? -rest : rest) << 14}};
    pe_wide x = pe_wide_mul(eighths, QUARTER_PI);
    if (quarter % 2 == 1) { /* cos(π/2 + x) = -sin x, cos(3π/2 + x) = sin x */
        double sine = round_to_double(alternating_series(x, 1), 0);
        return (quarter % 4 == 1) == (rest < 0) ? sine : -sine;
    }
    /* 1 - …, modulo 1 */
    double cosine = round_to_double(pe_wide_negate(alternating_series(x, 2)), 0);
    return quarter % 4 == 0 ? cosine : -cosine;
}

/* Σ (-y)^n / (n! (2n + 1)) = D(x)/x at y = 4·quarter = x²/2 <= 2, in (1/2, 1). */
static pe_wide integral_ratio(pe_wide quarter)
{
    pe_wide term = {{0, 0, 0, 1ULL << 61}}; /* y^n / n!, over 8 */
    pe_wide sum = term;
    for (uint64_t n = 1; n < 90; n++) {
        term = pe_wide_div_small(pe_wide_mul_integer(pe_wide_mul(term, quarter), 4), n);
        pe_wide share = pe_wide_div_small(term, 2 * n + 1);
        sum = n % 2 == 0 ? pe_wide_add(sum, share) : pe_wide_sub(sum, share);
    }
    return pe_wide_mul_integer(sum, 8);
}

/* With t = numerator/2^53 and the midpoint M, compare D(2)·t with D(M): D is increasing. */
bool pe_wide_is_quantile_above_midpoint(int64_t numerator, double x)
{
    int exponent;
    uint64_t significand = (uint64_t)ldexp(frexp(x, &exponent), 53);
    uint64_t midpoint = 2 * significand + 1; /* M = midpoint · 2^(exponent - 54) */
    pe_wide half = {{0, 0, 0, 1ULL << 63}}, m = {{0, 0, 0, midpoint << 10}};
    m = pe_wide_shift_right(m, (unsigned)(2 - exponent)); /* M/4 */
    uint64_t left, right;
    pe_wide left_fraction = pe_wide_mul_with_carry(
        integral_ratio(half), (uint64_t)numerator << (2 - exponent), &left);
    pe_wide right_fraction = pe_wide_mul_with_carry(
        integral_ratio(pe_wide_mul_integer(pe_wide_mul(m, m), 2)), midpoint, &right);
    return left != right ? left > right
                         : pe_limbs_compare(left_fraction.limb, right_fraction.limb, 4) > 0;
}
