/* Double-double arithmetic, compared with exact integers and fractions. */
#include "numerics/dd.h"
#include "unit.h"

#include <math.h>

__extension__ typedef __int128 int128;

/* A random integer of either sign, below 2^53 in magnitude. */
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

/* The terms are integers below 2^106, so that 128 bits hold their exact sums. */
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
        /* 60 bits each, so that the exact product fits in 120 */
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

/* Expected: Python fractions, as the nearest double and the double nearest to the rest. */
static const struct {
    double a, b;
    dd quotient;
} QUOTIENTS[] = {
    {1, 3, {0x1.5555555555555p-2, 0x1.5555555555555p-56}},
    {22, 7, {0x1.9249249249249p1, 0x1.2492492492492p-54}},
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

/* Expected: mpmath's quotients of the double-doubles. */
static const struct {
    dd a, b, quotient;
} DD_QUOTIENTS[] = {
    {{0x1.c59725472f268p+2, 0x1.0f0e391b9bf07p-53},
     {0x1.a8447fb4aec68p+1, 0x1.19a39bb6bd0bcp-55},
     {0x1.11b174e563fbep+1, -0x1.df1063296f8cap-53}},
    {{-0x1.9826c22a02d64p+2, -0x1.a963ccc9e1be6p-56},
     {0x1.641bb8bc65d68p+1, 0x1.ad8b80fab585cp-54},
     {-0x1.2569b28a44bc6p+1, 0x1.86b0d1ef41bb5p-54}},
    {{0x1.1fc38cb38030cp+2, 0x1.e6409c1394b2ep-53},
     {0x1.0b0f6f317ef40p-2, 0x1.a4bf4b26f4504p-57},
     {0x1.13d89c78e2488p+4, -0x1.029ab2ff72273p-50}},
    {{-0x1.344f9b939b54cp+1, -0x1.64ba36e2cafaep-54},
     {0x1.724608d4829dep-3, 0x1.14d43e3b3d87ep-61},
     {-0x1.aa520c768d6acp+3, 0x1.b3626c6537767p-51}},
};

static const struct {
    dd a, root;
} ROOTS[] = {
    {{0x1.0000000000000p+1, 0x1.dbfbc83472937p-54},
     {0x1.6a09e667f3bcdp+0, -0x1.158a24e4b9f75p-54}},
    {{0x1.4000000000000p+3, 0x1.c622a32ed5724p-53},
     {0x1.94c583ada5b53p+1, -0x1.701f5a4706ec7p-53}},
    {{0x1.2a05f20000000p+33, 0x1.38bf24deee632p-22},
     {0x1.86a0000000000p+16, 0x1.99ec5d3830595p-40}},
    {{0x1.2599ed7c6fbd2p-14, 0x1.fb976410fdfdcp-72},
     {0x1.1228214259142p-7, 0x1.1d3a3906bd559p-61}},
};

static void is_near(dd got, dd expected, double tolerance)
{
    is_normalised(got);
    double error = (got.hi - expected.hi) + (got.lo - expected.lo);
    ck_assert_msg(fabs(error) <= fabs(expected.hi) * tolerance, "%a is off by %a", expected.hi,
                  error);
}

START_TEST(quotients_of_double_doubles_keep_100_bits)
{
    for (size_t i = 0; i < UNIT_COUNT(DD_QUOTIENTS); i++) {
        is_near(dd_quotient(DD_QUOTIENTS[i].a, DD_QUOTIENTS[i].b), DD_QUOTIENTS[i].quotient,
                0x1p-100);
        dd one = dd_quotient(DD_QUOTIENTS[i].a, DD_QUOTIENTS[i].a);
        unit_assert(one.hi == 1 && one.lo == 0);
    }
}
END_TEST

START_TEST(square_roots_keep_101_bits)
{
    for (size_t i = 0; i < UNIT_COUNT(ROOTS); i++)
        is_near(dd_sqrt(ROOTS[i].a), ROOTS[i].root, 0x1p-101);
    dd whole = dd_sqrt((dd){9, 0});
    unit_assert(whole.hi == 3 && whole.lo == 0);
}
END_TEST

START_TEST(short_numbers_are_recognised)
{
    const double ulp = 0x1p-52;
    dd half = dd_snap((dd){1.5, ulp / 2 + ulp * 0x1p-48});
    unit_assert(half.hi == 1.5 && half.lo == ulp / 2);
    dd whole = dd_snap((dd){-3, ulp * 0x1p-45});
    unit_assert(whole.hi == -3 && whole.lo == 0);
    dd other = dd_snap((dd){1.5, ulp / 3});
    unit_assert(other.hi == 1.5 && other.lo == ulp / 3);
}
END_TEST

START_TEST(less_is_less_even_on_a_rounding_boundary)
{
    static const double HIGHS[] = {1, -1.5, 0x1p-700, -0x1.8p300};
    for (size_t i = 0; i < UNIT_COUNT(HIGHS); i++) {
        const double high = HIGHS[i], half = fabs(high) * 0x1p-54;
        const dd tie = {high, half}, exact = {high, 0};
        unit_assert(dd_less(tie, 0).hi == high && (dd_less(tie, 0).lo < half) == (high > 0));
        unit_assert(dd_less(exact, 0).hi == high && (dd_less(exact, 0).lo < 0) == (high > 0));
        is_near(dd_less(tie, 0x1p-30), dd_add(tie, (dd){-high * 0x1p-30, 0}), 0x1p-80);
    }
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
        quotients_of_double_doubles_keep_100_bits,
        square_roots_keep_101_bits,
        short_numbers_are_recognised,
        less_is_less_even_on_a_rounding_boundary,
        NULL,
    };
    return unit_suite("dd", tests);
}
