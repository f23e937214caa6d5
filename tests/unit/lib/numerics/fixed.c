/* Fixed-point reals, compared with mpmath and Python fractions. */
#include "numerics/fixed.h"
#include "near.h"
#include "unit.h"

#include <math.h>

/* Expected: Python fractions, rounded towards zero. */
static const struct {
    double x;
    pe_fixed fixed;
} DOUBLES[] = {
    {0.1, {0, {{0x0, 0x0, 0x0, 0x1999999999999a00}}}},
    {-0.1, {-1, {{0x0, 0x0, 0x0, 0xe666666666666600}}}},
    {3.5, {3, {{0x0, 0x0, 0x0, 0x8000000000000000}}}},
    {-3.5, {-4, {{0x0, 0x0, 0x0, 0x8000000000000000}}}},
    {1e-80, {0, {{0x0, 0x0, 0x0, 0x0}}}},
    {-1e-80, {0, {{0x0, 0x0, 0x0, 0x0}}}},
    {4503599627370496.0, {4503599627370496, {{0x0, 0x0, 0x0, 0x0}}}},
    {-1e+18, {-1000000000000000000, {{0x0, 0x0, 0x0, 0x0}}}},
};

START_TEST(doubles_are_floor_and_fraction)
{
    for (size_t i = 0; i < UNIT_COUNT(DOUBLES); i++)
        unit_fixed_is_near(pe_fixed_from_double(DOUBLES[i].x), DOUBLES[i].fixed, 0, "%g",
                           DOUBLES[i].x);
}
END_TEST

START_TEST(sums_and_differences_carry_between_the_parts)
{
    static const double NUMBERS[] = {0, 1, -1, 0.5, -0.5, 3.75, -1000.25, 0x1p40, -0x1p-10};
    for (size_t i = 0; i < UNIT_COUNT(NUMBERS); i++)
        for (size_t j = 0; j < UNIT_COUNT(NUMBERS); j++) {
            double a = NUMBERS[i], b = NUMBERS[j]; /* a + b and a - b are exact */
            pe_fixed x = pe_fixed_from_double(a), y = pe_fixed_from_double(b);
            unit_fixed_is_near(pe_fixed_add(x, y), pe_fixed_from_double(a + b), 0, "%g + %g", a,
                               b);
            unit_fixed_is_near(pe_fixed_sub(x, y), pe_fixed_from_double(a - b), 0, "%g - %g", a,
                               b);
            ck_assert_int_eq(pe_fixed_compare(x, y), (a > b) - (a < b));
        }
}
END_TEST

START_TEST(integer_multiples_are_exact)
{
    static const double NUMBERS[] = {0, -1, -0.375, 3.75, 0x1.8p20};
    for (size_t i = 0; i < UNIT_COUNT(NUMBERS); i++)
        for (int k = -3; k <= 3; k++)
            unit_fixed_is_near(pe_fixed_mul_integer(pe_fixed_from_double(NUMBERS[i]), k),
                               pe_fixed_from_double(NUMBERS[i] * k), 0, "%g * %d", NUMBERS[i],
                               k);
}
END_TEST

/* Expected: Python fractions, rounded towards zero. */
static const struct {
    double a, b;
    pe_fixed quotient;
} QUOTIENTS[] = {
    {1.0,
     3.0,
     {0, {{0x5555555555555555, 0x5555555555555555, 0x5555555555555555, 0x5555555555555555}}}},
    {-1.0,
     3.0,
     {-1, {{0xaaaaaaaaaaaaaaab, 0xaaaaaaaaaaaaaaaa, 0xaaaaaaaaaaaaaaaa, 0xaaaaaaaaaaaaaaaa}}}},
    {1000000.0,
     7.25,
     {137931,
      {{0xb08d3dcb08d3dcb0, 0xdcb08d3dcb08d3dc, 0xd3dcb08d3dcb08d3, 0x8d3dcb08d3dcb08}}}},
    {-5.5, 0.001, {-5500, {{0xffff933c40000001, 0x48827fffff, 0xffffffffcfa90000, 0x2039ff}}}},
    {0.0, 2.0, {0, {{0x0, 0x0, 0x0, 0x0}}}},
    {1000000000000000.0,
     0.001,
     {999999999999999979,
      {{0x7f6a3f969d949bc0, 0x61ab0e8046419ced, 0x9b1438a0ffd12997, 0x2eedf284ea001f39}}}},
};

START_TEST(quotients_are_rounded_towards_zero)
{
    for (size_t i = 0; i < UNIT_COUNT(QUOTIENTS); i++)
        unit_fixed_is_near(pe_fixed_div(pe_fixed_from_double(QUOTIENTS[i].a),
                                        pe_fixed_from_double(QUOTIENTS[i].b)),
                           QUOTIENTS[i].quotient, 0, "%g / %g", QUOTIENTS[i].a, QUOTIENTS[i].b);
}
END_TEST

START_TEST(whole_divisors_give_what_half_of_both_gives)
{
    static const double NUMBERS[] = {1,    8,       0.001, 12345.678, 0x1.fffffffffffffp60,
                                     -100, -0x1p-60};
    static const double ODD[] = {1, 3, 255, 65535, 0x1.fffffffffffffp52};
    for (size_t i = 0; i < UNIT_COUNT(NUMBERS); i++)
        for (size_t j = 0; j < UNIT_COUNT(ODD); j++)
            ck_assert(pe_fixed_compare(pe_fixed_div(pe_fixed_from_double(NUMBERS[i]),
                                                    pe_fixed_from_double(ODD[j])),
                                       pe_fixed_div(pe_fixed_from_double(NUMBERS[i] / 2),
                                                    pe_fixed_from_double(ODD[j] / 2))) == 0);
}
END_TEST

START_TEST(quotients_saturate_at_two_to_62)
{
    pe_fixed most = pe_fixed_div(pe_fixed_from_double(0x1p60), pe_fixed_from_double(0x1p-60));
    pe_fixed least = pe_fixed_div(pe_fixed_from_double(-0x1p60), pe_fixed_from_double(0x1p-2));
    ck_assert_int_eq(most.whole, (int64_t)1 << 62);
    ck_assert_int_eq(least.whole, -((int64_t)1 << 62));
}
END_TEST

/* Expected: mpmath with 1400 bits, truncated. */
static const struct {
    double x;
    pe_fixed log;
} LOGARITHMS[] = {
    {1, {0, {{0x0, 0x0, 0x0, 0x0}}}},
    {2, {1, {{0x0, 0x0, 0x0, 0x0}}}},
    {3,
     {1, {{0x7be5904d25fa41f7, 0x24f3e6a3a259b040, 0xa00b120a068badd1, 0x95c01a39fbd6879f}}}},
    {0.75,
     {-1, {{0x7be5904d25fa41f7, 0x24f3e6a3a259b040, 0xa00b120a068badd1, 0x95c01a39fbd6879f}}}},
    {0.001,
     {-10, {{0x519a2dec1f7e80fc, 0x61cb5a1adf488d66, 0x90a1e81ca3924c22, 0x8c25c7262b57e3e}}}},
    {9007199254740991,
     {52, {{0x41b396f783bad78, 0xb5bbf37106ef8069, 0x5c4d6a3e80c61988, 0xfffffffffffff475}}}},
    {1.0000000000000002,
     {0, {{0x9feaff417520548d, 0xd67df53a9dd50c7a, 0x47652b82fd5ecd95, 0x1715}}}},
};

START_TEST(logarithms_are_good_to_250_bits)
{
    for (size_t i = 0; i < UNIT_COUNT(LOGARITHMS); i++)
        unit_fixed_is_near(pe_fixed_log2(LOGARITHMS[i].x), LOGARITHMS[i].log, 64, "log2(%a)",
                           LOGARITHMS[i].x);
}
END_TEST

START_TEST(double_doubles_keep_the_leading_bits)
{
    static const double NUMBERS[] = {0, 1, 0.1, 3.75, 12345.678, 0x1.fffffffffffffp60, 1e-20};
    for (size_t i = 0; i < UNIT_COUNT(NUMBERS); i++) {
        dd got = pe_fixed_to_dd(pe_fixed_from_double(NUMBERS[i]));
        ck_assert_double_eq(got.hi, NUMBERS[i]);
        ck_assert_double_le(fabs(got.lo), NUMBERS[i] * 0x1p-101);
    }
    dd third = pe_fixed_to_dd(pe_fixed_div(pe_fixed_from_double(1), pe_fixed_from_double(3)));
    ck_assert_double_eq(third.hi, 0x1.5555555555555p-2);
    ck_assert_double_le(fabs(third.lo - 0x1.5555555555555p-56), 0x1p-102);
}
END_TEST

Suite *fixed_suite(void)
{
    const TTest *const tests[] = {
        doubles_are_floor_and_fraction,
        sums_and_differences_carry_between_the_parts,
        integer_multiples_are_exact,
        quotients_are_rounded_towards_zero,
        whole_divisors_give_what_half_of_both_gives,
        quotients_saturate_at_two_to_62,
        logarithms_are_good_to_250_bits,
        double_doubles_keep_the_leading_bits,
        NULL,
    };
    return unit_suite("fixed", tests);
}
