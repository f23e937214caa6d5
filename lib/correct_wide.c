/* Correct rounding in 256-bit integers: what the quick way cannot decide. Errors are below
 * 2^-190 of the value. */
#include "correct.h"

#include "wide.h"

#include <math.h>
#include <stdbool.h>

/* 256 bits of π/4, truncated. */
static const pe_wide QUARTER_PI = {
    {0x020bbea63b139b22, 0x29024e088a67cc74, 0xc4c6628b80dc1cd1, 0xc90fdaa22168c234}};

/* The nearest double of a fraction, which is no tie, times 2^exponent. */
static double nearest(pe_wide magnitude, int exponent)
{
    int top = 3;
    while (top > 0 && magnitude.limb[top] == 0)
        top--;
    if (magnitude.limb[top] == 0)
        return 0;
    int zeros = __builtin_clzll(magnitude.limb[top]);
    uint64_t leading = magnitude.limb[top] << zeros;
    if (zeros > 0 && top > 0)
        leading |= magnitude.limb[top - 1] >> (64 - zeros);
    leading |= 1; /* the rest is not zero */
    return ldexp((double)leading, 64 * (top - 4) - zeros + exponent);
}

double pe_wide_correct_log(uint64_t numerator)
{
    int zeros = __builtin_clzll(numerator);
    pe_wide zero = {{0, 0, 0, 0}};
    /* -log2 = integer + fraction, of 54 bits at most, over 64 */
    pe_wide fraction = pe_wide_log2((pe_wide){{0, 0, 0, numerator << zeros}});
    bool whole = (numerator & (numerator - 1)) == 0;
    uint64_t integer = (uint64_t)(zeros - (whole ? 9 : 10));
    pe_wide scaled = pe_wide_shift_right(pe_wide_sub(zero, fraction), 6);
    scaled.limb[3] |= integer << 58;
    return -nearest(pe_wide_mul(scaled, PE_WIDE_LN2), 6);
}

/* The series x^first / first! - x^(first + 2) / (first + 2)! + … for first 1 or 2, 0 <= x < 1.
 */
static pe_wide alternating(pe_wide x, uint64_t first)
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
    /* the nearest quarter turn, and the rest in eighths */
    uint64_t quarter = (turns + (1ULL << 50)) >> 51;
    int64_t rest = (int64_t)(turns - (quarter << 51));
    pe_wide eighths = {{0, 0, 0, (uint64_t)(rest < 0 ? -rest : rest) << 14}}, zero = {{0}};
    pe_wide x = pe_wide_mul(eighths, QUARTER_PI);
    if (quarter % 2 == 1) { /* cos(π/2 + x) = -sin x, cos(3π/2 + x) = sin x */
        double sine = nearest(alternating(x, 1), 0);
        return (quarter % 4 == 1) == (rest < 0) ? sine : -sine;
    }
    double cosine = nearest(pe_wide_sub(zero, alternating(x, 2)), 0); /* 1 - …, modulo 1 */
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

static bool is_less(pe_wide a, pe_wide b)
{
    int i = 3;
    while (i > 0 && a.limb[i] == b.limb[i])
        i--;
    return a.limb[i] < b.limb[i];
}

/* With t = numerator/2^53 and the midpoint M: D is increasing, so compare D(2)·t and D(M). */
bool pe_wide_quantile_is_above(int64_t numerator, double x)
{
    int exponent;
    uint64_t significand = (uint64_t)ldexp(frexp(x, &exponent), 53);
    uint64_t midpoint = 2 * significand + 1; /* M = midpoint · 2^(exponent - 54) */
    pe_wide half = {{0, 0, 0, 1ULL << 63}}, m = {{0, 0, 0, midpoint << 10}};
    m = pe_wide_shift_right(m, (unsigned)(2 - exponent)); /* M/4 */
    uint64_t left, right;
    pe_wide left_fraction =
        pe_wide_mul_whole(integral_ratio(half), (uint64_t)numerator << (2 - exponent), &left);
    pe_wide right_fraction = pe_wide_mul_whole(
        integral_ratio(pe_wide_mul_integer(pe_wide_mul(m, m), 2)), midpoint, &right);
    return left != right ? left > right : is_less(right_fraction, left_fraction);
}
