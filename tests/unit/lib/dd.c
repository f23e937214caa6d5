/* Double-double arithmetic against exact integers and fractions. */
#include "dd.h"
#include "../unit.h"

#include <math.h>

__extension__ typedef __int128 int128;

/* An integral double of less than 53 bits either way. */
static double random_integer(uint64_t *state)
{
    uint64_t bits = unit_random(state);
    double magnitude = (double)(bits >> (11 + bits % 40));
    return bits & 64 ? -magnitude : magnitude;
}

static int128 integer_of(dd number)
{
    return (int128)number.hi + (int128)number.lo;
}

static void is_normalised(dd number)
{
    if (number.hi + number.lo != number.hi)
        ck_abort_msg("%a + %a", number.hi, number.lo);
}

START_TEST(products_of_doubles_are_exact)
{
    uint64_t state = 1;
    for (size_t i = 0; i < 20000; i++) {
        double a = random_integer(&state), b = random_integer(&state);
        dd product = dd_two_prod(a, b);
        is_normalised(product);
        unit_assert(integer_of(product) == (int128)a * (int128)b);
    }
}
END_TEST

START_TEST(sums_of_doubles_are_exact)
{
    uint64_t state = 2;
    for (size_t i = 0; i < 20000; i++) {
        double a = random_integer(&state) * 0x1p40, b = random_integer(&state);
        dd sum = dd_two_sum(a, b), other = dd_two_sum(b, a);
        is_normalised(sum);
        unit_assert(integer_of(sum) == (int128)a + (int128)b);
        unit_assert(sum.hi == other.hi && sum.lo == other.lo);
        dd quick = fabs(a) >= fabs(b) ? dd_quick_two_sum(a, b) : dd_quick_two_sum(b, a);
        unit_assert(quick.hi == sum.hi && quick.lo == sum.lo);
    }
}
END_TEST

/* Sums of integers below 2^106 are exact in 106 bits, unless both parts spill over. */
START_TEST(sums_of_double_doubles_keep_102_bits)
{
    uint64_t state = 3;
    for (size_t i = 0; i < 20000; i++) {
        dd a = dd_two_prod(random_integer(&state), random_integer(&state));
        dd b = dd_two_prod(random_integer(&state), random_integer(&state));
        dd sum = dd_add(a, b), difference = dd_add(a, dd_neg(a));
        int128 exact = integer_of(a) + integer_of(b), error = integer_of(sum) - exact;
        is_normalised(sum);
        unit_assert(error == 0 || fabs((double)error) <= fabs((double)exact) * 0x1p-102);
        unit_assert(difference.hi == 0 && difference.lo == 0);
    }
}
END_TEST

START_TEST(products_of_double_doubles_keep_102_bits)
{
    uint64_t state = 4;
    for (size_t i = 0; i < 20000; i++) {
        /* 60 bits each: the exact product fits 120 */
        dd a = dd_two_sum(random_integer(&state) * 64, (double)(unit_random(&state) % 64));
        dd b = dd_two_sum(random_integer(&state) * 64, (double)(unit_random(&state) % 64));
        int128 exact = integer_of(a) * integer_of(b), error = integer_of(dd_mul(a, b)) - exact;
        unit_assert(error == 0 || fabs((double)error) <= fabs((double)exact) * 0x1p-102);
        double c = random_integer(&state);
        exact = integer_of(a) * (int128)c;
        error = integer_of(dd_mul_double(a, c)) - exact;
        unit_assert(error == 0 || fabs((double)error) <= fabs((double)exact) * 0x1p-102);
    }
}
END_TEST

/* Quotients of Python fractions as the nearest double and the nearest rest. */
static const struct {
    double a, b;
    dd quotient;
} QUOTIENTS[] = {
    {1, 3, {0x1.5555555555555p-2, 0x1.5555555555555p-56}},
    {2, 3, {0x1.5555555555555p-1, 0x1.5555555555555p-55}},
    {1, 10, {0x1.999999999999ap-4, -0x1.999999999999ap-58}},
    {22, 7, {0x1.9249249249249p1, 0x1.2492492492492p-54}},
    {1, 49, {0x1.4e5e0a72f0539p-6, 0x1.e0a72f0539783p-60}},
    {999999999, 1000000007, {0x1.ffffffbb47d06p-1, 0x1.ddabae0370818p-55}},
    {9007199254740991, 9007199254740992, {0x1.fffffffffffffp-1, 0}},
    {1, 9007199254740991, {0x1.0000000000001p-53, -0x1.fffffffffffffp-107}},
    {-5, 9, {-0x1.1c71c71c71c72p-1, 0x1.c71c71c71c71cp-56}},
    {4503599627370497, 3, {0x1.5555555555557p50, -0x1.5555555555555p-4}},
    {0.1, 0.3, {0x1.5555555555556p-2, -0x1.c71c71c71c71bp-58}},
    {1e+100, 7e-05, {0x1.fe43216402331p345, 0x1.eef8cc1f8a541p291}},
};

START_TEST(quotients_keep_101_bits)
{
    for (size_t i = 0; i < UNIT_COUNT(QUOTIENTS); i++) {
        dd got = dd_div(QUOTIENTS[i].a, QUOTIENTS[i].b), expected = QUOTIENTS[i].quotient;
        is_normalised(got);
        double error = (got.hi - expected.hi) + (got.lo - expected.lo);
        ck_assert_msg(fabs(error) <= fabs(expected.hi) * 0x1p-101, "%g / %g is off by %a",
                      QUOTIENTS[i].a, QUOTIENTS[i].b, error);
    }
    dd whole = dd_div(-12, 4), nothing = dd_div(0, 7);
    unit_assert(whole.hi == -3 && whole.lo == 0);
    unit_assert(nothing.hi == 0 && nothing.lo == 0);
}
END_TEST

Suite *dd_suite(void)
{
    const TTest *const tests[] = {
        products_of_doubles_are_exact,
        sums_of_doubles_are_exact,
        sums_of_double_doubles_keep_102_bits,
        products_of_double_doubles_keep_102_bits,
        quotients_keep_101_bits,
        NULL,
    };
    return unit_suite("dd", tests);
}
